// This thread's cache of small indexes' stored vectors; a query compares hundreds of them. Each vector is
// fetched from its shard once and kept until the board in the index's memory shows a new version of the
// stored vectors.
import { VECTOR_BYTES } from "../../../engine-wasm/assembly/layout.js";
import type { EngineReader } from "../../../engine-wasm/host/instance/engine-reader.js";
import {
  type SlotsOfIndex,
  VectorSlots,
  WITHOUT_VECTOR,
} from "../../../engine-wasm/host/vectors/vector-slots.js";
import type { VectorTable } from "../../../engine-wasm/host/vectors/vector-table.js";

/** If more vectors than this are missing, letting the shard compare them is cheaper. */
const FETCHED_MAX = 2_000;

/** The cached vectors of an index's part in one shard. */
interface Known {
  /** Version of the stored vectors. */
  readonly version: number;
  readonly slots: SlotsOfIndex;
}

/** Fetches vector records from a shard, in the order of `seqs`. */
export type FetchVectors = (seqs: readonly number[]) => Promise<Uint8Array>;

export class LocalVectors {
  readonly #slots: VectorSlots;
  /**
   * Keyed by reader, because an index gets a new reader when it moves to another memory or is opened again.
   */
  readonly #known = new WeakMap<EngineReader, Known>();

  /** `newTable` creates a table of at most `bytesMax` bytes. */
  constructor(newTable: () => VectorTable, bytesMax: number) {
    this.#slots = new VectorSlots(newTable, bytesMax);
  }

  /**
   * Calls `use` with one slot per document: its vector's slot, or a negative number if it has no vector. The
   * slots are valid until `use` returns. Resolves with the result of `use`, or with null if some vectors are
   * unavailable now. Throws EngineError.
   */
  async with<T>(
    reader: EngineReader,
    seqs: ArrayLike<number>,
    fetch: FetchVectors,
    use: (slots: Int32Array) => T,
  ): Promise<T | null> {
    if (reader.ended) return null;
    const known = this.#of(reader);
    const slots = new Int32Array(seqs.length);
    const missing = fill(slots, seqs, known);
    if (missing.length === 0) return use(slots);
    if (missing.length > Math.min(FETCHED_MAX, this.#slots.max)) return null;
    const records = await fetch(missing);
    if (reader.ended || this.#of(reader) !== known) return null;
    for (const [i, seq] of missing.entries())
      this.#put(known, seq, records.subarray(i * VECTOR_BYTES, (i + 1) * VECTOR_BYTES));
    return fill(slots, seqs, known).length === 0 ? use(slots) : null;
  }

  /** See VectorTable. */
  similarities(query: Float32Array, slots: Int32Array): Float32Array {
    return this.#slots.similarities(query, slots);
  }

  /** Returns the vector records in order, with an all-zero record for each negative slot. */
  records(slots: Int32Array): Uint8Array {
    const records = new Uint8Array(slots.length * VECTOR_BYTES);
    for (const [i, slot] of slots.entries())
      if (slot >= 0) records.set(this.#slots.record(slot), i * VECTOR_BYTES);
    return records;
  }

  /** Empties the cache. Called after the table has failed. */
  clear(): void {
    this.#slots.clear();
  }

  #of(reader: EngineReader): Known {
    const version = reader.vectorsVersion;
    let known = this.#known.get(reader);
    if (known?.version !== version) {
      known?.slots.clear(); // slots not yet reassigned still point back to the old map
      known = { version, slots: new Map() };
      this.#known.set(reader, known);
    }
    return known;
  }

  #put(known: Known, seq: number, record: Uint8Array): void {
    if (known.slots.has(seq)) return; // another query has already fetched it
    if (isNone(record)) known.slots.set(seq, WITHOUT_VECTOR);
    else this.#slots.put(known.slots, seq, record);
  }
}

/** Fills in the known slots and returns the sequence numbers that have no known slot. */
function fill(slots: Int32Array, seqs: ArrayLike<number>, known: Known): number[] {
  const missing: number[] = [];
  for (let i = 0; i < seqs.length; i++) {
    const slot = known.slots.get(seqs[i]!);
    if (slot === undefined) missing.push(seqs[i]!);
    else slots[i] = slot;
  }
  return missing;
}

function isNone(record: Uint8Array): boolean {
  return new DataView(record.buffer, record.byteOffset, 4).getFloat32(0, true) === 0;
}
