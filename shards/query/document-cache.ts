// Recently shown documents of all indexes of a shard. Reading one from the database costs more than all other
// work needed to show it. A cached document is never stale, because the value stored under a uid and a
// sequence number never changes. The cache has two halves: a used document moves to the young half, and when
// the young half is full, the old one is dropped. So the least recently used documents go first.
import type { DocumentRecord } from "../segments/document-record.js";

/** The cached form of a document. */
export type ShownRecord = DocumentRecord;

const BYTES_MAX = 8 * 1024 * 1024;
/** Memory of a record in addition to its JSON, for its objects and map entry. */
const RECORD_BYTES = 400;
/** Longer documents are not cached, because they would displace too many others. */
const DOCUMENT_BYTES_MAX = 64 * 1024;

export class DocumentCache<R extends ShownRecord = ShownRecord> {
  readonly #halfBytes: number;
  #young: Half<R> = new Map();
  #old: Half<R> = new Map();
  #youngBytes = 0;

  constructor(bytesMax = BYTES_MAX) {
    this.#halfBytes = bytesMax / 2;
  }

  get(uid: number, seq: number): R | undefined {
    const record = this.#young.get(uid)?.get(seq);
    if (record !== undefined) return record;
    const older = this.#old.get(uid)?.get(seq);
    if (older !== undefined) this.#put(uid, seq, older);
    return older;
  }

  put(uid: number, seq: number, record: R): void {
    if (record.raw.length <= DOCUMENT_BYTES_MAX) this.#put(uid, seq, record);
  }

  /** Discards the documents of all indexes. Called when an index was dropped, which is rare. */
  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#youngBytes = 0;
  }

  #put(uid: number, seq: number, record: R): void {
    const bytes = record.raw.length + RECORD_BYTES;
    if (this.#youngBytes + bytes > this.#halfBytes) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    let ofIndex = this.#young.get(uid);
    if (ofIndex === undefined) {
      ofIndex = new Map();
      this.#young.set(uid, ofIndex);
    }
    ofIndex.set(seq, record);
    this.#youngBytes += bytes;
  }
}

/** By index, then by sequence number: a combined key would allocate a string per lookup. */
type Half<R> = Map<number, Map<number, R>>;
