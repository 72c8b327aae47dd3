// All mutable state of one open index: its segments, deleted rows, snapshots, counters and dead documents. A
// change is first made durable by one batch that includes the new manifest, and then applied here; readers
// see the whole change at once. Writes, merges and re-indexing decide what to change.

import type { Engine } from "../../engine-wasm/host/instance/engine.js";
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import { shardFault } from "../fault.js";
import type { ShardSchema } from "../protocol/control.js";
import { SHARD_STORAGE, SHARD_UNAVAILABLE, ShardError } from "../protocol/errors.js";
import type { DocumentCache } from "../query/document-cache.js";
import type { DeadDocuments } from "../segments/dead-documents.js";
import { DeletedRows } from "../segments/deleted-rows.js";
import { type DoubtfulWrite, encodeManifest, type SegmentRecord } from "../segments/manifest.js";
import type { LiveSegment, OpenSegment } from "../segments/open-segment.js";
import type { Snapshots } from "../segments/snapshots.js";
import { deletedRowsKey, manifestKey } from "../storage/keyspace.js";
import { inTurn } from "../storage/lazy-ops.js";
import type { Store, StoreOp } from "../storage/store.js";
import type { IndexVectors } from "../vectors/index-vectors.js";
import type { VectorsHome } from "../vectors/vectors-home.js";
import type { Builder } from "./builder.js";
import type { Doubt } from "./doubt.js";
import { mustSucceed } from "./must-succeed.js";

/** Everything that a shard's indexes share. */
export interface IndexHome extends VectorsHome {
  store: Store;
  /** True if commits wait for the disk. */
  sync: boolean;
  /** Maximum length of an updated document in bytes. */
  documentBytesMax: number;
  /** Builds segments from new documents, for all of the thread's indexes. */
  builder: Builder;
  /** Recently shown documents from all of the shard's indexes. */
  documents: DocumentCache;
  /** The thread's workbench for everything except the builder's builds. */
  workbench(): Workbench;
}

export interface IndexParts {
  uid: number;
  home: IndexHome;
  engine: Engine;
  schema: ShardSchema;
  generation: number;
  maxSeq: number;
  nextSegment: number;
  /** The newest snapshot's deleted rows, by segment id; no entry if all rows live. */
  deleted: Map<number, DeletedRows>;
  snapshots: Snapshots;
  dead: DeadDocuments;
  doubt: Doubt;
  vectors: IndexVectors;
}

/** The state after a change, as its manifest records it. */
export interface NextState {
  schema: ShardSchema;
  generation: number;
  maxSeq: number;
  segments: OpenSegment[];
  deleted: Map<number, DeletedRows>;
  /** The change's writes to several shards. */
  inDoubt?: readonly DoubtfulWrite[];
}

export class ShardIndexState {
  readonly uid: number;
  readonly home: IndexHome;
  readonly engine: Engine;
  readonly snapshots: Snapshots;
  readonly dead: DeadDocuments;
  readonly doubt: Doubt;
  readonly vectors: IndexVectors;
  /** Called for each row of an older segment that a committed write has deleted. */
  onKilled: (segment: OpenSegment, seq: number) => void = () => undefined;
  /** Called when an endpoint's vector has been stored for a row. */
  onGiven: (segment: OpenSegment, row: number, vector: Uint8Array) => void = () => undefined;
  schema: ShardSchema;
  generation: number;
  maxSeq: number;
  deleted: Map<number, DeletedRows>;
  closed = false;
  /**
   * True if the store refused a write and has accepted no new segment since. Background work then frees disk
   * space before anything else.
   */
  short = false;
  #nextSegment: number;

  constructor(parts: IndexParts) {
    this.uid = parts.uid;
    this.home = parts.home;
    this.engine = parts.engine;
    this.schema = parts.schema;
    this.generation = parts.generation;
    this.maxSeq = parts.maxSeq;
    this.#nextSegment = parts.nextSegment;
    this.deleted = parts.deleted;
    this.snapshots = parts.snapshots;
    this.dead = parts.dead;
    this.doubt = parts.doubt;
    this.vectors = parts.vectors;
    this.vectors.onSpace = () => this.showCodes();
  }

  /** Makes changed codes visible in the snapshots. Must be called after segments' codes have changed. */
  showCodes(): void {
    mustSucceed(() => this.snapshots.showCodes());
  }

