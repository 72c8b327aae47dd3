// One shard: a database and its indexes. All of the thread's mutable index state belongs to it. Calls that
// open, close or drop the same index run one after another. If an index's engine has trapped, the shard
// replaces the index object.

import { EngineError } from "../engine-wasm/host/engine-error.js";
import type { Engine } from "../engine-wasm/host/instance/engine.js";
import type { Workbench } from "../engine-wasm/host/instance/workbench.js";
import { Lane } from "../engine-wasm/host/runtime/lane.js";
import type { Embedder } from "../engine-wasm/host/vectors/embedder.js";
import { VectorSlots } from "../engine-wasm/host/vectors/vector-slots.js";
import { BackupSnapshots } from "./backup-snapshots.js";
import { DroppedIndexes } from "./dropped-indexes.js";
import { shardFault } from "./fault.js";
import { Builder } from "./index/builder.js";
import { type IndexOptions, IndexShard } from "./index/index-shard.js";
import type { LargeWork } from "./index/large-work.js";
import { storedDocuments } from "./index/read/stored-documents.js";
import { Slices } from "./index/slices.js";
import { takeBack } from "./index/take-back.js";
import type { IndexSize, OpenReply, OpenRequest, Standing, StandingRequest } from "./protocol/control.js";
import {
  SHARD_BAD_MESSAGE,
  SHARD_DAMAGED,
  SHARD_LATE,
  SHARD_NO_MEMORY,
  SHARD_NOT_OPEN,
  SHARD_TRAPPED,
  SHARD_UNAVAILABLE,
  SHARD_VERSION,
  ShardError,
} from "./protocol/errors.js";
import type { StoredPage, StoredRequest } from "./protocol/move.js";
import type { NumberedModel } from "./protocol/vectors.js";
import { DocumentCache } from "./query/document-cache.js";
import { storedStanding } from "./segments/stored-standing.js";
import { EnvelopeError, OtherVersionError } from "./storage/envelope.js";
import {
  droppingKey,
  indexesFrom,
  indexRange,
  isManifestKey,
  manifestKey,
  uidOfKey,
} from "./storage/keyspace.js";
import { type Store, StoreDamagedError } from "./storage/store.js";
import { readModel, readModelRecord } from "./vectors/model-store.js";
import { VECTORS_BYTES_MAX } from "./vectors/vectors-home.js";

export interface ShardOptions {
  store: Store;
  sync: boolean;
  /** Duration (ms) of one slice of merging or other long work. Requests are answered between slices. */
  mergeSliceMs: number;
  documentBytesMax: number;
  /**
   * A single shared number, the count of running queries, which other threads update. Long work waits briefly
   * while it is above 0.
   */
  queries: Int32Array;
  large: LargeWork;
  /** Creates a fresh engine instance. */
  engine(): Engine;
  workbench: Workbench;
  /** Creates an embedder, with its own instance, for this model. */
  embedder(model: Uint8Array): Embedder;
  /** Logs a failure that no request reports. */
  report(message: string, error: unknown): void;
}

/** After this many engine faults in an index's background work, that work stops. */
const FAULTS_MAX = 3;

export class Shard {
  readonly #options: ShardOptions;
  readonly #slices: Slices;
  readonly #builder: Builder;
  readonly #documents = new DocumentCache();
  readonly #vectors: VectorSlots;
  /** The database views from which backups are written. */
  readonly backups: BackupSnapshots;
  readonly #indexes = new Map<number, IndexShard>();
  readonly #lanes = new Map<number, Lane>();
  readonly #faults = new Map<number, number>();
  /**
   * Indexes whose stored data is known to be damaged. If the damage prevented an index from opening, every
   * request for it fails with this error.
   */
  readonly #damaged = new Map<number, ShardError>();
  readonly #dropped: DroppedIndexes;
  /** Messages about damage that have already been logged. */
  readonly #reported = new Set<string>();
  #closed = false;

  private constructor(options: ShardOptions) {
    this.#options = options;
    this.#slices = new Slices(options.mergeSliceMs, options.queries);
    this.#dropped = new DroppedIndexes(options.store);
    this.#vectors = new VectorSlots(() => options.workbench.vectorTable(), VECTORS_BYTES_MAX);
    this.#builder = new Builder(options.workbench.another(), this.#slices);
    this.backups = new BackupSnapshots(options.store, this.#slices);
  }

  /** Opens the shard on the store, after deleting the remains of interrupted drops. */
  static async open(options: ShardOptions): Promise<Shard> {
    await clearOrphans(options.store);
    return new Shard(options);
  }

  /**
   * Returns the open index. Throws ShardError SHARD_NOT_OPEN, or SHARD_DAMAGED if damage prevented the index
   * from opening.
   */
  index(uid: number): IndexShard {
    const index = this.#indexes.get(uid);
    if (index !== undefined) return index;
    throw this.#damaged.get(uid) ?? new ShardError(SHARD_NOT_OPEN, `index ${uid} is not open`);
  }

  /**
   * Throws SHARD_DAMAGED if a request or background work has found damage in the index since it was opened.
   */
  checkUndamaged(uid: number): void {
    const damage = this.#damaged.get(uid);
    if (damage !== undefined) throw damage;
  }

  /**
   * Opens the index unless it is already open. An open index adopts `vectors`, and `schema` if that is newer.
   */
  openIndex(request: OpenRequest): Promise<OpenReply> {
    const { uid, schema, vectors } = request;
    return this.#lane(uid).run(async () => {
      const known = this.#indexes.get(uid);
      if (known === undefined) return (await this.#load(request)).status;
      await known.changeSchema(schema);
      await known.setVectors(vectors);
      return known.status;
    });
  }

