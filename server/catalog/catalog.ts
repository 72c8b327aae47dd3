// The catalog on disk: loads the state at start, runs commands one after the other, each durable before its
// state becomes visible. Its database is also the lock on the data directory. Knows no record's meaning.
import { join } from "node:path";
import { pack, unpack } from "msgpackr";
import { ENVELOPE_CATALOG, seal, unseal } from "../../shards/storage/envelope.js";
import { LevelStore } from "../../shards/storage/level-store.js";
import type { Store, StoreOp } from "../../shards/storage/store.js";
import {
  apply,
  type CatalogState,
  type Change,
  type Command,
  EMPTY_STATE,
  type Meta,
  metaOf,
  withLookups,
} from "./state.js";
import type { IndexRecord, KeyRecord, TenantRecord, UsageRecord } from "./types.js";

// ON DISK - never renumber
const RECORD_VERSION = 1;
/** Keys are "<kind>/<id>"; one more holds the counters. ON DISK. */
const META_KEY = "meta";

export class Catalog {
  readonly #store: Store;
  #state: CatalogState;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(store: Store, state: CatalogState) {
    this.#store = store;
    this.#state = state;
  }

  /**
   * Opens or creates the catalog of a data directory. Throws StoreLockedError while another process has it,
   * EnvelopeError when stored bytes are not ours, of another version or damaged.
   */
  static async open(dataDir: string): Promise<Catalog> {
    const store = await LevelStore.open(join(dataDir, "catalog"), {
      cacheBytes: 1024 * 1024,
      writeBufferBytes: 1024 * 1024,
    });
    return Catalog.on(store);
  }

  /** A catalog on an open store, which it owns from now on. */
  static async on(store: Store): Promise<Catalog> {
    try {
      return new Catalog(store, await load(store));
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /** The present state; a later change does not alter what was returned. */
  get state(): CatalogState {
    return this.#state;
  }

  /**
   * Runs one change when all earlier ones are done: `decide` sees the state the command will apply to, and may
   * throw to change nothing. Resolves with the new state once it is on disk.
   */
  change(decide: (state: CatalogState) => Command): Promise<CatalogState> {
    const run = this.#last.then(() => this.#run(decide));
    this.#last = run.catch(() => undefined);
    return run;
  }

  /** Waits for running changes and closes the database. */
  async close(): Promise<void> {
    await this.#last;
    await this.#store.close();
  }

  async #run(decide: (state: CatalogState) => Command): Promise<CatalogState> {
    const { state, changes } = apply(this.#state, decide(this.#state));
    await this.#store.batch([...changes.map(storeOp), put(META_KEY, metaOf(state))], { sync: true });
    this.#state = state;
    return state;
  }
}

function storeOp(change: Change): StoreOp {
  const key = `${change.kind}/${change.id}`;
  return change.record === null ? { type: "del", key: Buffer.from(key) } : put(key, change.record);
}

function put(key: string, record: object): StoreOp {
  return { type: "put", key: Buffer.from(key), value: seal(ENVELOPE_CATALOG, RECORD_VERSION, pack(record)) };
}

async function load(store: Store): Promise<CatalogState> {
  const everything = { from: new Uint8Array(0), to: new Uint8Array([0xff]) };
  let meta: Meta = metaOf(EMPTY_STATE);
  const records = { tenant: new Map(), key: new Map(), index: new Map(), drop: new Map(), usage: new Map() };
  for await (const [keyBytes, value] of store.entries(everything)) {
    const key = Buffer.from(keyBytes).toString("utf8");
    const record: unknown = unpack(unseal(ENVELOPE_CATALOG, RECORD_VERSION, value, `catalog record ${key}`));
    const [kind, id] = key.split("/") as [keyof typeof records | typeof META_KEY, string | undefined];
    if (kind === META_KEY) meta = record as Meta;
    else if (Object.hasOwn(records, kind)) records[kind].set(Number(id), record);
    else throw new Error(`the catalog holds a record of an unknown kind: ${key}`);
  }
  return withLookups({
    ...meta,
    tenants: records.tenant as Map<number, TenantRecord>,
    keys: records.key as Map<number, KeyRecord>,
    indexes: records.index as Map<number, IndexRecord>,
    toDrop: new Set(records.drop.keys()),
    usage: records.usage as Map<number, UsageRecord>,
  });
}
