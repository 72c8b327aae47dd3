// Caches the vectors stored in small indexes for this thread; a query compares hundreds of them. Each vector
// is fetched from its shard once. It is kept until the board in the index's memory shows that the stored
// vectors have a new version.
import { VECTOR_BYTES } from "../../../engine-wasm/assembly/layout.js";
import type { EngineReader } from "../../../engine-wasm/host/instance/engine-reader.js";
import {
  type SlotsOfIndex,
  VectorSlots,
  WITHOUT_VECTOR,
} from "../../../engine-wasm/host/vectors/vector-slots.js";
import type { VectorTable } from "../../../engine-wasm/host/vectors/vector-table.js";
import type { EmbedReply } from "../../../shards/protocol/vectors.js";
import type { Work } from "../../ground/jobs/work.js";

/** If more vectors than this are missing, it is cheaper to let the shard compare them. */
const FETCHED_MAX = 2_000;

/** The vectors cached for an index in one shard. */
interface Known {
  /** Version of the stored vectors that the cached ones belong to. */
  readonly version: number;
  readonly slots: SlotsOfIndex;
}

/** Fetches vector records from a shard, in the order of `seqs`. */
export type FetchVectors = (seqs: readonly number[]) => Work<Pick<EmbedReply, "vectors">>;

export class LocalVectors {
  readonly #slots: VectorSlots;
  /** By reader: an index gets a new reader when it moves to another memory or is opened again. */
  readonly #known = new WeakMap<EngineReader, Known>();

  /** `newTable` creates the table for the vectors, which takes at most `bytesMax` bytes. */
  constructor(newTable: () => VectorTable, bytesMax: number) {
    this.#slots = new VectorSlots(newTable, bytesMax);
  }

  /**
   * Calls `use` with one number per document: the slot of its vector, or a negative number if it has no
   * vector. The slots are valid until `use` returns. Returns the result of `use`, or null if some
   * vectors cannot be fetched now. Throws EngineError.
   */
  *with<T>(
    reader: EngineReader,
    seqs: ArrayLike<number>,
    fetch: FetchVectors,
    use: (slots: Int32Array) => T,
  ): Work<T | null> {
    if (reader.ended) return null;
    const known = this.#of(reader);
    const slots = new Int32Array(seqs.length);
    const missing = fill(slots, seqs, known);
    if (missing.length === 0) return use(slots);
    if (missing.length > Math.min(FETCHED_MAX, this.#slots.max)) return null;
    const { vectors: records } = yield* fetch(missing);
    if (reader.ended || this.#of(reader) !== known) return null;
    for (const [i, seq] of missing.entries())
      this.#put(known, seq, records.subarray(i * VECTOR_BYTES, (i + 1) * VECTOR_BYTES));
    return fill(slots, seqs, known).length === 0 ? use(slots) : null;
  }

  /** See VectorTable. */
  similarities(query: Float32Array, slots: Int32Array): Float32Array {
    return this.#slots.similarities(query, slots);
  }

  /** Returns the slots' vector records, in order. The record for a negative slot is all zeros. */
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
      known?.slots.clear(); // the table's slots still refer to the old map
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

/**
 * Looks up the documents' slots. Returns the sequence numbers of the documents whose vectors are not cached.
 */
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