  /** The newest snapshot's entries. */
  get entries(): readonly LiveSegment[] {
    return this.snapshots.newest.entries;
  }

  get liveDocs(): number {
    return this.entries.reduce(
      (sum, { segment }) => sum + segment.record.rows - this.deletedCount(segment),
      0,
    );
  }

  deletedCount(segment: OpenSegment): number {
    return this.deleted.get(segment.record.id)?.count ?? 0;
  }

  deletedRows(segment: OpenSegment): DeletedRows {
    return this.deleted.get(segment.record.id) ?? DeletedRows.none(segment.record.rows);
  }

  /** The segment's deleted rows that stay deleted even if writes in doubt are taken back. */
  surelyDeleted(segment: OpenSegment): DeletedRows {
    const { id, rows } = segment.record;
    return this.doubt.surelyDeleted(id, this.deleted.get(id)) ?? DeletedRows.none(rows);
  }

  surelyDeletedCount({ record }: OpenSegment): number {
    return this.doubt.surelyDeleted(record.id, this.deleted.get(record.id))?.count ?? 0;
  }

  isStale(segment: OpenSegment): boolean {
    return segment.record.schemaVersion < this.schema.version;
  }

  /** The present state, as its manifest records it. */
  get present(): NextState {
    const { schema, generation, maxSeq, deleted } = this;
    return { schema, generation, maxSeq, deleted, segments: this.entries.map(({ segment }) => segment) };
  }

  /** Returns an id for a new segment. Ids are never reused, even if the segment is not used. */
  takeSegmentId(): number {
    return this.#nextSegment++;
  }

  checkOpen(): void {
    if (this.closed) throw new ShardError(SHARD_UNAVAILABLE, `index ${this.uid} is closing`);
  }

  /**
   * Writes the operations and the manifest of `next` as one batch. If `sync` is true, the batch is on disk
   * when the promise resolves; by default, that depends on the server's durability setting. On an error
   * (SHARD_STORAGE) nothing has changed. After a success, the caller updates this state.
   */
  async commit(ops: Iterable<StoreOp>, next: NextState, sync = this.home.sync): Promise<void> {
    this.checkOpen();
    const all = inTurn(ops, [this.#putManifest(next)]);
    const known = new Set(this.entries.map(({ segment }) => segment));
    const adds = next.segments.some((segment) => !known.has(segment));
    try {
      await this.home.store.batch(all, { sync, adds });
      this.doubt.committed(next.inDoubt ?? [], next.generation, this.deleted);
      if (adds) this.short = false;
    } catch (cause) {
      this.short = true;
      throw new ShardError(SHARD_STORAGE, `index ${this.uid}: the database refused a write`, { cause });
    }
  }

  /**
   * Deletes stored documents that no read of `oldestGeneration` or later can see. If taking back a write
   * would have needed them, the same batch removes that write from the manifest.
   */
  async purge(oldestGeneration: number): Promise<void> {
    const generations = this.dead.releasable(oldestGeneration);
    if (generations.length === 0) return;
    this.doubt.seen(oldestGeneration);
    const { hasCleared } = this.doubt;
    const manifest = hasCleared ? [this.#putManifest(this.present)] : [];
    shardFault("purge.before-batch");
    const deletes = this.dead.deletes(this.uid, generations, this.vectors.mayBeStored);
    await this.home.store.batch(inTurn(manifest, deletes), { sync: false });
    if (hasCleared) this.doubt.committed([], this.generation, this.deleted);
    this.dead.forget(generations);
  }

  #putManifest(next: NextState): StoreOp {
    const segments = next.segments.map(({ record }): SegmentRecord => {
      return { ...record, deleted: next.deleted.get(record.id)?.count ?? 0 };
    });
    const value = encodeManifest({
      generation: next.generation,
      maxSeq: next.maxSeq,
      nextSegment: this.#nextSegment,
      schemaVersion: next.schema.version,
      segments,
      ...this.doubt.with(next.inDoubt ?? []),
    });
    return { type: "put", key: manifestKey(this.uid), value };
  }
}

/** Returns the operations that store these segments' deleted-rows records. */
export function putDeletedRows(
  uid: number,
  deleted: Iterable<[segment: number, rows: DeletedRows]>,
): StoreOp[] {
  return Array.from(deleted, ([segment, rows]) => {
    return { type: "put", key: deletedRowsKey(uid, segment), value: rows.encode() };
  });
}
