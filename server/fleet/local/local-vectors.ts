// Stored vectors of documents of small indexes, on this thread: queries compare hundreds of them. Each is
// fetched from its shard once and kept until the shard tells, on the board of the index's memory, that stored
// vectors have changed.
import { VECTOR_BYTES } from "../../../engine-wasm/assembly/layout.js";
import type { EngineReader } from "../../../engine-wasm/host/instance/engine-reader.js";
import {
  type SlotsOfIndex,
  VectorSlots,
  WITHOUT_VECTOR,
} from "../../../engine-wasm/host/vectors/vector-slots.js";
import type { VectorTable } from "../../../engine-wasm/host/vectors/vector-table.js";

/** With more vectors missing, it costs less to have the shard compare them. */
const FETCHED_MAX = 2_000;

/** Vectors of the documents of one index in one shard. */
interface Known {
  /** Which stored vectors they are. */
  readonly version: number;
  readonly slots: SlotsOfIndex;
}

/** Asks a shard for vector records, in the order of the seqs. */
export type FetchVectors = (seqs: readonly number[]) => Promise<Uint8Array>;

export class LocalVectors {
  readonly #slots: VectorSlots;
  /** An index that goes on in another memory, or is opened anew, has another reader. */
  readonly #known = new WeakMap<EngineReader, Known>();

  /** Of at most `bytesMax` bytes. */
  constructor(newTable: () => VectorTable, bytesMax: number) {
    this.#slots = new VectorSlots(newTable, bytesMax);
  }

  /**
   * What `use` makes of the slots of documents, which are negative for those without a vector; the slots are
   * theirs until it returns. Null when not all of the vectors can be known now. Throws EngineError.
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

  /** Records one behind the other, of no vector where a slot is negative. */
  records(slots: Int32Array): Uint8Array {
    const records = new Uint8Array(slots.length * VECTOR_BYTES);
    for (const [i, slot] of slots.entries())
      if (slot >= 0) records.set(this.#slots.record(slot), i * VECTOR_BYTES);
    return records;
  }

  /** Forgets all, after the table has failed. */
  clear(): void {
    this.#slots.clear();
  }

  #of(reader: EngineReader): Known {
    const version = reader.vectorsVersion;
    let known = this.#known.get(reader);
    if (known?.version !== version) {
      known?.slots.clear(); // slots that are not taken anew yet refer to it
      known = { version, slots: new Map() };
      this.#known.set(reader, known);
    }
    return known;
  }

  #put(known: Known, seq: number, record: Uint8Array): void {
    if (known.slots.has(seq)) return; // another query has fetched it as well
    if (isNone(record)) known.slots.set(seq, WITHOUT_VECTOR);
    else this.#slots.put(known.slots, seq, record);
  }
}

/** Puts the slots of documents there; tells which are not known. */
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
