// The catalog on disk. Loads the state at startup and runs commands one at a time; each command is durable
// before its new state becomes visible. An open catalog also locks the data directory. Knows nothing about
// what the records mean.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pack, unpack } from "msgpackr/pack";
import { Lane } from "../../engine-wasm/host/runtime/lane.js";
import {
  DamagedBytesError,
  ENVELOPE_CATALOG,
  OtherVersionError,
  seal,
  unseal,
} from "../../shards/storage/envelope.js";
import { hasDatabase, levelDamage } from "../../shards/storage/level-reader/level-files.js";
import { LevelStore } from "../../shards/storage/level-store.js";
import {
  type Store,
  StoreDamagedError,
  type StoreOp,
  type StoreSnapshot,
  StoreWriteError,
} from "../../shards/storage/store.js";
import { SkeinError } from "../ground/errors.js";
import { fault } from "../ground/fault.js";
import { KINDS, type OwnedKind, type OwnedRecords, RECORD_KINDS, type RecordKind } from "./kinds.js";
import { lookupsOf } from "./lookups.js";
import { byIndex, eachOwned } from "./owned-records.js";
import { type IndexRecord, withAllSettings } from "./records/index-record.js";
import type { KeyRecord } from "./records/key.js";
import type { Change } from "./records/kind.js";
import type { TenantRecord } from "./records/tenant.js";
import type { UsageRecord } from "./records/usage.js";
import { apply, type CatalogState, type Command, EMPTY_STATE, type Meta, metaOf } from "./state.js";

// ON DISK - never renumber
const RECORD_VERSION = 1;
const STORAGE_RETRY_SECONDS = 5;
/** Key of the counters. All other records have keys of the form "<kind>/<id>". ON DISK. */
const META_KEY = "meta";

export interface CatalogDamage {
  found: string[];
  indexes: number;
}

/** True if any shard has a database. In a new data directory, none does until the catalog exists. */
function hasShards(dataDir: string): boolean {
  const folder = join(dataDir, "shards");
  return existsSync(folder) && readdirSync(folder).some((name) => hasDatabase(join(folder, name)));
}

/** Sends a command to the other copies of the state. Resolves once they have applied it. */
type Follow = (command: Command) => Promise<void>;

const nobody: Follow = async () => undefined;

export class Catalog {
  /**
   * The messages for the damaged records found at startup, and how many of those are index records. Damaged
   * records remain on disk unchanged.
   */
  readonly damage: CatalogDamage;
  readonly #store: Store;
  /** Runs one task at a time: a change, or other work that must block changes. */
  readonly #lane = new Lane();
  #state: CatalogState;
  readonly #watchers: ((state: CatalogState) => void)[] = [];
  #follow: Follow = nobody;

  private constructor(store: Store, state: CatalogState, damage: CatalogDamage) {
    this.#store = store;
    this.#state = state;
    this.damage = damage;
  }

  /**
   * Opens or creates a data directory's catalog. Throws StoreLockedError if another process has it open, and
   * StoreDamagedError if files are damaged. Throws EnvelopeError if a record that all others depend on (the
   * counters, a tenant) is damaged, or if any record has another version.
   */
  static async open(dataDir: string): Promise<Catalog> {
    const location = join(dataDir, "catalog");
    const [damage] = levelDamage(location, true);
    if (damage !== undefined) throw new StoreDamagedError(location, damage);
    // Do not create a new catalog for existing shards: new indexes would get the uids of the old ones, and
    // with them the old documents.
    if (!hasDatabase(location) && hasShards(dataDir)) {
      throw new StoreDamagedError(location, "it is missing, but the shards exist");
    }
    const store = await LevelStore.open(location, {
      cacheBytes: 1024 * 1024,
      writeBufferBytes: 1024 * 1024,
    });
    return Catalog.on(store);
  }

