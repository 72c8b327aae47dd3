// Searches with an index's own model: the model, the vectors and therefore every answer are the same for 1,
// 2, 3 and 8 shards, and the model does not depend on the order in which the documents arrived.
// SKEIN_PROPERTY_SEED repeats a run.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Random } from "../../bench/random.js";
import { effort } from "../effort.js";
import { Oracle } from "../oracle/engine.js";
import type { Query } from "../oracle/query.js";
import type { Document, Schema } from "../oracle/segments/values.js";
import { Fleet } from "./fleet.js";
import { SEED } from "./seed.js";

const RUNS = Number(process.env.SKEIN_PROPERTY_RUNS ?? effort(1, 60));
const timeout = effort(300_000, 86_400_000);

const SCHEMA: Schema = {
  fields: [
    { name: "title", type: "string" },
    { name: "text", type: "string" },
    { name: "kind", type: "string", facet: true },
    { name: "n", type: "int32" },
  ],
  default_sorting_field: "n",
};
const THEMES = 5;
const WORDS_A_THEME = 12;
const BATCH = 17;
const DOCUMENTS_MAX = 120;
/**
 * A prime larger than any document count, so that its multiples modulo the count visit all documents in a
 * different order.
 */
const PRIME = 7919;

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.forDocuments(DOCUMENTS_MAX);
});

afterAll(() => fleet.close());

const wordOf = (theme: number, i: number): string => `${"bdfgk"[theme]}a${"lmnprstvxzcj"[i]}o${"uei"[i % 3]}`;

/**
 * Each document is mostly about one of a few themes. `n` differs in every document, so that the order is
 * fully determined.
 */
function documentsOf(seed: number, count: number): Document[] {
  const random = new Random(seed);
  const words = (theme: number, many: number): string =>
    Array.from({ length: many }, () => {
      const strays = random.below(8) === 0;
      return wordOf(strays ? random.below(THEMES) : theme, random.below(WORDS_A_THEME));
    }).join(" ");
  return Array.from({ length: count }, (_, n) => {
    const theme = random.below(THEMES);
    return { id: `d${n}`, title: words(theme, 3), text: words(theme, 6), kind: `k${theme}`, n };
  });
}

function queriesOf(seed: number): Query[] {
  const random = new Random(seed + 1);
  return Array.from({ length: 24 }, (): Query => {
    const theme = random.below(THEMES);
    const one = (): string => wordOf(theme, random.below(WORDS_A_THEME));
    return {
      q: random.below(2) === 0 ? one() : `${one()} ${one()}`,
      search_mode: random.pick(["semantic", "hybrid", "auto"]),
      facet_by: "kind",
      per_page: random.pick([3, 10, 50]),
      page: random.from(1, 2),
      ...(random.below(3) === 0 ? { filter_by: `n:<${random.from(5, 80)}` } : {}),
      ...(random.below(5) === 0 ? { sort_by: "n:asc" } : {}),
    };
  });
}

/** Creates an index and adds the documents in the given order. */
async function indexOf(documents: Document[], batch: number): Promise<string> {
  const oracle = new Oracle(SCHEMA);
  const index = await fleet.createIndex(SCHEMA, { embedder: { source: "none" } });
  for (let at = 0; at < documents.length; at += batch) {
    const some = documents.slice(at, at + batch);
    await fleet.applyWrite(index, oracle, { kind: "batch", action: "upsert", documents: some });
  }
  // Enabled only at this point, so that all servers train the model on the same documents.
  await fleet.applyChange(index, oracle, {
    kind: "settings",
    settings: { embedder: { source: "documents" } },
  });
  await fleet.embedded(index);
  return index;
}

describe("an index's own model", () => {
  test("gives the same answers for any number of shards and any document order", {
    timeout,
  }, async () => {
    const stories = fc.record({
      seed: fc.nat(1_000_000),
      count: fc.integer({ min: 40, max: DOCUMENTS_MAX }),
    });
    const property = fc.asyncProperty(stories, async ({ seed, count }) => {
      const documents = documentsOf(seed, count);
      const queries = queriesOf(seed);
      const index = await indexOf(documents, BATCH);
      const answers = await fleet.compareServers(index, queries);
      expect(new Set(answers.map(({ mode }) => mode))).toContain("semantic");
      expect(new Set(answers.flatMap(({ hits }) => hits.map((hit) => hit.match_type)))).toContain("semantic");
      const shuffled = documents.map((_, i) => documents[(i * PRIME + 13) % count]!);
      const other = await indexOf(shuffled, BATCH + 4);
      await fleet.compareServers(other, queries);
      for (const id of ["d0", "d7", "d23"]) {
        const [here, there] = [await fleet.similar(index, id), await fleet.similar(other, id)];
        expect(new Map(there)).toEqual(new Map(here));
      }
      await fleet.killAndRestart();
      expect(await fleet.compareServers(index, queries)).toEqual(answers);
      await fleet.dropIndex(index);
      await fleet.dropIndex(other);
    });
    await fc.assert(property, { numRuns: RUNS, seed: SEED });
  });
});
