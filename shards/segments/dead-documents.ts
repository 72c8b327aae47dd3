// Keeps track of stored documents that were replaced or deleted. Their bytes stay until no read can request
// them: a document that died in generation g is invisible to reads of g and later. The database also records
// them, one record per generation, so that they are still deleted after a restart. Deleted documents take
// disk space until the database is compacted. Their number is recorded too, so that they are still compacted
// after a restart.
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
   * Called while an index is being opened. Deletes the documents that died in generations below `keptFrom`,
   * because no read can request them after a restart. The others died in writes that may be taken back.
   * Throws the envelope's errors.
   */
  static async open(store: Store, uid: number, keptFrom: number): Promise<DeadDocuments> {
    const dead = new DeadDocuments();
    const releasedKey = releasedDocumentsKey(uid);
    const stored = await store.get(releasedKey);
    if (stored !== undefined) dead.#released = decodeReleasedDocuments(stored, describeKey(releasedKey));
    for await (const [key, value] of store.entries(deadDocumentsRange(uid))) {
      const generation = numberOfKey(key);
      dead.add([{ generation, seqs: decodeDeadDocuments(value, describeKey(key)) }]);
      if (generation >= keptFrom) continue;
      await store.batch(dead.deletes(uid, [generation], true), { sync: false });
      dead.forget([generation]);
    }
    return dead;
  }

  /** Number of documents that were deleted from the database and still take disk space. */
  get released(): number {
    return this.#released;
  }

  /** Returns the store operations that record these lists. Call `add` once they are durable. */
  puts(uid: number, lists: readonly DeadList[]): StoreOp[] {
    return lists.map(({ generation, seqs }) =>
      putDeadDocuments(uid, generation, [...(this.#lists.get(generation) ?? []), ...seqs]),
    );
  }

  add(lists: readonly DeadList[]): void {
    for (const { generation, seqs } of lists) {
      const known = this.#lists.get(generation) ?? [];
      for (const seq of seqs) known.push(seq);
      this.#lists.set(generation, known);
    }
  }

  /**
   * Returns the generations whose dead documents are invisible to all reads of `oldestGeneration` or later.
   */
  releasable(oldestGeneration: number): number[] {
    return [...this.#lists.keys()].filter((generation) => generation <= oldestGeneration);
  }

  /**
   * Returns the store operations that delete these generations' documents. The operations are generated one
   * by one, because there may be a million. Call `forget` once they are done. `withVectors`: the documents
   * may have vectors.
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
   * Subtracts `documents` deleted documents whose disk space was reclaimed. Returns the store operation that
   * records the new number.
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

/** Returns the number of deleted documents that still take disk space. Throws the envelope's errors. */
export function decodeReleasedDocuments(bytes: Uint8Array, what: string): number {
  const payload = unseal(ENVELOPE_RELEASED_DOCUMENTS, RELEASED_DOCUMENTS_VERSION, bytes, what);
  if (payload.length !== 8) throw new DamagedBytesError(`${what}: wrong length`);
  return new DataView(payload.buffer, payload.byteOffset).getFloat64(0, true);
}

/** Returns the store operation that records which documents died in a generation. */
export function putDeadDocuments(uid: number, generation: number, seqs: readonly number[]): StoreOp {
  const bytes = new Uint8Array(seqs.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [i, seq] of seqs.entries()) view.setFloat64(i * 8, seq, true);
  const value = seal(ENVELOPE_DEAD_DOCUMENTS, DEAD_DOCUMENTS_VERSION, bytes);
  return { type: "put", key: deadDocumentsKey(uid, generation), value };
}

/** Returns the seqs in a stored record. Throws the envelope's errors. */
export function decodeDeadDocuments(bytes: Uint8Array, what: string): number[] {
  const payload = unseal(ENVELOPE_DEAD_DOCUMENTS, DEAD_DOCUMENTS_VERSION, bytes, what);
  if (payload.length % 8 !== 0) throw new DamagedBytesError(`${what}: wrong length`);
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const seqs: number[] = [];
  for (let at = 0; at < payload.length; at += 8) seqs.push(view.getFloat64(at, true));
  return seqs;
}
