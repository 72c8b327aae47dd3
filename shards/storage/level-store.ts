// Implements the store on LevelDB. Only this file uses classic-level. Compression is off: documents are read
// one by one for each reply (3 us uncompressed, 9 us compressed), and segments are already compressed.
import { readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { ClassicLevel } from "classic-level";
import { discardBuffer } from "../../engine-wasm/host/runtime/discards.js";
import { keepShape } from "../../engine-wasm/host/runtime/kept-shapes.js";
import { Lane } from "../../engine-wasm/host/runtime/lane.js";
import { cutTables, levelDamage, noteClosed } from "./level-reader/level-files.js";
import {
  type BatchOptions,
  type KeyRange,
  type Store,
  StoreDamagedError,
  StoreLockedError,
  type StoreOp,
  StoreReopeningError,
  type StoreSnapshot,
  StoreWriteError,
} from "./store.js";

const MIB = 1024 * 1024;
const ENTRIES_PER_READ = 256;
const KEYS_PER_READ = 2048;
/**
 * Target size of each read from a view, in bytes. Reads from views are large, because a view is read to copy
 * the database, and limited in bytes, because some values are half a MiB.
 */
const VIEW_BYTES_PER_READ = 256 * 1024;
/** Time spent passing operations to LevelDB before the thread does other work. */
const PUT_SLICE_MS = 1;
/** Minimum interval between attempts to reopen the database after a failed write. */
const RETRY_MS = 1_000;
/**
 * Disk space that opening needs in addition to the size of the log, for a new log, a new list of tables, and
 * the first writes afterwards.
 */
const REOPEN_BYTES = 1 * MIB;
/**
 * Maximum temporary disk space that LevelDB needs to rewrite files, because it deletes the old files only
 * after writing the new ones. A rewrite turns the log into a table or is a compaction.
 */
const REWRITE_BYTES_MAX = 64 * MIB;

/**
 * LevelDB maps every open table into memory, and the pages read from it count towards the process's memory.
 * Tables are therefore small, and the number of open tables is the minimum that LevelDB allows. Reading a
 * document from a closed table takes 15 us longer.
 */
const TABLE_BYTES = 1 * MIB;
const TABLES_OPEN = 64;
const FILES_BESIDE_TABLES = 10;

export interface LevelStoreOptions {
  /** Size of the block cache in bytes. */
  cacheBytes?: number;
  /** Size, in bytes, at which LevelDB turns its log into a table. */
  writeBufferBytes?: number;
}

function hasCode(error: unknown, code: string): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ("code" in at && at.code === code) return true;
  }
  return false;
}

export class LevelStore implements Store {
  readonly #location: string;
  readonly #db: ClassicLevel<Uint8Array, Uint8Array>;
  /**
   * Writes run one at a time, so that none is appended to the log after a torn record: LevelDB loses
   * everything behind such a record when it rereads its log.
   */
  readonly #writes = new Lane();
  /**
   * The operations that will undo a failed write once the database is open again. Null if no write has
   * failed.
   */
  #failed: StoreOp[] | null = null;
  #retryAtMs = Number.NEGATIVE_INFINITY;
  #reopening: Promise<void> | null = null;
  #closed = false;

  private constructor(location: string, db: ClassicLevel<Uint8Array, Uint8Array>) {
    this.#location = location;
    this.#db = db;
  }

  /**
   * Opens the database in this directory, or creates one. Throws StoreLockedError if it is open elsewhere,
   * and StoreDamagedError if its log or its list of tables is damaged. Does not check the contents of tables.
   */
  static async open(location: string, options: LevelStoreOptions = {}): Promise<LevelStore> {
    // Damage is checked before creating the object, because that already starts to open the database. LevelDB
    // would then drop damaged log records, and would create a new database if CURRENT is missing.
    const [damage] = levelDamage(location, false);
    if (damage !== undefined) throw new StoreDamagedError(location, damage);
    const db = new ClassicLevel<Uint8Array, Uint8Array>(location, {
      keyEncoding: "view",
      valueEncoding: "view",
      compression: false,
      cacheSize: options.cacheBytes ?? 1 * MIB,
      writeBufferSize: options.writeBufferBytes ?? 8 * MIB,
      maxFileSize: TABLE_BYTES,
      blockSize: 4096,
      maxOpenFiles: TABLES_OPEN + FILES_BESIDE_TABLES,
    });
    try {
      await db.open();
    } catch (cause) {
      if (hasCode(cause, "LEVEL_LOCKED")) throw new StoreLockedError(location, { cause });
      if (hasCode(cause, "LEVEL_CORRUPTION")) {
        throw new StoreDamagedError(location, describe(cause), { cause });
      }
      throw new Error(`the database at ${location} does not open: ${describe(cause)}`, { cause });
    }
    const batch = db.batch();
    await batch.close(); // closed, like every written batch
    keepShape(batch);
    return new LevelStore(location, db);
  }

