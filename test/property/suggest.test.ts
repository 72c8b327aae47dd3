// Compares suggestions with the oracle's brute force, with 1, 2, 3 and 8 shards: random catalogues whose
// values share words, prefixes and spellings, and inputs of a few letters. SKEIN_PROPERTY_RUNS and
// SKEIN_PROPERTY_SEED work as in search.test.ts.
import fc from "fast-check";
import { afterAll, beforeAll, test } from "vitest";
import { effort } from "../effort.js";
import { Oracle } from "../oracle/engine.js";
import type { Document, Schema } from "../oracle/segments/values.js";
import type { SuggestInput } from "../oracle/suggest.js";
import { Fleet } from "./fleet.js";
import { SEED } from "./seed.js";

const RUNS = Number(process.env.SKEIN_PROPERTY_RUNS ?? effort(4, 200));
const timeout = process.env.SKEIN_PROPERTY_RUNS === undefined ? 300_000 : 86_400_000;

const SCHEMA: Schema = {
  fields: [
    { name: "title", type: "string" },
    { name: "brand", type: "string", facet: true },
    { name: "tags", type: "string[]", facet: true },
    { name: "views", type: "int32" },
  ],
  default_sorting_field: "views",
};
const SETTINGS = { num_typos: 0 };
const DOCUMENTS_MAX = 60;

/** No word is a compound of two others, so each text can be read in only one way. */
const WORDS = ["red", "Redish", "RÉD", "robust", "blue", "Bluet", "bird", "green", "gréy", "ß", "x1", "3"];
const word = fc.constantFrom(...WORDS);
const value = fc
  .tuple(fc.array(word, { minLength: 1, maxLength: 3 }), fc.constantFrom(" ", ", ", " & "))
  .map(([words, glue]) => words.join(glue));
const text = fc.oneof({ weight: 12, arbitrary: value }, { weight: 1, arbitrary: fc.constantFrom("", "!") });

const documents = fc
  .uniqueArray(fc.integer({ min: 0, max: 5_000 }), { minLength: 1, maxLength: DOCUMENTS_MAX })
  .chain((views) =>
    fc.tuple(
      ...views.map((count, i) =>
        fc
          .record({ title: text, brand: text, tags: fc.array(text, { maxLength: 3 }) }, { requiredKeys: [] })
          .map((members): Document => ({ ...members, id: `d${i}`, views: count })),
      ),
    ),
  );

const input: fc.Arbitrary<SuggestInput> = fc.record(
  {
    q: fc
      .tuple(fc.array(word, { maxLength: 1 }), word, fc.integer({ min: 1, max: 4 }))
      .map(([before, last, letters]) => [...before, last.slice(0, letters)].join(" ")),
    suggest_by: fc.constantFrom("title", "brand", "tags", "title,tags", "tags,brand,title"),
    per_page: fc.integer({ min: 1, max: 12 }),
    group_by_field: fc.constantFrom("brand", "tags"),
  },
  { requiredKeys: ["q", "suggest_by", "per_page"] },
);

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.forDocuments(DOCUMENTS_MAX);
});

afterAll(() => fleet.close());

test("the server suggests like the oracle", { timeout }, async () => {
  const inputs = fc.array(input, { minLength: 10, maxLength: 30 });
  const property = fc.asyncProperty(documents, inputs, async (catalogue, typed) => {
    const index = await fleet.createIndex(SCHEMA, SETTINGS);
    const oracle = new Oracle(SCHEMA, SETTINGS);
    const half = Math.ceil(catalogue.length / 2);
    for (const part of [catalogue, catalogue.slice(0, half).reverse()])
      await fleet.applyWrite(index, oracle, { kind: "batch", action: "upsert", documents: part });
    await fleet.compareSuggestions(index, oracle, typed);
    await fleet.dropIndex(index);
  });
  await fc.assert(property, { numRuns: RUNS, seed: SEED });
});
