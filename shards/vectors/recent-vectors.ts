// The vectors that queries were compared with lately, of all indexes of a shard: a query reads hundreds of them. The cache has
// two halves, like that of the documents (segments/document-cache.ts).
import { VECTOR_BYTES } from "../../engine-wasm/assembly/layout.js";
import type { VectorRecord } from "./vector-record.js";

const BYTES_MAX = 32 * 1024 * 1024;
/** Memory that a record takes beside its vector. */
const RECORD_BYTES = 200;
const HALF_VECTORS = Math.floor(BYTES_MAX / 2 / (VECTOR_BYTES + RECORD_BYTES));

export class RecentVectors {
  #young = new Map<string, VectorRecord>();
  #old = new Map<string, VectorRecord>();

  get(uid: number, seq: number): VectorRecord | undefined {
    const key = `${uid}:${seq}`;
    const record = this.#young.get(key);
    if (record !== undefined) return record;
    const older = this.#old.get(key);
    if (older !== undefined) this.#put(key, older);
    return older;
  }

  put(uid: number, seq: number, record: VectorRecord): void {
    this.#put(`${uid}:${seq}`, record);
  }

  /** Forgets all. It is called when stored vectors were replaced or an index was dropped, which is rare. */
  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
  }

  #put(key: string, record: VectorRecord): void {
    if (this.#young.size >= HALF_VECTORS) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, record);
  }
}