  /**
   * Makes a damaged database openable: LevelDB recovers all data that is still readable in its files.
   * Unreadable data is lost, and deleted keys may reappear. The database must not be open anywhere.
   */
  static async repair(location: string): Promise<void> {
    cutTables(location);
    await ClassicLevel.repair(location);
  }

  getSync(key: Uint8Array): Uint8Array | undefined {
    if (this.#reopening !== null) throw new StoreReopeningError(this.#db.location);
    try {
      return this.#db.getSync(key);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    if (this.#reopening !== null) await this.#reopening;
    try {
      return await this.#db.get(key);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async getMany(keys: Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    if (this.#reopening !== null) await this.#reopening;
    try {
      return await this.#db.getMany(keys);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  batch(ops: Iterable<StoreOp>, options: BatchOptions): Promise<void> {
    return this.#inOrder(() => this.#put(ops, options, (write) => this.#guarded(ops, write)));
  }

  async *entries(range: KeyRange): AsyncIterableIterator<[Uint8Array, Uint8Array]> {
    if (this.#reopening !== null) await this.#reopening;
    const iterator = this.#db.iterator({ gte: range.from, lt: range.to });
    try {
      for (;;) {
        const entries = await iterator.nextv(ENTRIES_PER_READ);
        if (entries.length === 0) return;
        yield* entries;
      }
    } catch (error) {
      throw this.#failure(error);
    } finally {
      await iterator.close();
    }
  }

  async *keys(range: KeyRange): AsyncIterableIterator<Uint8Array> {
    if (this.#reopening !== null) await this.#reopening;
    const iterator = this.#db.keys({ gte: range.from, lt: range.to });
    try {
      let count = 1; // many callers need only the first entry
      for (;;) {
        const keys = await iterator.nextv(count);
        if (keys.length === 0) return;
        yield* keys;
        count = KEYS_PER_READ;
      }
    } catch (error) {
      throw this.#failure(error);
    } finally {
      await iterator.close();
    }
  }

  view(): StoreSnapshot {
    const db = this.#db;
    const snapshot = db.snapshot();
    return {
      async *entries(range) {
        const iterator = db.iterator({
          gte: range.from,
          lt: range.to,
          snapshot,
          highWaterMarkBytes: VIEW_BYTES_PER_READ,
        });
        try {
          for (;;) {
            const entries = await iterator.nextv(ENTRIES_PER_READ);
            if (entries.length === 0) return;
            yield* entries;
          }
        } finally {
          await iterator.close();
        }
      },
      close: () => snapshot.close(),
    };
  }

  clear(range: KeyRange): Promise<void> {
    return this.#inOrder(() => this.#guarded([], () => this.#db.clear({ gte: range.from, lt: range.to })));
  }

  async diskBytes({ from, to }: KeyRange): Promise<number> {
    if (this.#reopening !== null) await this.#reopening;
    return this.#db.approximateSize(from, to);
  }

  /** Does not wait in the write queue, so writes continue during the compaction. Closing waits for it. */
  async compact({ from, to }: KeyRange): Promise<void> {
    if (this.#reopening !== null) await this.#reopening;
    await this.#db.compactRange(from, to);
  }

  async close(): Promise<void> {
    await this.#writes.idle();
    const first = !this.#closed;
    this.#closed = true;
    await this.#db.close();
    if (first) noteClosed(this.#location);
  }

  #inOrder(work: () => Promise<void>): Promise<void> {
    return this.#writes.run(async () => {
      if (this.#failed !== null) await this.#recover(this.#failed);
      await work();
    });
  }

  /**
   * Refuses to add `bytes` if LevelDB would then lack the disk space to rewrite its files, because deletions
   * free no space without a rewrite. A rewrite never needs more space than the size of the database. Added
   * bytes count twice, because for a moment they are in both the log and a table.
   */
  #leaveRoom(bytes: number): void {
    const left = freeBytes(this.#location) - 2 * bytes;
    if (left >= REWRITE_BYTES_MAX || left >= fileBytes(this.#location, /\.(log|ldb)$/) + REOPEN_BYTES) return;
    throw new StoreWriteError(`the disk of ${this.#location} has only room for deletions`);
  }

  /** Runs a LevelDB write. If it fails, arranges for `ops` to be undone once the database is open again. */
  async #guarded(ops: Iterable<StoreOp>, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (cause) {
      if (this.#db.status !== "open") throw cause;
      this.#failed = await this.#before(ops);
      this.#retryAtMs = Date.now() + RETRY_MS;
      throw new StoreWriteError(`the database at ${this.#db.location} refused a write: ${describe(cause)}`, {
        cause,
      });
    }
  }

  /**
   * Puts the operations one by one into a native batch and calls `write` to commit it. Passing an array of
   * operations would take this thread ten times as long. Errors from iterating over `ops` propagate.
   */
  async #put(
    ops: Iterable<StoreOp>,
    { sync, adds }: BatchOptions,
    write: (work: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const batch = this.#db.batch();
    let bytes = 0;
    try {
      let begunMs = performance.now();
      for (const op of ops) {
        if (performance.now() - begunMs >= PUT_SLICE_MS) {
          await yieldToEventLoop();
          begunMs = performance.now();
        }
        bytes += op.key.length;
        if (op.type === "del") {
          batch.del(op.key);
          continue;
        }
        bytes += op.value.length;
        batch.put(op.key, op.value);
      }
      if (adds === true) this.#leaveRoom(bytes);
      await write(() => batch.write({ sync }));
    } finally {
      await batch.close();
      discardBuffer(bytes); // the closed batch is garbage, with its native copy of the bytes
    }
  }

  /**
   * Returns the operations that would undo `ops`. Needed because a failed batch, although invisible in
   * LevelDB, may be in its log and would then become visible when the database is reopened.
   */
  async #before(ops: Iterable<StoreOp>): Promise<StoreOp[]> {
    const keys = Array.from(ops, ({ key }) => Uint8Array.from(key));
    const values = await this.#db.getMany(keys);
    return keys.map((key, i): StoreOp => {
      const value = values[i];
      return value === undefined ? { type: "del", key } : { type: "put", key, value };
    });
  }

  /**
   * Reopens LevelDB after a failed write; otherwise it would either refuse further writes or append them
   * after a torn record. Throws until there is disk space for the table that LevelDB will write from its log;
   * without that space LevelDB would not open, and reads would fail too. Reads wait while the database is
   * being reopened.
   */
  async #recover(undo: readonly StoreOp[]): Promise<void> {
    const { location } = this.#db;
    if (Date.now() < this.#retryAtMs)
      throw new StoreWriteError(`the database at ${location} waits after a failure`);
    this.#retryAtMs = Date.now() + RETRY_MS;
    if (freeBytes(location) < fileBytes(location, /\.log$/) + REOPEN_BYTES)
      throw new StoreWriteError(`the disk of ${location} is full`);
    const reopened = this.#reopen();
    this.#reopening = reopened.catch(() => undefined);
    try {
      await reopened;
      await this.#put(undo, { sync: true }, (write) => write());
      this.#failed = null;
    } catch (cause) {
      throw new StoreWriteError(`the database at ${location} does not recover: ${describe(cause)}`, {
        cause,
      });
    } finally {
      if (this.#db.status === "open") this.#reopening = null;
    }
  }

  async #reopen(): Promise<void> {
    await this.#db.close();
    await this.#db.open();
  }

  #failure(error: unknown): unknown {
    if (!hasCode(error, "LEVEL_CORRUPTION")) return error;
    return new StoreDamagedError(this.#location, describe(error), { cause: error });
  }
}

function freeBytes(location: string): number {
  const { bavail, bsize } = statfsSync(location);
  return bavail * bsize;
}

/** Total size of the files whose names match. */
function fileBytes(location: string, names: RegExp): number {
  return readdirSync(location)
    .filter((name) => names.test(name))
    .reduce((sum, name) => sum + (statSync(join(location, name), { throwIfNoEntry: false })?.size ?? 0), 0);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
