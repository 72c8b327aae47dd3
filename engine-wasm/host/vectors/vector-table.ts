// A table of vector records, which are compared with queries in place. Each record is in a numbered slot. The
// table has its own instance. The caller keeps track of which record is in which slot.
import { VECTOR_BYTES, VECTOR_SIZE } from "../../assembly/layout.js";
import type { EngineInstance } from "../wasm/memory.js";

const QUERY_BYTES = VECTOR_SIZE * 4;
const ADDRESS_BYTES = 4;
/** Slots allocated at a time. */
const SLOTS_A_CHUNK = 1024;

export class VectorTable {
  readonly #instance: EngineInstance;
  /** Addresses of the slot chunks. */
  readonly #chunks: number[] = [];

  /** Only this table uses `instance`. */
  constructor(instance: EngineInstance) {
    this.#instance = instance;
  }

  /** Stores a record in a slot. Slots must first be used in ascending order. Throws EngineError("memory"). */
  put(slot: number, record: Uint8Array): void {
    if (slot === this.#chunks.length * SLOTS_A_CHUNK)
      this.#chunks.push(this.#instance.reserve(SLOTS_A_CHUNK * VECTOR_BYTES));
    this.#instance.view().set(record, this.#address(slot));
  }

  /** A copy of a record. */
  record(slot: number): Uint8Array {
    const at = this.#address(slot);
    return new Uint8Array(this.#instance.view().subarray(at, at + VECTOR_BYTES));
  }

  /**
   * Returns the cosine between the query vector (of length 1 and rotated) and the record in each slot. NaN
   * for an empty record, and for a negative number in place of a slot. Throws EngineError("memory").
   */
  similarities(query: Float32Array, slots: ArrayLike<number>): Float32Array {
    if (query.length !== VECTOR_SIZE)
      throw new RangeError(`a vector has ${VECTOR_SIZE} numbers, not ${query.length}`);
    const bytes = QUERY_BYTES + slots.length * ADDRESS_BYTES;
    const p = this.#instance.room(bytes);
    const view = this.#instance.view();
    view.set(new Uint8Array(query.buffer, query.byteOffset, query.byteLength), p);
    for (let i = 0, at = p + QUERY_BYTES; i < slots.length; i++, at += ADDRESS_BYTES)
      view.writeUInt32LE(slots[i]! < 0 ? 0 : this.#address(slots[i]!), at);
    const result = this.#instance.result(this.#instance.run((kernels) => kernels.similarities(p, bytes)));
    return new Float32Array(result.buffer, 0, slots.length);
  }

  #address(slot: number): number {
    return this.#chunks[Math.floor(slot / SLOTS_A_CHUNK)]! + (slot % SLOTS_A_CHUNK) * VECTOR_BYTES;
  }
}
