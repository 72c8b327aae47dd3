// Compares the server with the oracle on a few thousand documents over a few hundred words, so that posting
// lists have blocks, prefixes have many terms, words can be rare or suspiciously rare, and pages go deep.
// SKEIN_PROPERTY_RUNS sets the number of queries, and SKEIN_PROPERTY_SEED repeats a run.
import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { effort } from "../effort.js";
import { Oracle } from "../oracle/engine.js";
import { type Document, type Field, isText, type Json, type Schema } from "../oracle/segments/values.js";
import type { Change } from "./curation-generators.js";
import { Fleet } from "./fleet.js";
import { NUMBERS, query, type Write } from "./generators.js";
import { SEED } from "./seed.js";

const DOCUMENTS = 2500;
const QUERIES = Number(process.env.SKEIN_PROPERTY_RUNS ?? effort(6, 400));

const SYLLABLES = [
  "ka",
  "ro",
  "mi",
  "tel",
  "son",
  "ber",
  "lin",
  "pra",
  "vo",
  "du",
  "esh",
  "tor",
  "gra",
  "ni",
  "s",
];
const VOCABULARY = Array.from({ length: 700 }, (_, i) => syllables(i * 7 + 3));

function syllables(number: number): string {
  const rest = Math.floor(number / SYLLABLES.length);
  return SYLLABLES[number % SYLLABLES.length]! + (rest === 0 ? "" : syllables(rest));
}

/** A few words occur everywhere; most are rare. */
const word = fc
  .integer({ min: 0, max: 999_999 })
  .map((n) => VOCABULARY[Math.floor(VOCABULARY.length ** (n / 1e6)) - 1]!);

const SCHEMA: Schema = {
  fields: [
    { name: "t", type: "string" },
    { name: "s", type: "string", facet: true, sort: true },
    { name: "i", type: "int32", facet: true },
    { name: "l", type: "int64", facet: true },
    { name: "f", type: "float", facet: true },
    { name: "b", type: "bool", facet: true },
    { name: "ss", type: "string[]", facet: true },
    { name: "ii", type: "int32[]", facet: true },
    { name: "ff", type: "float[]" },
  ],
  default_sorting_field: "i",
};

function value(field: Field): fc.Arbitrary<Json> {
  if (field.name === "t")
    return fc.array(word, { minLength: 1, maxLength: 40, size: "max" }).map((words) => words.join(" "));
  if (field.name === "s")
    return fc.array(word, { minLength: 1, maxLength: 2 }).map((words) => words.join(" "));
  if (isText(field)) return fc.array(word, { maxLength: 5 });
  if (field.name === "i") return fc.integer({ min: -500, max: 500 });
  return NUMBERS[field.type as keyof typeof NUMBERS];
}

const SETTINGS = { language: "en", sku_fields: ["s"], brand_field: "ss" };

/** Rules that affect many documents, to test which rows are skipped. */
const CHANGES: Change[] = [
  { kind: "rule", action: "create", body: { type: "boost", effect: { filter_by: "i:>100", weight: 5 } } },
  { kind: "rule", action: "create", body: { type: "bury", effect: { filter_by: "b:true" } } },
  {
    kind: "rule",
    action: "create",
    body: {
      type: "boost",
      conditions: { query_contains: [VOCABULARY[0]!] },
      effect: { filter_by: "ii:1", documents: ["d5", "d6"], weight: 40 },
    },
  },
  {
    kind: "rule",
    action: "create",
    body: {
      type: "pin",
      effect: { documents: ["d9", "d1", "d2000"] },
      conditions: { query_contains: [VOCABULARY[1]!] },
    },
  },
  {
    kind: "synonyms",
    action: "create",
    body: { synonyms: [VOCABULARY[0]!, `${VOCABULARY[2]} ${VOCABULARY[1]}`, VOCABULARY[3]!] },
  },
  { kind: "synonyms", action: "create", body: { type: "one_way", synonyms: VOCABULARY.slice(10, 30) } },
];

const document: fc.Arbitrary<Document> = fc
  .tuple(fc.nat(DOCUMENTS), ...SCHEMA.fields.map((field) => fc.option(value(field), { freq: 10 })))
  .map(([id, ...values]) => {
    const members = SCHEMA.fields.map((field, i): [string, Json] => [field.name, values[i] ?? null]);
    return { id: `d${id}`, ...Object.fromEntries(members) };
  });

describe("a few thousand documents", () => {
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await Fleet.forDocuments(DOCUMENTS);
  });

  afterAll(() => fleet.close());

  test(`are searched as by the oracle (seed ${SEED})`, async () => {
    const documents = fc.sample(document, { numRuns: DOCUMENTS, seed: SEED });
    const queries = fc.sample(query(SCHEMA, word), { numRuns: QUERIES, seed: SEED });
    // An index of this size would train its own model; semantic.test.ts covers vectors.
    const index = await fleet.createIndex(SCHEMA, { embedder: { source: "none" } });
    const oracle = new Oracle(SCHEMA);
    const cuts = [0, 900, 901, 1000, 1500, DOCUMENTS];
    const writes = cuts
      .slice(1)
      .map(
        (end, i): Write => ({ kind: "batch", action: "upsert", documents: documents.slice(cuts[i], end) }),
      );
    writes.push({ kind: "deleteWhere", filter: "i:[-20..20]" });
    writes.push({
      kind: "batch",
      action: "update",
      documents: documents.slice(0, 200).map(({ id }, i) => ({ id, f: i, s: VOCABULARY[i]! })),
    });
    for (const write of writes) await fleet.applyWrite(index, oracle, write);
    await fleet.compareQueries(index, oracle, queries);
    await fleet.settled(index);
    await fleet.compareQueries(index, oracle, queries.slice(0, 30));
    for (const change of CHANGES) await fleet.applyChange(index, oracle, change);
    await fleet.compareQueries(index, oracle, queries.slice(0, 60));
    await fleet.applyChange(index, oracle, { kind: "settings", settings: SETTINGS });
    await fleet.compareQueries(index, oracle, queries);
    const deep = [60, 61, 62].map((page) => ({ q: VOCABULARY[0]!, per_page: 20, page }));
    await fleet.compareQueries(index, oracle, deep);
  });
});
