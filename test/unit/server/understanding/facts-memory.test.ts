// What is remembered of indexes: facts of one generation, asked for once, within a number of values.
import { expect, it } from "vitest";
import { DEFAULT_LIMITS, type Limits } from "../../../../server/limits.js";
import type { FieldValues } from "../../../../server/understanding/facts.js";
import { type CountValues, FactsMemory } from "../../../../server/understanding/facts-memory.js";
import { makeRecord } from "../record.js";
import { SHOP_FIELDS, SHOP_VALUES, VIEW } from "./shop.js";

const record = (uid: number) => ({ ...makeRecord({}, SHOP_FIELDS), uid });
const viewOf = (generation: number, rebuilding = false) =>
  ({ generation, expansions: rebuilding ? null : {} }) as unknown as Parameters<FactsMemory["of"]>[4];

function world(limits: Partial<Limits> = {}) {
  const memory = new FactsMemory({ ...DEFAULT_LIMITS, ...limits });
  let counted = 0;
  const count: CountValues = (fields, valuesMax) => {
    counted++;
    return Promise.resolve(
      fields.map((field): FieldValues => {
        const values = (SHOP_VALUES[field.name] ?? []).slice(0, valuesMax);
        return { field, values: values.map((value) => ({ value, count: 1 })) };
      }),
    );
  };
  return { memory, count, counted: () => counted };
}

it("facts are counted once for a generation, also when many ask at once", async () => {
  const { memory, count, counted } = world();
  const shop = record(1);
  const asked = Array.from({ length: 5 }, () => memory.of(shop, VIEW, "", 10, viewOf(3), count));
  const known = await Promise.all(asked);
  expect(new Set(known.map(({ facts }) => facts)).size).toBe(1);
  expect(known.every(({ current }) => current)).toBe(true);
  expect(counted()).toBe(1);
  await memory.of(shop, VIEW, "", 10, viewOf(4), count);
  await memory.of({ ...shop }, VIEW, "", 10, viewOf(4), count);
  expect(counted()).toBe(3);
});

it("those of a large index serve for a while, and are known to be older", async () => {
  const { memory, count, counted } = world({ understandingFactsMsMax: 60_000 });
  const shop = record(1);
  expect((await memory.of(shop, VIEW, "", 1_000_000, viewOf(3), count)).current).toBe(true);
  expect((await memory.of(shop, VIEW, "", 1_000_000, viewOf(4), count)).current).toBe(false);
  expect(counted()).toBe(1);
});

it("nothing is kept while an index is rebuilt, or when counting fails", async () => {
  const { memory, count, counted } = world();
  const shop = record(1);
  for (let i = 0; i < 2; i++) await memory.of(shop, VIEW, "", 10, viewOf(3, true), count);
  expect(counted()).toBe(2);
  const failing = () => Promise.reject(new Error("no shard"));
  await expect(memory.of(shop, VIEW, "", 10, viewOf(4), failing)).rejects.toThrow("no shard");
  await memory.of(shop, VIEW, "", 10, viewOf(4), count);
  expect(counted()).toBe(3);
});

it("the index that was not asked for the longest time is forgotten first", async () => {
  const { memory, count, counted } = world({ understandingValuesMax: 40 });
  const [a, b, c] = [record(1), record(2), record(3)];
  for (const shop of [a, b, a, c, a]) await memory.of(shop, VIEW, "", 10, viewOf(1), count);
  expect(counted()).toBe(3);
  await memory.of(b, VIEW, "", 10, viewOf(1), count);
  expect(counted()).toBe(4);
});

it("a facet has so many values and no more", async () => {
  const { memory, count } = world({ understandingFacetValuesMax: 1, understandingFacetsMax: 2 });
  const { facts } = await memory.of(record(1), VIEW, "", 10, viewOf(1), count);
  expect([facts.size, facts.values(["adidas"]).length, facts.values(["hp"]).length]).toEqual([2, 1, 0]);
});