  /** Loads the catalog from an open store and takes ownership of the store. */
  static async on(store: Store): Promise<Catalog> {
    try {
      const damage = { found: [] as string[], indexes: 0 };
      return new Catalog(store, await load(store, damage), damage);
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /** The current state, which is immutable: each change creates a new one. */
  get state(): CatalogState {
    return this.#state;
  }

  /**
   * Runs a change after all earlier ones. `decide` receives the state that its command will apply to; if it
   * throws, nothing changes. Resolves with the new state once that state is on disk.
   */
  change(decide: (state: CatalogState) => Command): Promise<CatalogState> {
    return this.#lane.run(() => this.#run(decide));
  }

  /** Calls the watcher with each new state once that state is on disk. */
  watch(watcher: (state: CatalogState) => void): void {
    this.#watchers.push(watcher);
  }

  /** Passes each command to `follow` once it is on disk. A change completes when `follow` resolves. */
  followBy(follow: Follow): void {
    this.#follow = follow;
  }

  /**
   * Runs `work` after all earlier changes and delays later ones until it ends. `view` opens a snapshot of the
   * stored catalog, which the caller must close.
   */
  frozen<T>(work: (state: CatalogState, view: () => StoreSnapshot) => Promise<T>): Promise<T> {
    return this.#lane.run(() => work(this.#state, () => this.#store.view()));
  }

  /** Waits for running changes, then closes the database. */
  async close(): Promise<void> {
    await this.#lane.idle();
    await this.#store.close();
  }

  async #run(decide: (state: CatalogState) => Command): Promise<CatalogState> {
    const command = decide(this.#state);
    const { state, changes } = apply(this.#state, command);
    try {
      fault("catalog.before-batch");
      await this.#store.batch([...changes.map(storeOp), put(META_KEY, metaOf(state))], { sync: true });
    } catch (cause) {
      if (!(cause instanceof StoreWriteError)) throw cause;
      throw new SkeinError("SK-SYS-503", "the storage refused the change; nothing was changed", {
        retryAfter: STORAGE_RETRY_SECONDS,
        cause,
      });
    }
    fault("catalog.after-batch");
    this.#state = state;
    for (const watcher of this.#watchers) watcher(state);
    await this.#follow(command);
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

/** Reads a record. Returns null if the record is damaged and `vital` is false. */
function read(key: string, vital: boolean, value: Uint8Array, damage: CatalogDamage): unknown {
  try {
    return unpack(unseal(ENVELOPE_CATALOG, RECORD_VERSION, value, `catalog record ${key}`));
  } catch (error) {
    if (error instanceof OtherVersionError || vital) throw error;
    damage.found.push((error as Error).message);
    return null;
  }
}

async function load(store: Store, damage: CatalogDamage): Promise<CatalogState> {
  const everything = { from: new Uint8Array(0), to: new Uint8Array([0xff]) };
  let meta: Meta = metaOf(EMPTY_STATE);
  let found = false;
  let stored = 0;
  const records = new Map(RECORD_KINDS.map((kind) => [kind as string, new Map<number, unknown>()]));
  for await (const [keyBytes, value] of store.entries(everything)) {
    const key = Buffer.from(keyBytes).toString("utf8");
    const [kind, id] = key.split("/") as [string, string | undefined];
    const isMeta = kind === META_KEY;
    const known = records.get(kind);
    if (!isMeta && known === undefined)
      throw new OtherVersionError(`catalog record ${key}: of a kind unknown to this build`);
    const record = read(key, isMeta || KINDS[kind as RecordKind].vital, value, damage);
    if (record === null) {
      if (kind === "index") damage.indexes++;
      continue;
    }
    stored++;
    if (known !== undefined) known.set(Number(id), record);
    else {
      meta = { ...meta, ...(record as Partial<Meta>) };
      found = true;
    }
  }
  if (!found && stored > 0) throw new DamagedBytesError("catalog record meta: missing");
  const all = <T>(kind: RecordKind) => records.get(kind) as Map<number, T>;
  const keys = all<KeyRecord>("key");
  const indexes = new Map(
    Array.from(all<IndexRecord>("index"), ([uid, record]) => [uid, withAllSettings(record)]),
  );
  return {
    ...meta,
    ...lookupsOf({ indexes, keys }),
    tenants: all<TenantRecord>("tenant"),
    keys,
    indexes,
    owned: eachOwned((kind) => byIndex(all<OwnedRecords[OwnedKind]>(kind).values())),
    toDrop: new Set(all("drop").keys()),
    usage: all<UsageRecord>("usage"),
  };
}