  /** Returns the index's stored state, without opening it. */
  async standing(request: StandingRequest): Promise<Standing> {
    try {
      return await storedStanding(this.#options.store, request);
    } catch (error) {
      throw isDamage(error) ? this.#damage(request.uid, error) : error;
    }
  }

  /** Takes back the writes after `generation`. The index must not be open. */
  takeBack(uid: number, generation: number): Promise<void> {
    return this.#lane(uid).run(async () => {
      try {
        await takeBack(this.#options.store, uid, generation);
      } catch (error) {
        throw isDamage(error) ? this.#damage(uid, error) : error;
      }
    });
  }

  /** Returns an index's size. Does not open a closed index; its memory size is 0. */
  async size(uid: number): Promise<IndexSize> {
    const diskBytes = await this.#options.store.diskBytes(indexRange(uid));
    return { diskBytes, memoryBytes: this.#indexes.get(uid)?.memoryBytes ?? 0 };
  }

  /**
   * Closes the index, and stores those codes of its vectors that exist only in memory, so that it gives the
   * same answers once reopened.
   */
  closeIndex(uid: number): Promise<void> {
    return this.#lane(uid).run(() => this.#unload(uid, true));
  }

  /** Deletes all of the index's data. */
  async dropIndex(uid: number): Promise<void> {
    const lane = this.#lane(uid);
    await lane.run(async () => {
      await this.#unload(uid);
      const { store, sync, report } = this.#options;
      this.#damaged.delete(uid);
      this.#faults.delete(uid);
      this.#documents.clear();
      await store.batch(
        [
          { type: "del", key: manifestKey(uid) },
          { type: "put", key: droppingKey(uid), value: new Uint8Array(0) },
        ],
        { sync },
      );
      shardFault("drop.after-manifest");
      await store.clear(indexRange(uid));
      this.#dropped
        .add(uid)
        .catch((error: unknown) => report(`index ${uid}: its disk space is not given back yet`, error));
    });
    if (lane.size === 0) this.#lanes.delete(uid);
  }

  /** Returns a page of documents. The index must not be written while this runs. */
  async storedDocuments(request: StoredRequest): Promise<StoredPage> {
    try {
      const { store, report } = this.#options;
      return await storedDocuments(store, request, report);
    } catch (error) {
      throw isDamage(error) ? this.#damage(request.uid, error) : error;
    }
  }

  /**
   * Returns an index's stored model, whether or not the index is open. Null if there is none or it cannot be
   * read.
   */
  async storedModel(uid: number): Promise<NumberedModel | null> {
    const { store, report } = this.#options;
    try {
      const record = await readModelRecord(store, uid);
      return record === null ? null : { ...record, bytes: await readModel(store, uid, record) };
    } catch (error) {
      if (!(error instanceof EnvelopeError)) throw error;
      report(`index ${uid}: its model cannot be read, so another one will be trained`, error);
      return null;
    }
  }

  /** Called after the shard has been idle for a while. Frees memory that only active work needs. */
  rest(): void {
    this.#options.workbench.rest();
    if (this.#indexes.size === 0) this.#vectors.clear();
    this.#builder.rest();
  }

  /**
   * Closes every index, then the database. If an index cannot be closed, closes all others and the database
   * before it throws.
   */
  async close(): Promise<void> {
    this.#closed = true;
    const failed: unknown[] = [];
    const tried = (closing: Promise<void>): Promise<unknown> => closing.catch((error) => failed.push(error));
    await tried(this.backups.dropAll());
    for (const uid of [...this.#indexes.keys()]) await tried(this.closeIndex(uid));
    await this.#options.store.close();
    if (failed.length > 0) throw failed[0];
  }

  /**
   * Converts an `error` thrown by work on an index to the error for the request. If the engine failed,
   * reopens the index from the database, unless an earlier failure has already caused that, and returns an
   * error that asks the client to retry.
   */
  failure(uid: number, index: IndexShard, error: unknown): unknown {
    if (isDamage(error)) return this.#damage(uid, error);
    if (!(error instanceof EngineError)) return error;
    switch (error.code) {
      case "program":
        return new ShardError(SHARD_BAD_MESSAGE, error.message, { cause: error });
      case "damaged":
        return this.#damage(uid, error);
      case "memory":
        return new ShardError(SHARD_NO_MEMORY, error.message, { cause: error });
      case "late":
        return new ShardError(SHARD_LATE, error.message, { cause: error });
      case "trap":
        this.#replace(uid, index, error);
        return new ShardError(SHARD_TRAPPED, `index ${uid} is being reopened`, { cause: error });
      case "unusable":
        this.#replace(uid, index, error);
        return new ShardError(SHARD_UNAVAILABLE, `index ${uid} is being reopened`, { cause: error });
      default:
        return error;
    }
  }

  #lane(uid: number): Lane {
    const lane = this.#lanes.get(uid) ?? new Lane();
    this.#lanes.set(uid, lane);
    return lane;
  }

  async #load({ uid, schema, made, vectors, published }: OpenRequest): Promise<IndexShard> {
    if (this.#closed) throw new ShardError(SHARD_UNAVAILABLE, "the shard is closing");
    const { store, sync, documentBytesMax, engine, workbench, embedder, report } = this.#options;
    const options: IndexOptions = {
      home: {
        store,
        sync,
        documentBytesMax,
        builder: this.#builder,
        documents: this.#documents,
        vectors: this.#vectors,
        workbench: () => workbench,
        embedder,
        report,
      },
      engine: engine(),
      made,
      published,
      vectors,
      slices: this.#slices,
      large: this.#options.large,
      onFault: (error) => this.#onBackgroundFault(uid, index, error),
    };
    let index: IndexShard;
    try {
      index = await IndexShard.open(uid, schema, options);
    } catch (error) {
      if (!isDamage(error) && !(error instanceof EngineError && error.code === "damaged")) throw error;
      throw this.#damage(uid, error);
    }
    this.#damaged.delete(uid);
    this.#indexes.set(uid, index);
    return index;
  }

  async #unload(uid: number, storesCodes = false): Promise<void> {
    const index = this.#indexes.get(uid);
    this.#indexes.delete(uid);
    await index?.close(storesCodes);
  }

  #replace(uid: number, index: IndexShard, cause: unknown): void {
    if (this.#indexes.get(uid) !== index) return;
    this.#options.report(`index ${uid}: the engine failed, reopening it`, cause);
    index.endLoans();
    this.#indexes.delete(uid);
    const reopened = this.#lane(uid).run(async () => {
      await index.close();
      if (this.#indexes.has(uid) || this.#closed) return;
      const { schema, vectors, published } = index;
      await this.#load({ uid, schema, made: true, vectors, published });
    });
    reopened.catch((error: unknown) => this.#options.report(`index ${uid} could not be reopened`, error));
  }

  /** Logs the damage unless it has been logged before. Returns the error for the request that found it. */
  #damage(uid: number, cause: Error): ShardError {
    if (!this.#reported.has(cause.message)) {
      this.#reported.add(cause.message);
      this.#options.report(`index ${uid}: stored data cannot be read: ${cause.message}`, cause);
    }
    const code = cause instanceof OtherVersionError ? SHARD_VERSION : SHARD_DAMAGED;
    const damage = new ShardError(code, cause.message, { cause, uid });
    if (!this.#damaged.has(uid)) this.#damaged.set(uid, damage);
    return damage;
  }

  #onBackgroundFault(uid: number, index: IndexShard, error: unknown): void {
    if (isDamage(error)) {
      this.#damage(uid, error);
      index.stopMaintenance();
      return;
    }
    this.#options.report(`index ${uid}: background work failed, to be tried again`, error);
    if (!(error instanceof EngineError)) return;
    const faults = (this.#faults.get(uid) ?? 0) + 1;
    this.#faults.set(uid, faults);
    if (faults < FAULTS_MAX) this.failure(uid, index, error);
    else {
      index.stopMaintenance();
      if (error.code === "trap") index.endLoans();
    }
  }
}

function isDamage(error: unknown): error is Error {
  return error instanceof EnvelopeError || error instanceof StoreDamagedError;
}

/**
 * Deletes the remains of interrupted drops. If an index has no manifest although it was not being dropped,
 * its manifest is lost. Such an index does not open, and is kept for `skein repair`.
 */
async function clearOrphans(store: Store): Promise<void> {
  let uid = 0;
  for (;;) {
    let first: Uint8Array | undefined;
    for await (const key of store.keys(indexesFrom(uid))) {
      first = key;
      break;
    }
    if (first === undefined) return;
    uid = uidOfKey(first);
    if (!isManifestKey(first) && (await store.get(droppingKey(uid))) !== undefined) {
      await store.clear(indexRange(uid));
    }
    if (uid === 0xffffffff) return;
    uid++;
  }
}
