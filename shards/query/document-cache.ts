// Caches recently shown documents from all of a shard's indexes. Reading a document from the database costs
// more than all other work needed to show it. A cached document is never stale, because the value stored
// under a uid and a sequence number never changes.
import { ClockCache } from "../../engine-wasm/host/runtime/clock-cache.js";
import type { DocumentRecord } from "../segments/document-record.js";

/** The properties that every cached document has. */
export type ShownRecord = DocumentRecord;

const BYTES_MAX = 8 * 1024 * 1024;
/** Memory that a record's objects and map entry take in addition to its JSON. */
const RECORD_BYTES = 400;
/** Longer documents are not cached, because they would displace too many others. */
const DOCUMENT_BYTES_MAX = 64 * 1024;

interface Shown<R> {
  readonly uid: number;
  readonly seq: number;
  readonly record: R;
}

export class DocumentCache<R extends ShownRecord = ShownRecord> {
  readonly #shown: ClockCache<number, Shown<R>>;

  constructor(bytesMax = BYTES_MAX) {
    this.#shown = new ClockCache(bytesMax);
  }

  get(uid: number, seq: number): R | undefined {
    const shown = this.#shown.get(keyOf(uid, seq));
    return shown?.uid === uid && shown.seq === seq ? shown.record : undefined;
  }

  put(uid: number, seq: number, record: R): void {
    const { length } = record.raw;
    if (length <= DOCUMENT_BYTES_MAX)
      this.#shown.set(keyOf(uid, seq), { uid, seq, record }, length + RECORD_BYTES);
  }

  /** Discards the documents of all indexes. Called when an index was dropped, which is rare. */
  clear(): void {
    this.#shown.clear();
  }
}

/**
 * The cache key is a hash below 2^30, because V8 finds such a number in a map several times faster than a
 * larger one. Documents with the same key displace each other.
 */
function keyOf(uid: number, seq: number): number {
  return (Math.imul(uid, 0x9e3779b1) + seq) & 0x3fffffff;
}
