// Ranking rules and synonym groups in the catalog: the guarantees that caches rely on, what swapping and
// copying do to them, and the stored form. Also waiting until an index is no longer in use.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pack } from "msgpackr/pack";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Catalog } from "../../../../server/catalog/catalog.js";
import { copyCommand } from "../../../../server/catalog/copy-swap.js";
import { DEFAULT_SETTINGS } from "../../../../server/catalog/definition/settings.js";
import { rulesOf, synonymsOf } from "../../../../server/catalog/index-contents.js";
import { nameKey } from "../../../../server/catalog/lookups.js";
import type { RankingRule } from "../../../../server/catalog/records/rule.js";
import type { SynonymGroup } from "../../../../server/catalog/records/synonym.js";
import { apply, type CatalogState, type Command, EMPTY_STATE } from "../../../../server/catalog/state.js";
import { Uses } from "../../../../server/ground/uses.js";
import { ENVELOPE_CATALOG, seal } from "../../../../shards/storage/envelope.js";
import { LevelStore } from "../../../../shards/storage/level-store.js";
import { makeRecord } from "../record.js";

const NOW = "2030-01-01T00:00:00.000Z";

function rule(id: number, index: number): RankingRule {
  return {
    id,
    index,
    name: `rule ${id}`,
    type: "pin",
    conditions: { query_contains: ["a"] },
    effect: { documents: ["x", "y"] },
    priority: 0,
    enabled: true,
    created_at: NOW,
    updated_at: NOW,
  };
}

function group(id: number, index: number): SynonymGroup {
  return {
    id,
    index,
    type: "one_way",
    synonyms: ["tv", "set"],
    root: "tv",
    enabled: true,
    created_at: NOW,
    updated_at: NOW,
  };
}

const index = (uid: number, name: string): Command => ({
  type: "index.put",
  record: { ...makeRecord(), uid, id: uid, name },
});
const putRule = (id: number, uid: number): Command => ({
  type: "record.put",
  kind: "rule",
  record: rule(id, uid),
});
const putGroup = (id: number, uid: number): Command => ({
  type: "record.put",
  kind: "synonym",
  record: group(id, uid),
});

const SETUP = [
  index(1, "a"),
  index(2, "b"),
  putRule(1, 1),
  putRule(2, 2),
  putRule(3, 1),
  putGroup(1, 1),
  putGroup(2, 2),
];

function run(state: CatalogState, ...commands: Command[]): CatalogState {
  return commands.reduce((before, command) => apply(before, command).state, state);
}

describe("an index's lists", () => {
  const state = run(EMPTY_STATE, ...SETUP);

  test("contain its records by id", () => {
    expect(rulesOf(state, 1).map(({ id }) => id)).toEqual([1, 3]);
    expect(rulesOf(run(state, putRule(1, 1)), 1).map(({ id }) => id)).toEqual([1, 3]);
    expect(synonymsOf(state, 2)).toEqual([group(2, 2)]);
    expect(rulesOf(state, 9)).toEqual([]);
    expect([state.nextRuleId, state.nextSynonymId]).toEqual([4, 3]);
  });

  test("stay the same array until one of their records changes", () => {
    const other = run(state, putRule(4, 2), putGroup(3, 2), index(1, "a"), {
      type: "index.swap",
      uid: 1,
      target: 2,
      drop: false,
    });
    expect(rulesOf(other, 1)).toBe(rulesOf(state, 1));
    expect(synonymsOf(other, 1)).toBe(synonymsOf(state, 1));
    expect(rulesOf(other, 2)).not.toBe(rulesOf(state, 2));
    expect(rulesOf(state, 8)).toBe(rulesOf(state, 9));
    const without = run(state, { type: "record.delete", kind: "rule", index: 1, id: 1 });
    expect(rulesOf(without, 1).map(({ id }) => id)).toEqual([3]);
    expect(synonymsOf(without, 1)).toBe(synonymsOf(state, 1));
  });

  test("are deleted with their index", () => {
    const { state: after, changes } = apply(state, { type: "index.delete", uid: 1 });
    expect([rulesOf(after, 1), synonymsOf(after, 1)]).toEqual([[], []]);
    expect(rulesOf(after, 2)).toBe(rulesOf(state, 2));
    const deleted = changes.filter(({ record }) => record === null).map(({ kind, id }) => `${kind}/${id}`);
    expect(deleted.sort()).toEqual(["index/1", "rule/1", "rule/3", "synonym/1"]);
  });
});

describe("swap", () => {
  const state = run(EMPTY_STATE, ...SETUP);
  const named = (after: CatalogState, name: string) => after.indexByName.get(nameKey(1, name))?.uid;

  test("exchanges the names and nothing else", () => {
    const swap: Command = { type: "index.swap", uid: 1, target: 2, drop: false };
    const { state: after, changes } = apply(state, swap);
    expect([named(after, "a"), named(after, "b")]).toEqual([2, 1]);
    expect(changes).toHaveLength(2);
    const back = run(after, { ...swap, uid: 2, target: 1 });
    expect({ ...back, version: 0 }).toEqual({ ...state, version: 0 });
  });

  test("with drop gives the first name to the target and deletes its previous index", () => {
    const after = run(state, { type: "index.swap", uid: 1, target: 2, drop: true });
    expect([named(after, "a"), named(after, "b")]).toEqual([2, undefined]);
    expect([...after.toDrop]).toEqual([1]);
    expect([rulesOf(after, 1), synonymsOf(after, 1)]).toEqual([[], []]);
    expect(rulesOf(after, 2)).toBe(rulesOf(state, 2));
  });
});

