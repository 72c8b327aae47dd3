// Encodes and decodes chunks of the query log's journal, which contain rows on their way from a front-end to
// the disk: searches and events in the order in which the front-end answered them. A front-end appends rows
// to a chunk. The log's thread stores the chunk unchanged before it reads the rows. ON DISK: docs/FORMATS.md
// shows the layout, which is versioned by the records that contain chunks.
import type { QueryId } from "./query-ids.js";

export const JOURNAL_VERSION = 1;

/** Longer query texts are truncated. */
const TEXT_BYTES_MAX = 512;
/** Maximum number of hits whose ids are logged per search. */
export const HITS_MAX = 10;

export const SEARCH_MODES = ["keyword", "semantic", "hybrid"] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];

export const EVENT_TYPES = ["click", "conversion"] as const;
/** Conversion values are stored as whole multiples of 1 / VALUE_UNITS, so that sums are exact. */
export const VALUE_UNITS = 10_000;
export type EventType = (typeof EVENT_TYPES)[number];

/** A user's or session's keyed 48-bit hash. */
export type Person = number;
export const NOBODY: Person = 0;

/** The person who searched, by user and session; either may be NOBODY. */
export interface Asker {
  readonly user: Person;
  readonly session: Person;
}

/**
 * A question and its results, without anything about the person who asked, so it can be cached along with the
 * answer.
 */
export interface Answered {
  /** The text as typed. */
  readonly text: string;
  readonly mode: SearchMode;
  readonly filtered: boolean;
  readonly found: number;
  readonly page: number;
  /** Ids of the first hits on the page. */
  readonly documents: readonly string[];
}

export interface JournalSearch extends Asker {
  readonly log: number;
  readonly id: QueryId;
  /** The search's duration as a step; see took.ts. */
  readonly took: number;
  /** Output of encodeAnswered as a Latin-1 string. Equal answers have equal strings. */
  readonly answered: string;
}

export interface JournalEvent extends Asker {
  readonly log: number;
  readonly type: EventType;
  /** Time of the event (ms since 1970). */
  readonly atMs: number;
  /** Id of the event's search, or null if the event names none. */
  readonly search: QueryId | null;
  /** Text of the event's search; "" if the event names none. */
  readonly query: string;
  readonly document: string;
  /** Position of the hit, 1 for the first; 0 if not given. */
  readonly position: number;
  /** Value of a conversion; see VALUE_UNITS. */
  readonly value: number;
  /** Empty if the event has no id. */
  readonly eventId: string;
}

export type Row =
  | { readonly kind: "search"; readonly row: JournalSearch }
  | { readonly kind: "event"; readonly row: JournalEvent };

const SEARCH = 1;
const EVENT = 2;

const QUERY_ID_BYTES = 8 + 3 + 6;
const SEARCH_HEAD_BYTES = 1 + 4 + QUERY_ID_BYTES + 2 + 6 + 6;
const EVENT_BYTES = 1 + 4 + 8 + 1 + 6 + 6 + QUERY_ID_BYTES + 4 + 8 + 3 * 2;

const FOUND_AND_PAGE_BYTES = 4 + 4;
/** Size of an answer without its text and its hits. */
const ANSWERED_HEAD_BYTES = 1 + FOUND_AND_PAGE_BYTES + 2 + 1;
const CUT_SHORT = "a chunk of the query log is cut short";

const FILTERED = 1;
const MODE_SHIFT = 1;
const U32_MAX = 0xffffffff;

/**
 * Encodes the part of a search's row that is the same for every asker. `documents` contains ids in UTF-8.
 * The bytes may be part of a larger buffer, so a cache must copy them.
 */
export function encodeAnswered(
  { text, mode, filtered, found, page }: Omit<Answered, "documents">,
  documents: readonly Uint8Array[],
): Uint8Array {
  const count = Math.min(documents.length, HITS_MAX);
  let length = ANSWERED_HEAD_BYTES + Math.min(Buffer.byteLength(text), TEXT_BYTES_MAX);
  for (let i = 0; i < count; i++) length += 2 + documents[i]!.length;
  const bytes = Buffer.allocUnsafe(length);
  let at = bytes.writeUInt8((filtered ? FILTERED : 0) | (SEARCH_MODES.indexOf(mode) << MODE_SHIFT), 0);
  at = bytes.writeUInt32LE(Math.min(found, U32_MAX), at);
  at = bytes.writeUInt32LE(Math.min(page, U32_MAX), at);
  at = putText(bytes, text, at, TEXT_BYTES_MAX);
  at = bytes.writeUInt8(count, at);
  for (let i = 0; i < count; i++) {
    const id = documents[i]!;
    at = bytes.writeUInt16LE(id.length, at);
    bytes.set(id, at);
    at += id.length;
  }
  return at === length ? bytes : bytes.subarray(0, at);
}

/** Writes a text. If it is too long, truncates it at a character boundary. */
function putText(bytes: Buffer, text: string, at: number, bytesMax: number): number {
  const length = bytes.write(text, at + 2, Math.min(bytesMax, bytes.length - at - 2), "utf8");
  bytes.writeUInt16LE(length, at);
  return at + 2 + length;
}

