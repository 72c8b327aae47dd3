// The cache of facts about an index: they are valid for one generation and fetched only once, and the number
// of values is limited.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { IndexRecord } from "../../../../../server/catalog/records/index-record.js";
import { run, settled } from "../../../../../server/ground/jobs/work.js";
import { DEFAULT_LIMITS, type Limits } from "../../../../../server/ground/limits.js";
import { CacheMeter } from "../../../../../server/ground/metrics/recorder.js";
import { ExpansionCache } from "../../../../../server/question/words/expansion-cache.js";
import { WordMemories } from "../../../../../server/question/words/word-memory.js";
import type { FieldValues } from "../../../../../server/search/understanding/facts.js";
import {
  FACTS_MS,
  FactsMemory,
  type FactsQuestion,
} from "../../../../../server/search/understanding/facts-memory.js";
import { makeRecord } from "../../record.js";
import { SCHEMA, SHOP_FIELDS, SHOP_VALUES } from "./shop.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

const record = (uid: number) => ({ ...makeRecord({}, SHOP_FIELDS), uid });

interface Standing {
  readonly generation: number;
  readonly expansions: ExpansionCache | null;
}

const resolvedSchemaOf = (generation: number, rebuilding = false): Standing => ({
  generation,
  expansions: rebuilding ? null : new ExpansionCache(new CacheMeter(), new WordMemories()),
});

type Question = FactsQuestion<Standing>;

const LARGE = { documents: 1_000_000 };

function world(limits: Partial<Limits> = {}, valuesMax?: number) {
  const memory = new FactsMemory({ ...DEFAULT_LIMITS, ...limits }, valuesMax);
  const counted: number[] = [];
  const count: Question["count"] = ({ generation }, fields, valuesMax) => {
    counted.push(generation);
    return settled(
      Promise.resolve(
        fields.map((field): FieldValues => {
          const values = (SHOP_VALUES[field.name] ?? []).slice(0, valuesMax);
          return { field, values: values.map((value) => ({ value, count: 1 })) };
        }),
      ),
    );
  };
  /** Asks about an index of ten documents, unless `rest` says otherwise. */
  const of = (shop: IndexRecord, snapshot: Standing, rest: Partial<Question> = {}) =>
    run(
      memory.of({
        record: shop,
        schema: SCHEMA,
        within: "",
        documents: 10,
        snapshot,
        count,
        behind: () => Promise.reject(new Error("not asked for")),
        ...rest,
      }),
    );
  return { of, counted };
}

it("facts are counted once per generation, also for concurrent queries", async () => {
  const { of, counted } = world();
  const shop = record(1);
  const asked = Array.from({ length: 5 }, () => of(shop, resolvedSchemaOf(3)));
  const known = await Promise.all(asked);
  expect(new Set(known.map(({ facts }) => facts)).size).toBe(1);
  expect(known.every(({ current }) => current)).toBe(true);
  expect(counted).toHaveLength(1);
  await of(shop, resolvedSchemaOf(4));
  await of({ ...shop }, resolvedSchemaOf(4));
  expect(counted).toHaveLength(3);
});

it("facts of a large index are reused for a while, and marked as older", async () => {
  const { of, counted } = world();
  const shop = record(1);
  expect((await of(shop, resolvedSchemaOf(3), LARGE)).current).toBe(true);
  expect((await of(shop, resolvedSchemaOf(4), LARGE)).current).toBe(false);
  expect(counted).toHaveLength(1);
});

it("older facts of a large index are recounted in the background, and used until that is done", async () => {
  const { of, counted } = world();
  const shop = record(1);
  const { facts } = await of(shop, resolvedSchemaOf(3), LARGE);
  vi.setSystemTime(Date.now() + FACTS_MS);
  let begin = (): void => undefined;
  const may = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const renewals: Promise<void>[] = [];
  const behind: Question["behind"] = (work) => {
    const renewal = may.then(() => work(resolvedSchemaOf(5)));
    renewals.push(renewal);
    return renewal;
  };
  for (const generation of [4, 5])
    expect(await of(shop, resolvedSchemaOf(generation), { ...LARGE, behind })).toEqual({
      facts,
      current: false,
    });
  expect(counted).toEqual([3]);
  begin();
  await Promise.all(renewals);
  const renewed = await of(shop, resolvedSchemaOf(5), LARGE);
  expect([renewed.current, renewed.facts === facts, renewals.length]).toEqual([true, false, 1]);
  expect(counted).toEqual([3, 5]);
});

it("if background counting keeps failing, a query finally waits for it and gets the error", async () => {
  const { of } = world();
  const shop = record(1);
  await of(shop, resolvedSchemaOf(3), LARGE);
  const count = () => settled(Promise.reject<never>(new Error("no shard")));
  for (let tries = 0; tries < 2; tries++) {
    vi.setSystemTime(Date.now() + FACTS_MS);
    let tried = 0;
    const behind: Question["behind"] = (work) => {
      tried++;
      return work(resolvedSchemaOf(4));
    };
    expect((await of(shop, resolvedSchemaOf(4), { ...LARGE, count, behind })).current).toBe(false);
    expect(tried).toBe(1);
    await new Promise((resolve) => setImmediate(resolve)); // lets the failure arrive
  }
  vi.setSystemTime(Date.now() + 60_000);
  await expect(of(shop, resolvedSchemaOf(4), { ...LARGE, count })).rejects.toThrow("no shard");
});

it("nothing is kept while an index is rebuilt, or if counting fails", async () => {
  const { of, counted } = world();
  const shop = record(1);
  for (let i = 0; i < 2; i++) await of(shop, resolvedSchemaOf(3, true));
  expect(counted).toHaveLength(2);
  const failing = () => settled(Promise.reject<never>(new Error("no shard")));
  await expect(of(shop, resolvedSchemaOf(4), { count: failing })).rejects.toThrow("no shard");
  await of(shop, resolvedSchemaOf(4));
  expect(counted).toHaveLength(3);
});

it("the least recently used index is forgotten first", async () => {
  const { of, counted } = world({}, 40);
  const [a, b, c] = [record(1), record(2), record(3)];
  for (const shop of [a, b, a, c, a]) await of(shop, resolvedSchemaOf(1));
  expect(counted).toHaveLength(3);
  await of(b, resolvedSchemaOf(1));
  expect(counted).toHaveLength(4);
});

it("the number of facets and of values per facet is limited", async () => {
  const { of } = world({ understandingFacetValuesMax: 1, understandingFacetsMax: 2 });
  const { facts } = await of(record(1), resolvedSchemaOf(1));
  expect([facts.size, facts.values(["adidas"]).length, facts.values(["hp"]).length]).toEqual([2, 1, 0]);
});
