// Stored documents that a newer version or a delete has replaced. Their bytes stay until no read can ask for
// them: a document that died in generation g is invisible to reads of g and later. Kept in the database too,
// one record per generation, so that a restart still deletes them.
import { DamagedBytesError, ENVELOPE_DEAD_DOCUMENTS, seal, unseal } from "../storage/envelope.js";
import { deadDocumentsKey, documentKey, vectorKey } from "../storage/keyspace.js";
import { lazily } from "../storage/lazy-ops.js";
import type { StoreOp } from "../storage/store.js";

const DEAD_DOCUMENTS_VERSION = 1;

export interface DeadList {
  generation: number;
  seqs: number[];
}

export class DeadDocuments {
  readonly #lists = new Map<number, number[]>();
  /** How many documents were deleted from the database since their room was given back. */
  released = 0;

  /** The store operations that record these lists; `add` makes them count once those are durable. */
  puts(uid: number, lists: readonly DeadList[]): StoreOp[] {
    return lists.map(({ generation, seqs }) => ({
      type: "put",
      key: deadDocumentsKey(uid, generation),
      value: encode([...(this.#lists.get(generation) ?? []), ...seqs]),
    }));
  }

  add(lists: readonly DeadList[]): void {
    for (const { generation, seqs } of lists) {
      const known = this.#lists.get(generation) ?? [];
      for (const seq of seqs) known.push(seq);
      this.#lists.set(generation, known);
    }
  }

  /** Generations whose dead documents no read of `oldestGeneration` or later can see. */
  releasable(oldestGeneration: number): number[] {
    return [...this.#lists.keys()].filter((generation) => generation <= oldestGeneration);
  }

  /**
   * The store operations that delete the documents of these generations, made one by one since there may be a million;
   * `forget` follows once they are done. `withVectors`: the documents may have vectors.
   */
  deletes(uid: number, generations: readonly number[], withVectors: boolean): Iterable<StoreOp> {
    const lists = generations.map((generation) => ({ generation, seqs: this.#lists.get(generation) ?? [] }));
    return lazily(function* () {
      for (const { generation, seqs } of lists) {
        for (const seq of seqs) {
          yield { type: "del", key: documentKey(uid, seq) };
          if (withVectors) yield { type: "del", key: vectorKey(uid, seq) };
        }
        yield { type: "del", key: deadDocumentsKey(uid, generation) };
      }
    });
  }

  forget(generations: readonly number[]): void {
    for (const generation of generations) {
      this.released += this.#lists.get(generation)?.length ?? 0;
      this.#lists.delete(generation);
    }
  }
}

function encode(seqs: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(seqs.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [i, seq] of seqs.entries()) view.setFloat64(i * 8, seq, true);
  return seal(ENVELOPE_DEAD_DOCUMENTS, DEAD_DOCUMENTS_VERSION, bytes);
}

/** The seqs of a stored record. Throws the envelope's errors. */
export function decodeDeadDocuments(bytes: Uint8Array, what: string): number[] {
  const payload = unseal(ENVELOPE_DEAD_DOCUMENTS, DEAD_DOCUMENTS_VERSION, bytes, what);
  if (payload.length % 8 !== 0) throw new DamagedBytesError(`${what}: wrong length`);
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const seqs: number[] = [];
  for (let at = 0; at < payload.length; at += 8) seqs.push(view.getFloat64(at, true));
  return seqs;
}
