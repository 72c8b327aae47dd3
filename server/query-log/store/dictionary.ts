// Numbers a log's texts or documents in order of first appearance, so that blocks and rollups contain small
// numbers. New entries are kept in memory until the next checkpoint stores them.

import { crc32 } from "node:zlib";
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import { DamagedBytesError } from "../../../shards/storage/envelope.js";
import type { Store, StoreOp } from "../../../shards/storage/store.js";
import { kindRange, type LogKeyKind, LogKind, numberKey, wordKey, wordOfKey } from "../rows/keys.js";

/** Maximum number of cached entries. */
const KNOWN_MAX = 20_000;

const CRC_BYTES = 4;

export interface Entry {
  readonly word: string;
  readonly number: number;
  readonly isStored: boolean;
}

export class Dictionary {
  readonly #store: Store;
  readonly #log: number;
  readonly #wordKind: LogKeyKind;
  readonly #numberKind: LogKeyKind;
  /** Number of the next new entry. Numbers start at 1. */
  #next: number;
  readonly #known = new ClockCache<string, number>(KNOWN_MAX);
  /** Entries not stored yet, in order of number. The last entry has the number `#next` - 1. */
  #pending: string[] = [];
  readonly #pendingNumbers = new Map<string, number>();

  constructor(store: Store, log: number, what: "text" | "document", next: number) {
    this.#store = store;
    this.#log = log;
    this.#wordKind = what === "text" ? LogKind.text : LogKind.document;
    this.#numberKind = what === "text" ? LogKind.textNumber : LogKind.documentNumber;
    this.#next = next;
  }

  /** The number that the next new entry will get. All existing numbers are smaller. */
  get next(): number {
    return this.#next;
  }

  /** Returns an entry's number. Adds the entry if it is new. */
  numberOf(word: string): number {
    const known = this.find(word);
    if (known !== 0) return known;
    this.#pending.push(word);
    this.#pendingNumbers.set(word, this.#next);
    return this.#next++;
  }

  /** Returns an entry's number, or 0 if there is no such entry. */
  find(word: string): number {
    const known = this.#pendingNumbers.get(word) ?? this.#known.get(word);
    if (known !== undefined) return known;
    const value = this.#store.getSync(wordKey(this.#log, this.#numberKind, word));
    if (value === undefined) return 0;
    const number = numberIn(value);
    this.#known.set(word, number);
    return number;
  }

  /** Returns the words for the given numbers, in the same order; an empty text for an unknown number. */
  async words(numbers: readonly number[]): Promise<string[]> {
    const firstPending = this.#next - this.#pending.length;
    const stored = numbers.filter((number) => number < firstPending);
    const keys = stored.map((number) => numberKey(this.#log, this.#wordKind, number));
    const pending = this.#pending;
    const values = await this.#store.getMany(keys);
    const words = new Map(
      stored.map((number, i) => [number, values[i] === undefined ? "" : wordIn(values[i])]),
    );
    return numbers.map((number) => words.get(number) ?? pending[number - firstPending] ?? "");
  }

  /** Returns the entry with this number, or an empty text if there is none. */
  word(number: number): string {
    const pending = this.#pending[number - (this.#next - this.#pending.length)];
    if (pending !== undefined) return pending;
    const value = this.#store.getSync(numberKey(this.#log, this.#wordKind, number));
    return value === undefined ? "" : wordIn(value);
  }

  /**
   * Yields all entries with their numbers. Entries not stored yet come first, in no particular order; stored
   * entries follow in UTF-8 byte order.
   */
  async *entries(): AsyncGenerator<Entry> {
    for (const [word, number] of [...this.#pendingNumbers]) yield { word, number, isStored: false };
    for await (const [key, value] of this.#store.entries(kindRange(this.#log, this.#numberKind)))
      yield { word: wordOfKey(key), number: numberIn(value), isStored: true };
  }

  /**
   * Yields the operations that store the new entries. The next batch must include them; call `stored`
   * afterwards.
   */
  *pendingOps(): Generator<StoreOp> {
    const first = this.#next - this.#pending.length;
    for (const [i, word] of this.#pending.entries()) {
      yield {
        type: "put",
        key: numberKey(this.#log, this.#wordKind, first + i),
        value: withCrc(Buffer.from(word)),
      };
      const number = Buffer.allocUnsafe(4);
      number.writeUInt32LE(first + i, 0);
      yield { type: "put", key: wordKey(this.#log, this.#numberKind, word), value: withCrc(number) };
    }
  }

  stored(): void {
    for (const [word, number] of this.#pendingNumbers) this.#known.set(word, number);
    this.#pending = [];
    this.#pendingNumbers.clear();
  }
}

/** Returns the bytes preceded by their CRC-32. */
function withCrc(bytes: Buffer): Uint8Array {
  const value = Buffer.allocUnsafe(CRC_BYTES + bytes.length);
  value.writeUInt32LE(crc32(bytes), 0);
  value.set(bytes, CRC_BYTES);
  return value;
}

function checkedBytes(value: Uint8Array): Buffer {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const rest = bytes.subarray(CRC_BYTES);
  if (bytes.length < CRC_BYTES || crc32(rest) !== bytes.readUInt32LE(0))
    throw new DamagedBytesError("an entry of the query log's dictionary is damaged");
  return rest;
}

function numberIn(value: Uint8Array): number {
  return checkedBytes(value).readUInt32LE(0);
}

function wordIn(value: Uint8Array): string {
  return checkedBytes(value).toString("utf8");
}