describe("copy", () => {
  const state = run(EMPTY_STATE, ...SETUP);
  const [a, b] = [state.indexes.get(1)!, state.indexes.get(2)!];

  test("replaces each part under new ids and leaves the source unchanged", () => {
    const command = copyCommand(state, a, b, new Set(["ranking_rules"]), "2031-01-01T00:00:00.000Z");
    const after = run(state, command);
    expect(rulesOf(after, 2).map(({ id, name, created_at }) => [id, name, created_at.slice(0, 4)])).toEqual([
      [4, "rule 1", "2031"],
      [5, "rule 3", "2031"],
    ]);
    expect(rulesOf(after, 1)).toBe(rulesOf(state, 1));
    expect(synonymsOf(after, 2)).toBe(synonymsOf(state, 2));
    expect([after.nextRuleId, after.nextSynonymId]).toEqual([6, 3]);
  });

  test("creates a new schema version if the settings change the analysis", () => {
    const source = { ...a, settings: { ...DEFAULT_SETTINGS, symbols_to_index: ["+"] } };
    const copied = copyCommand(state, source, b, new Set(["settings"]), NOW).record;
    expect([copied.schemaVersion, copied.name, copied.settings]).toEqual([
      b.schemaVersion + 1,
      "b",
      source.settings,
    ]);
    expect(copyCommand(state, a, b, new Set(["settings"]), NOW).record.schemaVersion).toBe(b.schemaVersion);
  });

  test("names every field missing from the target", () => {
    const settings = { ...DEFAULT_SETTINGS, searchable_attributes: ["title", "brand"], sku_fields: ["sku"] };
    const target = { ...b, fields: b.fields.filter(({ name }) => name !== "brand") };
    expect(() => copyCommand(state, { ...a, settings }, target, new Set(["settings"]), NOW)).toThrow(
      'name fields that "b" does not have: "brand", "sku"',
    );
  });
});

describe("curation on disk", () => {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "skein-catalog-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  test("is the same after a restart, in the order of the ids", async () => {
    const catalog = await Catalog.open(directory);
    for (const command of SETUP) await catalog.change(() => command);
    await catalog.change(() => putRule(10, 1));
    await catalog.change(() => ({ type: "record.delete", kind: "synonym", index: 2, id: 2 }));
    await catalog.change(({ indexes }) => ({
      type: "index.copy",
      record: indexes.get(2)!,
      owned: { rule: [rule(11, 2)] },
    }));
    await catalog.change(() => ({ type: "index.swap", uid: 1, target: 2, drop: false }));
    const before = catalog.state;
    await catalog.close();
    const reopened = await Catalog.open(directory);
    expect(reopened.state).toEqual(before);
    expect(rulesOf(reopened.state, 1).map(({ id }) => id)).toEqual([1, 3, 10]);
    await reopened.close();
  });

  test("starts numbering at 1 in a catalog older than rules and synonyms", async () => {
    const { nextRuleId: _rule, nextSynonymId: _synonym, ...old } = { ...EMPTY_STATE, shards: 2 };
    const meta = Object.fromEntries(Object.entries(old).filter(([, value]) => !(value instanceof Object)));
    const store = await LevelStore.open(join(directory, "catalog"));
    await store.batch(
      [{ type: "put", key: Buffer.from("meta"), value: seal(ENVELOPE_CATALOG, 1, pack(meta)) }],
      { sync: true },
    );
    const catalog = await Catalog.on(store);
    const { shards, nextRuleId, nextSynonymId } = catalog.state;
    expect([shards, nextRuleId, nextSynonymId]).toEqual([2, 1, 1]);
    await catalog.close();
  });
});

describe("running uses", () => {
  test("are waited for until the last one has ended", async () => {
    const uses = new Uses();
    const [first, second] = [uses.begin(1), uses.begin(1)];
    let ended = false;
    const waiting = uses.ended(1, 60_000).then(() => {
      ended = true;
    });
    first();
    first();
    await uses.ended(2, 60_000);
    expect(ended).toBe(false);
    second();
    await waiting;
    await uses.ended(1, 60_000);
  });

  test("are not waited for beyond the limit", async () => {
    const uses = new Uses();
    uses.begin(1);
    await uses.ended(1, 5);
  });

  test("are not waited for after an abort, whether before or during the wait", async () => {
    const uses = new Uses();
    uses.begin(1);
    const stop = new AbortController();
    const waiting = uses.ended(1, 60_000, stop.signal);
    stop.abort();
    await waiting;
    await uses.ended(1, 60_000, stop.signal);
  });
});
