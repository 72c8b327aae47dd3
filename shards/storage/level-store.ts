// The store on LevelDB: the only file that knows classic-level. Compression is off: documents are read one by
// one on the way to an answer (3 us against 9 us), and segments are packed already.
import { statfs } from "node:fs/promises";
import { ClassicLevel } from "classic-level";
import { levelDamage } from "./level-files.js";
import {
  type BatchOptions,
  type KeyRange,
  type Store,
  StoreDamagedError,
  StoreLockedError,
  type StoreOp,
  StoreReopeningError,
  type StoreView,
  StoreWriteError,
} from "./store.js";

const MIB = 1024 * 1024;
const ENTRIES_PER_READ = 256;
const KEYS_PER_READ = 2048;
/** A view is read for copying, values of half a MiB among them: what one read may hold. */
const VIEW_BYTES_PER_READ = 256 * 1024;
/** Opening after a failed write is tried no more often than this, */
const RETRY_MS = 1_000;
/** and only with room for what it writes: the log as a table, a new log, a new manifest. */
const REOPEN_BYTES_FREE = 16 * MIB;

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
  /** Writes go one by one: what follows a torn record in LevelDB's log is lost when the log is read again. */
  #last: Promise<unknown> = Promise.resolve();
  /** After a failed write: what to put back once the database is open again. Null: all is well. */
  #failed: StoreOp[] | null = null;
  #retryAtMs = 0;
  #reopening: Promise<void> | null = null;

  private constructor(location: string, db: ClassicLevel<Uint8Array, Uint8Array>) {
    this.#location = location;
    this.#db = db;
  }

  /**
   * Opens or creates the database in this directory. Throws StoreLockedError while another one has it open,
   * StoreDamagedError when its log or its list of files is damaged; tables are not read through.
   */
  static async open(location: string, options: LevelStoreOptions = {}): Promise<LevelStore> {
    // LevelDB would drop damaged records of its log and make a new database where CURRENT is missing; it begins to open when the object is made
    const [damage] = levelDamage(location, false);
    if (damage !== undefined) throw new StoreDamagedError(location, damage);
    const db = new ClassicLevel<Uint8Array, Uint8Array>(location, {
      keyEncoding: "view",
      valueEncoding: "view",
      compression: false,
      cacheSize: options.cacheBytes ?? 1 * MIB,
      writeBufferSize: options.writeBufferBytes ?? 4 * MIB,
      maxFileSize: 16 * MIB,
      blockSize: 4096,
      maxOpenFiles: 512,
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
    return new LevelStore(location, db);
  }

  /** Writes every table anew, so that its blocks have right checksums again. */
  compact(): Promise<void> {
    return this.#db.compactRange(new Uint8Array(0), Buffer.alloc(64, 0xff));
  }

  /**
   * Makes a damaged database openable: LevelDB collects what its files still hold; what cannot be read is gone, and
   * deleted keys may be back. Requires that nobody has it open.
   */
  static async repair(location: string): Promise<void> {
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

  batch(ops: StoreOp[], options: BatchOptions): Promise<void> {
    return this.#write(ops, () => this.#db.batch<Uint8Array, Uint8Array>(ops, { sync: options.sync }));
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
      for (;;) {
        const keys = await iterator.nextv(KEYS_PER_READ);
        if (keys.length === 0) return;
        yield* keys;
      }
    } catch (error) {
      throw this.#failure(error);
    } finally {
      await iterator.close();
    }
  }

  view(): StoreView {
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
    return this.#write([], () => this.#db.clear({ gte: range.from, lt: range.to }));
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#db.close();
  }

  #write(ops: readonly StoreOp[], work: () => Promise<void>): Promise<void> {
    const run = this.#last.then(async () => {
      if (this.#failed !== null) await this.#recover(this.#failed);
      try {
        await work();
      } catch (cause) {
        if (this.#db.status !== "open") throw cause;
        this.#failed = await this.#before(ops);
        this.#retryAtMs = Date.now() + RETRY_MS;
        throw new StoreWriteError(
          `the database at ${this.#db.location} refused a write: ${describe(cause)}`,
          {
            cause,
          },
        );
      }
    });
    this.#last = run.catch(() => undefined);
    return run;
  }

  /** Operations that undo these. LevelDB shows nothing of a failed batch, but its log may hold it. */
  async #before(ops: readonly StoreOp[]): Promise<StoreOp[]> {
    const keys = ops.map(({ key }) => Uint8Array.from(key));
    const values = await this.#db.getMany(keys);
    return keys.map((key, i): StoreOp => {
      const value = values[i];
      return value === undefined ? { type: "del", key } : { type: "put", key, value };
    });
  }

  /**
   * After a failed write LevelDB either takes no more or goes on behind a torn record, so it is opened again, as
   * soon as there is room: without room it could not even be opened, and reads would end too. Reads wait meanwhile.
   */
  async #recover(undo: readonly StoreOp[]): Promise<void> {
    const { location } = this.#db;
    if (Date.now() < this.#retryAtMs)
      throw new StoreWriteError(`the database at ${location} waits after a failure`);
    this.#retryAtMs = Date.now() + RETRY_MS;
    const { bavail, bsize } = await statfs(location);
    if (bavail * bsize < REOPEN_BYTES_FREE) throw new StoreWriteError(`the disk of ${location} is full`);
    const reopened = this.#reopen();
    this.#reopening = reopened.catch(() => undefined);
    try {
      await reopened;
      await this.#db.batch<Uint8Array, Uint8Array>([...undo], { sync: true });
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

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
