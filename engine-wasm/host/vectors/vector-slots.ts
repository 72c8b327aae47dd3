// Vectors that queries were compared with lately: which document's lies in which slot of a table. A query compares hundreds, so they
// are no objects. When there is no more room, those that came first go.
import { VECTOR_BYTES } from "../../assembly/layout.js";
import type { VectorTable } from "./vector-table.js";

/** What a vector takes beside its record, for its place in maps. */
const ENTRY_BYTES = 100;
/** In the place of a slot: no vector. */
export const WITHOUT_VECTOR = -1;

/** By sequence number, of documents of one index. Who knows that a document has no vector may put WITHOUT_VECTOR there. */
export type SlotsOfIndex = Map<number, number>;

export class VectorSlots {
  /** So many vectors have one at a time. */
  readonly max: number;
  readonly #newTable: () => VectorTable;
  #table: VectorTable | null = null;
  /** Whose a slot is. */
  readonly #owners: SlotsOfIndex[] = [];
  readonly #seqs: number[] = [];
  /** The slot to be taken next. */
  #next = 0;

  /** Of at most `bytesMax` bytes. */
  constructor(newTable: () => VectorTable, bytesMax: number) {
    this.#newTable = newTable;
    this.max = Math.floor(bytesMax / (VECTOR_BYTES + ENTRY_BYTES));
  }

  /** Gives a document's vector a slot, which it takes from the one that came first when there is no other. Throws EngineError("memory"). */
  put(index: SlotsOfIndex, seq: number, record: Uint8Array): number {
    const slot = this.#next;
    this.#tableNow.put(slot, record);
    const owner = this.#owners[slot];
    if (owner?.get(this.#seqs[slot]!) === slot) owner.delete(this.#seqs[slot]!);
    this.#owners[slot] = index;
    this.#seqs[slot] = seq;
    index.set(seq, slot);
    this.#next = (slot + 1) % this.max;
    return slot;
  }

  /** See VectorTable. Throws EngineError("memory"). */
  similarities(query: Float32Array, slots: ArrayLike<number>): Float32Array {
    return this.#tableNow.similarities(query, slots);
  }

  /** A copy of the record in a slot. */
  record(slot: number): Uint8Array {
    return this.#tableNow.record(slot);
  }

  /** Forgets all vectors, because the table has failed or is of no use any more. */
  clear(): void {
    for (const owner of this.#owners) owner.clear();
    this.#owners.length = 0;
    this.#seqs.length = 0;
    this.#next = 0;
    this.#table = null;
  }

  get #tableNow(): VectorTable {
    this.#table ??= this.#newTable();
    return this.#table;
  }
}
