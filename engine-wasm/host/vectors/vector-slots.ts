// Caches recently compared vectors: maps documents to slots in a VectorTable. A query compares hundreds of
// vectors, too many to keep each as an object. When the table is full, the oldest vector is evicted.
import { VECTOR_BYTES } from "../../assembly/layout.js";
import type { VectorTable } from "./vector-table.js";

/** Memory per vector for its map entries, in addition to its record. */
const ENTRY_BYTES = 100;
/** Stored in place of a slot number for a document without a vector. */
export const WITHOUT_VECTOR = -1;

/**
 * Slots of one index's documents, by sequence number. Callers may store WITHOUT_VECTOR for documents known to
 * have no vector.
 */
export type SlotsOfIndex = Map<number, number>;

export class VectorSlots {
  /** Maximum number of vectors. */
  readonly max: number;
  readonly #newTable: () => VectorTable;
  #table: VectorTable | null = null;
  /** For each slot, the map that contains its document. */
  readonly #owners: SlotsOfIndex[] = [];
  readonly #seqs: number[] = [];
  /** The next slot to use. */
  #next = 0;

  /** The table and its map entries use at most `bytesMax` bytes. */
  constructor(newTable: () => VectorTable, bytesMax: number) {
    this.#newTable = newTable;
    this.max = Math.floor(bytesMax / (VECTOR_BYTES + ENTRY_BYTES));
  }

  /**
   * Assigns a slot to a document's vector, evicting the oldest one if the table is full. Throws
   * EngineError("memory").
   */
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

  /** Discards all vectors. Called when the table has failed or is no longer useful. */
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
