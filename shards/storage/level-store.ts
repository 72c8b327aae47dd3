// The store on LevelDB: the only file that knows classic-level. Compression is off: documents are read one by
// one on the way to an answer (3 us against 9 us), and segments are packed already.
import { readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
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
/** Bytes that one read of a view may hold. Views are read for copying, and some values have half a MiB. */
const VIEW_BYTES_PER_READ = 256 * 1024;
/** After handing operations to LevelDB for this long, the store gives the thread's other work a turn. */
const PUT_SLICE_MS = 1;
/** After a failed write the database is opened again no more often than this. */
const RETRY_MS = 1_000;
/** Room for what opening writes beside the log's contents (a new log, a new list of tables) and for the first writes after it. */
const REOPEN_BYTES = 1 * MIB;
/** The most that LevelDB writes before it deletes the files that are replaced: the log as a table, or one compaction. */
const REWRITE_BYTES_MAX = 64 * MIB;

/**
 * LevelDB maps every table that it has open, and the parts of a mapped file that were read count as the process's memory.
 * So tables are small, and as few are open as LevelDB allows. Reading a document from a closed table costs 15 us more.
 */
const TABLE_BYTES = 1 * MIB;
const TABLES_OPEN = 64;
const FILES_BESIDE_TABLES = 10;

export interface LevelStoreOptions {
  /** Cache of database blocks, in bytes. */
  cacheBytes?: number;
  /** Log size at which a table is written, in bytes. */
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
  /** The last write. Writes run one by one, because LevelDB loses what follows a torn record when it reads its log again. */
  readonly #writes = new Lane();
  /** After a failed write, the operations that undo it once the database is open again. Null when no write has failed. */
  #failed: StoreOp[] | null = null;
  #retryAtMs = 0;
  #reopening: Promise<void> | null = null;
  #closed = false;

  private constructor(location: string, db: ClassicLevel<Uint8Array, Uint8Array>) {
    this.#location = location;
    this.#db = db;
  }

  /**
   * Opens or creates the database in this directory. Throws StoreLockedError while another one has it open,
   * StoreDamagedError when its log or its list of files is damaged; tables are not read through.
   */
  static async open(location: string, options: LevelStoreOptions = {}): Promise<LevelStore> {
    // Checked before the object is made, because LevelDB begins to open with that. It would drop damaged records of its log,
    // and would make a new database where CURRENT is missing.
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
    await batch.close(); // as those that were written
    keepShape(batch);
    return new LevelStore(location, db);
  }

  /**
   * Makes a damaged database openable. LevelDB collects what its files still hold. What cannot be read is lost, and
   * deleted keys may come back. Requires that nobody has the database open.
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
      let count = 1; // many only ask for the first
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

  /** Does not stand in the line of writes: they go on meanwhile, and closing waits for the compaction. */
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
   * Refuses to add so many bytes when LevelDB would have no room left to rewrite its files, because without that room no
   * deletion could give anything back. A database never needs more room for it than its own size. Added bytes count
   * twice, because for a moment they stand both in the log and in a table.
   */
  #leaveRoom(bytes: number): void {
    const left = freeBytes(this.#location) - 2 * bytes;
    if (left >= REWRITE_BYTES_MAX || left >= fileBytes(this.#location, /\.(log|ldb)$/) + REOPEN_BYTES) return;
    throw new StoreWriteError(`the disk of ${this.#location} has only room for deletions`);
  }

  /** Runs a write of LevelDB's. When it fails, these operations are undone as soon as that is possible. */
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
   * Puts the operations one by one into a native batch, which `write` is then given. An array of operations would cost the
   * thread ten times as much. What iterating over the operations throws is thrown on.
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
          await turn();
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
      discardBuffer(bytes); // the native copy goes with the object
    }
  }

  /** The operations that undo these. LevelDB shows nothing of a failed batch, but its log may hold it. */
  async #before(ops: Iterable<StoreOp>): Promise<StoreOp[]> {
    const keys = Array.from(ops, ({ key }) => Uint8Array.from(key));
    const values = await this.#db.getMany(keys);
    return keys.map((key, i): StoreOp => {
      const value = values[i];
      return value === undefined ? { type: "del", key } : { type: "put", key, value };
    });
  }

  /**
   * Opens LevelDB again after a failed write, since it would either take no more writes or go on behind a torn record. This
   * waits until there is room for the table that LevelDB makes of its log, because without it LevelDB could not be opened
   * and reads would fail too. Reads wait while it is opened.
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

/** The bytes of the files with such names. */
function fileBytes(location: string, names: RegExp): number {
  return readdirSync(location)
    .filter((name) => names.test(name))
    .reduce((sum, name) => sum + (statSync(join(location, name), { throwIfNoEntry: false })?.size ?? 0), 0);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
