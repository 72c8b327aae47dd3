// The vectors that queries were compared with lately, of all indexes of a shard: a query reads hundreds of them. The cache has
// two halves, like that of the documents (query/document-cache.ts).
import { VECTOR_BYTES } from "../../engine-wasm/assembly/layout.js";
import type { VectorRecord } from "./vector-record.js";

const BYTES_MAX = 32 * 1024 * 1024;
/** Memory that a record takes beside its vector. */
const RECORD_BYTES = 200;
const HALF_VECTORS = Math.floor(BYTES_MAX / 2 / (VECTOR_BYTES + RECORD_BYTES));

export class RecentVectors {
  #young = new Half();
  #old = new Half();

  get(uid: number, seq: number): VectorRecord | undefined {
    const record = this.#young.of(uid).get(seq);
    if (record !== undefined) return record;
    const older = this.#old.of(uid).get(seq);
    if (older !== undefined) this.put(uid, seq, older);
    return older;
  }

  put(uid: number, seq: number, record: VectorRecord): void {
    if (this.#young.count >= HALF_VECTORS) {
      this.#old = this.#young;
      this.#young = new Half();
    }
    this.#young.of(uid).set(seq, record);
    this.#young.count++;
  }

  /** Forgets all. It is called when stored vectors were replaced or an index was dropped, which is rare. */
  clear(): void {
    this.#young = new Half();
    this.#old = new Half();
  }
}

/** By index and sequence number: one map of both together would make a text for each look. */
class Half {
  /** Puts so far: at least as many as there are records. */
  count = 0;
  readonly #byIndex = new Map<number, Map<number, VectorRecord>>();

  of(uid: number): Map<number, VectorRecord> {
    let records = this.#byIndex.get(uid);
    if (records === undefined) {
      records = new Map();
      this.#byIndex.set(uid, records);
    }
    return records;
  }
}