/** A chunk while it is being filled. It is sent when a row does not fit. */
export class Chunk {
  readonly #bytes: Buffer;
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytes = Buffer.allocUnsafeSlow(bytesMax);
  }

  get length(): number {
    return this.#length;
  }

  /** Returns false if the row does not fit. */
  addSearch(log: number, id: QueryId, took: number, asker: Asker, answered: Uint8Array): boolean {
    const bytes = this.#bytes;
    let at = this.#length;
    if (at + SEARCH_HEAD_BYTES + answered.length > bytes.length) return false;
    at = bytes.writeUInt8(SEARCH, at);
    at = bytes.writeUInt32LE(log, at);
    at = putQueryId(bytes, id, at);
    at = bytes.writeUInt16LE(took, at);
    at = bytes.writeUIntLE(asker.user, at, 6);
    at = bytes.writeUIntLE(asker.session, at, 6);
    bytes.set(answered, at);
    this.#length = at + answered.length;
    return true;
  }

  /** Returns false if the row does not fit. */
  addEvent(event: JournalEvent): boolean {
    const texts = [event.eventId, event.query, event.document];
    const textBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const bytes = this.#bytes;
    let at = this.#length;
    if (at + EVENT_BYTES + textBytes > bytes.length) return false;
    at = bytes.writeUInt8(EVENT, at);
    at = bytes.writeUInt32LE(event.log, at);
    at = bytes.writeDoubleLE(event.atMs, at);
    at = bytes.writeUInt8(EVENT_TYPES.indexOf(event.type), at);
    at = bytes.writeUIntLE(event.user, at, 6);
    at = bytes.writeUIntLE(event.session, at, 6);
    at = putQueryId(bytes, event.search ?? { atMs: 0, counter: 0, frontEnd: 0 }, at);
    at = bytes.writeUInt32LE(event.position, at);
    at = bytes.writeDoubleLE(event.value, at);
    for (const text of texts) at = putText(bytes, text, at, 0xffff);
    this.#length = at;
    return true;
  }

  /** Returns the rows so far in a separate buffer, and empties the chunk. */
  take(): Uint8Array<ArrayBuffer> {
    const rows = new Uint8Array(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return rows;
  }
}

function putQueryId(bytes: Buffer, { atMs, counter, frontEnd }: QueryId, at: number): number {
  const counterAt = bytes.writeDoubleLE(atMs, at);
  const frontEndAt = bytes.writeUIntLE(counter, counterAt, 3);
  return bytes.writeUIntLE(frontEnd, frontEndAt, 6);
}

/** Yields a chunk's rows in order. Throws RangeError if the bytes are not a chunk. */
export function* readChunk(chunk: Uint8Array): Generator<Row> {
  const reader = new RowReader(chunk);
  while (!reader.ended) {
    const kind = reader.whole(1);
    if (kind === SEARCH) yield { kind: "search", row: reader.search() };
    else if (kind === EVENT) yield { kind: "event", row: reader.event() };
    else throw new RangeError(`a chunk of the query log has a row of the kind ${kind}`);
  }
}

/** Decodes `JournalSearch.answered`. Throws RangeError if the text is not the output of encodeAnswered. */
export function decodeAnswered(answered: string): Answered {
  return new RowReader(Buffer.from(answered, "latin1")).answered();
}

class RowReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(chunk: Uint8Array) {
    this.#bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }

  get ended(): boolean {
    return this.#at === this.#bytes.length;
  }

  whole(bytes: 1 | 2 | 3 | 4 | 6): number {
    this.#at += bytes;
    return this.#bytes.readUIntLE(this.#at - bytes, bytes);
  }

  search(): JournalSearch {
    const log = this.whole(4);
    const id = this.#queryId();
    const took = this.whole(2);
    const user = this.whole(6);
    const session = this.whole(6);
    const from = this.#at;
    choice(SEARCH_MODES, this.whole(1) >> MODE_SHIFT);
    this.#at += FOUND_AND_PAGE_BYTES;
    this.#skipText();
    for (let left = this.whole(1); left > 0; left--) this.#skipText();
    if (this.#at > this.#bytes.length) throw new RangeError(CUT_SHORT);
    return { log, id, took, user, session, answered: this.#bytes.toString("latin1", from, this.#at) };
  }

  answered(): Answered {
    const flags = this.whole(1);
    const found = this.whole(4);
    const page = this.whole(4);
    const text = this.#text();
    const documents = Array.from({ length: this.whole(1) }, () => this.#text());
    const mode = choice(SEARCH_MODES, flags >> MODE_SHIFT);
    return { text, mode, filtered: (flags & FILTERED) !== 0, found, page, documents };
  }

  event(): JournalEvent {
    const log = this.whole(4);
    const atMs = this.#double();
    const type = choice(EVENT_TYPES, this.whole(1));
    const user = this.whole(6);
    const session = this.whole(6);
    const id = this.#queryId();
    const position = this.whole(4);
    const value = this.#double();
    const eventId = this.#text();
    const query = this.#text();
    const document = this.#text();
    const search = id.atMs === 0 ? null : id;
    return { log, type, atMs, user, session, search, position, value, eventId, query, document };
  }

  #queryId(): QueryId {
    return { atMs: this.#double(), counter: this.whole(3), frontEnd: this.whole(6) };
  }

  #double(): number {
    this.#at += 8;
    return this.#bytes.readDoubleLE(this.#at - 8);
  }

  #skipText(): void {
    const length = this.whole(2);
    this.#at += length;
  }

  #text(): string {
    const length = this.whole(2);
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new RangeError(CUT_SHORT);
    return this.#bytes.toString("utf8", this.#at - length, this.#at);
  }
}

function choice<T>(choices: readonly T[], at: number): T {
  const found = choices[at];
  if (found === undefined) throw new RangeError(`a chunk of the query log has the choice ${at}`);
  return found;
}
