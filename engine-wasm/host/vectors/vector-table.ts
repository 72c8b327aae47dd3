// Vector records side by side in an instance of its own, each in a slot with a number, compared with queries where they lie. Which record
// is in which slot is the caller's business.
import { VECTOR_BYTES, VECTOR_SIZE } from "../../assembly/layout.js";
import type { EngineInstance } from "../wasm/memory.js";

const QUERY_BYTES = VECTOR_SIZE * 4;
const ADDRESS_BYTES = 4;
/** Room is taken for so many slots at a time. */
const SLOTS_A_CHUNK = 1024;

export class VectorTable {
  readonly #instance: EngineInstance;
  /** Addresses of chunks of slots. */
  readonly #chunks: number[] = [];

  /** Becomes the only user of `instance`. */
  constructor(instance: EngineInstance) {
    this.#instance = instance;
  }

  /** Slots are used in ascending order the first time. Throws EngineError("memory"). */
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
   * The cosine of a query vector, of length 1 and rotated, with the record of each slot; NaN for a record of no vector, and for a negative
   * number in the place of a slot. Throws EngineError("memory").
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
