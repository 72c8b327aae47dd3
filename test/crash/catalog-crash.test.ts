// Simulates a power failure at every catalog sync in turn, with the batch being synced lost or kept. After
// reopening, the catalog must contain every acknowledged change, and the change in progress completely or not
// at all. Covers creating, changing, copying, swapping (with and without drop) and deleting indexes, rules
// and synonyms, in the order in which the server makes these changes.
import { describe, expect, test } from "vitest";
import { Catalog } from "../../server/catalog/catalog.js";
import { copyCommand } from "../../server/catalog/copy-swap.js";
import { readChangedSettings, readNewIndex } from "../../server/catalog/indexes.js";
import { nameKey } from "../../server/catalog/lookups.js";
import type { IndexRecord } from "../../server/catalog/records/index-record.js";
import type { RankingRule } from "../../server/catalog/records/rule.js";
import type { SynonymGroup } from "../../server/catalog/records/synonym.js";
import type { CatalogState, Command } from "../../server/catalog/state.js";
import { armFault } from "../../server/ground/fault.js";
import { DEFAULT_LIMITS } from "../../server/ground/limits.js";
import { StoreWriteError } from "../../shards/storage/store.js";
import { SERVERS } from "../unit/server/record.js";
import { CrashDisk, CrashStore } from "./crash-store.js";

const AT = "2030-01-01T00:00:00.000Z";
const TENANT = 1;

type Decide = (state: CatalogState) => Command;

const named = (state: CatalogState, name: string): IndexRecord =>
  state.indexByName.get(nameKey(TENANT, name))!;

const create =
  (name: string): Decide =>
  (state) => {
    const draft = readNewIndex(
      { name, schema: { fields: [{ name: "title", type: "string" }] } },
      DEFAULT_LIMITS,
      SERVERS,
    );
    const ids = { uid: state.nextIndexUid, id: state.nextIndexId };
    return { type: "index.put", record: { ...draft, ...ids, tenant: TENANT, createdAt: AT } };
  };

const change =
  (name: string, settings: object): Decide =>
  (state) => ({
    type: "index.put",
    record: readChangedSettings(named(state, name), settings, DEFAULT_LIMITS, SERVERS),
  });

const rule =
  (index: string, name: string): Decide =>
  (state) => {
    const made: RankingRule = {
      id: state.nextRuleId,
      index: named(state, index).uid,
      name,
      type: "boost",
      conditions: { query_contains: ["red"] },
      effect: { filter_by: "title:red", weight: 2 },
      priority: 0,
      enabled: true,
      created_at: AT,
      updated_at: AT,
    };
    return { type: "record.put", kind: "rule", record: made };
  };

const synonyms =
  (index: string, words: string[]): Decide =>
  (state) => {
    const group: SynonymGroup = {
      id: state.nextSynonymId,
      index: named(state, index).uid,
      type: "multi_way",
      synonyms: words,
      root: null,
      enabled: true,
      created_at: AT,
      updated_at: AT,
    };
    return { type: "record.put", kind: "synonym", record: group };
  };

const swap =
  (a: string, b: string, drop: boolean): Decide =>
  (state) => ({ type: "index.swap", uid: named(state, a).uid, target: named(state, b).uid, drop });

const copy =
  (from: string, to: string): Decide =>
  (state) => {
    const parts = new Set(["synonyms", "ranking_rules", "settings"] as const);
    return copyCommand(state, named(state, from), named(state, to), parts, AT);
  };

const dropped: Decide = (state) => ({ type: "index.dropped", uid: [...state.toDrop][0]! });

const STORY: readonly Decide[] = [
  () => ({ type: "tenant.put", tenant: { id: TENANT, name: "default", plan: "default", createdAt: AT } }),
  create("live"),
  create("next"),
  rule("live", "first"),
  synonyms("live", ["red", "crimson"]),
  change("live", { num_typos: 1 }),
  rule("next", "second"),
  copy("live", "next"),
  swap("live", "next", false),
  change("next", { num_typos: 0 }),
  swap("live", "next", true),
  dropped,
  create("other"),
  copy("live", "other"),
  (state) => ({
    type: "record.delete",
    kind: "rule",
    index: named(state, "live").uid,
    id: state.nextRuleId - 2,
  }),
  (state) => ({ type: "index.delete", uid: named(state, "live").uid }),
  dropped,
];

/** Returns the stored part of a state, everything but `version`, in comparable form. */
function stored({ version: _, ...state }: CatalogState): unknown {
  const plain = (value: unknown): unknown => {
    if (value instanceof Map) return [...value].map(([key, one]) => [key, plain(one)]).sort();
    return value instanceof Set ? [...value].sort() : value;
  };
  return Object.fromEntries(Object.entries(state).map(([name, value]) => [name, plain(value)]));
}

interface Outcome {
  certain: CatalogState;
  /** The expected state if the change in progress survived. */
  possible: CatalogState;
  frozen: boolean;
}

/**
 * Runs the story on a disk that may freeze. `states` are the states after each step of an undisturbed run:
 * such a run fills the array, later runs read it.
 */
async function run(disk: CrashDisk, states: CatalogState[]): Promise<Outcome> {
  const catalog = await Catalog.on(new CrashStore(disk));
  let certain = catalog.state;
  for (const [i, decide] of STORY.entries()) {
    try {
      certain = await catalog.change(decide);
      states[i] ??= certain;
    } catch {
      return { certain, possible: states[i]!, frozen: true };
    }
  }
  return { certain, possible: certain, frozen: false };
}

describe("a catalog that loses power", () => {
  const states: CatalogState[] = [];

  for (const keepsLast of [false, true]) {
    test(`at any sync, with its batch ${keepsLast ? "kept" : "lost"}`, async () => {
      const calm = new CrashDisk();
      expect((await run(calm, states)).frozen).toBe(false);
      expect(calm.syncs).toBe(STORY.length);
      for (let freezeAt = 1; freezeAt <= calm.syncs; freezeAt++) {
        const disk = new CrashDisk();
        disk.freezeAt = freezeAt;
        disk.keepsLast = keepsLast;
        const { certain, possible } = await run(disk, states);
        disk.freezeAt = 0;
        const reopened = await Catalog.on(new CrashStore(disk));
        expect(stored(reopened.state)).toEqual(stored(keepsLast ? possible : certain));
        expect(reopened.damage.found).toEqual([]);
        // The rest of the story runs on the reopened catalog.
        const next = keepsLast ? freezeAt : freezeAt - 1;
        for (const decide of STORY.slice(next)) await reopened.change(decide);
        expect(stored(reopened.state)).toEqual(stored(states.at(-1)!));
      }
    });
  }
});

test("a change refused by the storage has no effect and can be retried", async () => {
  const disk = new CrashDisk();
  const catalog = await Catalog.on(new CrashStore(disk));
  for (const decide of STORY) {
    const before = catalog.state;
    armFault("catalog.before-batch", () => {
      throw new StoreWriteError("full");
    });
    await expect(catalog.change(decide)).rejects.toMatchObject({ code: "SK-SYS-503", retryAfter: 5 });
    armFault("catalog.before-batch", null);
    expect(catalog.state).toBe(before);
    const after = await catalog.change(decide);
    expect(stored((await Catalog.on(new CrashStore(disk))).state)).toEqual(stored(after));
  }
});
