// The store on LevelDB: the only file that knows classic-level. Compression is off: documents are read one by
// one on the way to an answer (3 us against 9 us), and segments are packed already.
import { ClassicLevel } from "classic-level";
import { type BatchOptions, type KeyRange, type Store, StoreLockedError, type StoreOp } from "./store.js";

const MIB = 1024 * 1024;
const ENTRIES_PER_READ = 256;
const KEYS_PER_READ = 2048;

export interface LevelStoreOptions {
  /** Cache of database blocks, in bytes. */
  cacheBytes?: number;
  /** Log size at which a table is written, in bytes. */
  writeBufferBytes?: number;
}

function isLocked(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ("code" in at && at.code === "LEVEL_LOCKED") return true;
  }
  return false;
}

export class LevelStore implements Store {
  readonly #db: ClassicLevel<Uint8Array, Uint8Array>;

  private constructor(db: ClassicLevel<Uint8Array, Uint8Array>) {
    this.#db = db;
  }

  /** Opens or creates the database in this directory. Throws StoreLockedError while another one has it open. */
  static async open(location: string, options: LevelStoreOptions = {}): Promise<LevelStore> {
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
      if (isLocked(cause)) throw new StoreLockedError(location, { cause });
      throw new Error(`the database at ${location} does not open: ${describe(cause)}`, { cause });
    }
    return new LevelStore(db);
  }

  getSync(key: Uint8Array): Uint8Array | undefined {
    return this.#db.getSync(key);
  }

  get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#db.get(key);
  }

  getMany(keys: Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.#db.getMany(keys);
  }

  async batch(ops: StoreOp[], options: BatchOptions): Promise<void> {
    await this.#db.batch<Uint8Array, Uint8Array>(ops, { sync: options.sync });
  }

  async *entries(range: KeyRange): AsyncIterableIterator<[Uint8Array, Uint8Array]> {
    const iterator = this.#db.iterator({ gte: range.from, lt: range.to });
    try {
      for (;;) {
        const entries = await iterator.nextv(ENTRIES_PER_READ);
        if (entries.length === 0) return;
        yield* entries;
      }
    } finally {
      await iterator.close();
    }
  }

  async *keys(range: KeyRange): AsyncIterableIterator<Uint8Array> {
    const iterator = this.#db.keys({ gte: range.from, lt: range.to });
    try {
      for (;;) {
        const keys = await iterator.nextv(KEYS_PER_READ);
        if (keys.length === 0) return;
        yield* keys;
      }
    } finally {
      await iterator.close();
    }
  }

  clear(range: KeyRange): Promise<void> {
    return this.#db.clear({ gte: range.from, lt: range.to });
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
