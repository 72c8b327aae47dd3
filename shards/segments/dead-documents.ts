// Stored documents that were replaced or deleted. Their bytes stay until no read can ask for them: a document
// that died in generation g is invisible to reads of g and later. They are also recorded in the database, one
// record per generation, so that a restart still deletes them. Deleted documents take disk space until the
// database is compacted; their number is recorded too, so that a restart still compacts.
import {
  DamagedBytesError,
  ENVELOPE_DEAD_DOCUMENTS,
  ENVELOPE_RELEASED_DOCUMENTS,
  seal,
  unseal,
} from "../storage/envelope.js";
import {
  deadDocumentsKey,
  deadDocumentsRange,
  describeKey,
  documentKey,
  numberOfKey,
  releasedDocumentsKey,
  vectorKey,
} from "../storage/keyspace.js";
import { lazily } from "../storage/lazy-ops.js";
import type { Store, StoreOp } from "../storage/store.js";

const DEAD_DOCUMENTS_VERSION = 1;
const RELEASED_DOCUMENTS_VERSION = 1;

export interface DeadList {
  generation: number;
  seqs: number[];
}

export class DeadDocuments {
  readonly #lists = new Map<number, number[]>();
  #released = 0;

  /**
   * Used while an index is being opened. First deletes the listed documents, because no read can ask for them
   * after a restart. Throws the envelope's errors.
   */
  static async open(store: Store, uid: number): Promise<DeadDocuments> {
    const dead = new DeadDocuments();
    const releasedKey = releasedDocumentsKey(uid);
    const stored = await store.get(releasedKey);
    if (stored !== undefined) dead.#released = decodeReleasedDocuments(stored, describeKey(releasedKey));
    for await (const [key, value] of store.entries(deadDocumentsRange(uid))) {
      const generation = numberOfKey(key);
      dead.add([{ generation, seqs: decodeDeadDocuments(value, describeKey(key)) }]);
      await store.batch(dead.deletes(uid, [generation], true), { sync: false });
      dead.forget([generation]);
    }
    return dead;
  }

  /** Number of documents deleted from the database whose space has not been reclaimed yet. */
  get released(): number {
    return this.#released;
  }

  /** Store operations that record these lists. Call `add` once they are durable. */
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

  /**
   * Returns the generations whose dead documents are invisible to every read of `oldestGeneration` or later.
   */
  releasable(oldestGeneration: number): number[] {
    return [...this.#lists.keys()].filter((generation) => generation <= oldestGeneration);
  }

  /**
   * Store operations that delete the documents of these generations, generated one by one because there may
   * be a million. Call `forget` once they are done. `withVectors`: the documents may have vectors.
   */
  deletes(uid: number, generations: readonly number[], withVectors: boolean): Iterable<StoreOp> {
    const lists = generations.map((generation) => ({ generation, seqs: this.#lists.get(generation) ?? [] }));
    const released = lists.reduce((sum, { seqs }) => sum + seqs.length, this.#released);
    return lazily(function* () {
      for (const { generation, seqs } of lists) {
        for (const seq of seqs) {
          yield { type: "del", key: documentKey(uid, seq) };
          if (withVectors) yield { type: "del", key: vectorKey(uid, seq) };
        }
        yield { type: "del", key: deadDocumentsKey(uid, generation) };
      }
      if (lists.length > 0) yield putReleased(uid, released);
    });
  }

  forget(generations: readonly number[]): void {
    for (const generation of generations) {
      this.#released += this.#lists.get(generation)?.length ?? 0;
      this.#lists.delete(generation);
    }
  }

  /**
   * Returns the store operation that records that the space of `documents` deleted documents was reclaimed.
   */
  givenBack(uid: number, documents: number): StoreOp {
    this.#released -= documents;
    return putReleased(uid, this.#released);
  }
}

function putReleased(uid: number, documents: number): StoreOp {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(documents);
  const value = seal(ENVELOPE_RELEASED_DOCUMENTS, RELEASED_DOCUMENTS_VERSION, bytes);
  return { type: "put", key: releasedDocumentsKey(uid), value };
}

/**
 * Returns the number of deleted documents whose space has not been reclaimed yet. Throws the envelope's
 * errors.
 */
export function decodeReleasedDocuments(bytes: Uint8Array, what: string): number {
  const payload = unseal(ENVELOPE_RELEASED_DOCUMENTS, RELEASED_DOCUMENTS_VERSION, bytes, what);
  if (payload.length !== 8) throw new DamagedBytesError(`${what}: wrong length`);
  return new DataView(payload.buffer, payload.byteOffset).getFloat64(0, true);
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
