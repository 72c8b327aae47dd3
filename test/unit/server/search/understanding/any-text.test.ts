// For any text, an interpretation names only fields and values that the index has, and keeps only words that
// were typed. Interpreting the rewritten query again changes nothing.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { operationsIn } from "../../../../../engine-wasm/host/programs/filter-program.js";
import { run, settled } from "../../../../../server/ground/jobs/work.js";
import { DEFAULT_LIMITS, FIXED_LIMITS } from "../../../../../server/ground/limits.js";
import { compileFilter } from "../../../../../server/question/filter/filter-compile.js";
import { type QueryRequest, readQueryRequest } from "../../../../../server/question/request/query-request.js";
import { claimed, readClaim } from "../../../../../server/search/understanding/endpoint-answer.js";
import { Meaning } from "../../../../../server/search/understanding/meaning.js";
import { readText } from "../../../../../server/search/understanding/read.js";
import type { Reading } from "../../../../../server/search/understanding/reading.js";
import { tokensOf } from "../../../../../server/search/understanding/tokens.js";
import { treeOf } from "../../../../oracle/filter-tree.js";
import { queried } from "../../record.js";
import { factsOf, RECORD, SCHEMA, SHOP_FIELDS, SHOP_VALUES } from "./shop.js";

const FACTS = factsOf();
const INDEX = queried(RECORD);
const TOKENS_MAX = FIXED_LIMITS.understandingTokensMax;
const WORDS =
  'under over between and from to 50 20 40 4 1,299.99 55 $ € euro dollars stars inch " + - < >= m cm without ohne sans sin no not ' +
  "cheapest newest best rated günstigste moins cher mejor valorados red rot noir shoes shoe adidas adidsa hp 4k size brand color " +
  'farbe for with in the a show me please shirt belt buckle -strap "blue suede" ohne, or . ; ` 🙂 ' +
  "new balance orange wine running knife sets without, 1/2 tn-2110 16gb under50 50under";

const typed = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(fc.constantFrom(...WORDS.split(" ")), { maxLength: 12 })
      .map((words) => words.join(" ")),
  },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 80 }) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
);

const askable = (text: string): boolean =>
  text.trim() !== "" && text.trim() !== "*" && !/\p{Surrogate}/u.test(text);
const wordsOf = (text: string): string[] =>
  tokensOf(text).flatMap(({ kind, key }) => (kind === "word" ? [key] : []));

/**
 * An index that contradicts no interpretation: every search finds something, except for the words as typed.
 */
function credulous(): Meaning<QueryRequest> {
  return new Meaning<QueryRequest>(
    {
      attempt: (request) => settled(request),
      found: () => settled(9),
      full: () => 9,
      count: ({ q, filter }, phrases) =>
        settled(phrases !== undefined || (q.includes('"') && operationsIn(filter) === 0) ? 0 : 9),
      filter: (filterBy) => compileFilter(filterBy, INDEX, DEFAULT_LIMITS),
    },
    { ...DEFAULT_LIMITS, understandingTrialsMax: 1_000 },
  );
}

function checkReadings(text: string, readings: readonly Reading[]): void {
  const { length } = tokensOf(text);
  for (const { from, to, filter, sort, kind } of readings) {
    expect(0 <= from && from < to && to <= length, `${kind} lies in the text`).toBe(true);
    if (sort !== undefined) expect(SHOP_FIELDS.map(({ name }) => name)).toContain(sort.field?.name);
    if (filter === undefined) continue;
    const node = treeOf(filter);
    expect(operationsIn(compileFilter(filter, INDEX, DEFAULT_LIMITS))).toBeGreaterThan(0);
    if (node.kind !== "clause" || SCHEMA.field(node.field)?.kind !== "string") continue;
    for (const value of node.values)
      expect(SHOP_VALUES[node.field]).toContain(value.kind === "literal" ? value.literal.text : null);
  }
}

describe("any text", () => {
  it("is read only as what the index has", () => {
    fc.assert(
      fc.property(typed, (text) => {
        const read = readText(text, FACTS, TOKENS_MAX);
        if (read === null) return;
        checkReadings(text, [...read.named, ...read.values, ...read.fillers]);
        const places = [...read.named, ...read.fillers].sort((a, b) => a.from - b.from);
        for (const [i, { to }] of places.entries())
          expect(places[i + 1]?.from ?? to).toBeGreaterThanOrEqual(to);
      }),
      { numRuns: 3_000 },
    );
  });

  it("is rewritten with its own words, once", async () => {
    await fc.assert(
      fc.asyncProperty(typed.filter(askable), async (text) => {
        const request = readQueryRequest({ q: text }, INDEX, DEFAULT_LIMITS);
        const context = (await run(credulous().named(request, FACTS)))?.context ?? null;
        if (context === null) return;
        const { rewritten_query: query } = context;
        const known = new Set(wordsOf(text));
        for (const word of wordsOf(query)) expect(known).toContain(word);
        const again = await run(credulous().named({ ...request, q: query }, FACTS));
        expect(again?.context ?? null).toBeNull();
      }),
      { numRuns: 3_000 },
    );
  });
});

it("a model's claim is either refused or true, whatever it is", () => {
  const word = fc.constantFrom(
    ...WORDS.split(" "),
    "price",
    "title",
    "created_at",
    "nothing",
    "Adidas",
    "Red",
    "-9",
    "1e3",
  );
  const claim = fc.record({
    text: typed,
    filters: fc.array(
      fc.record({ field: word, operator: fc.constantFrom("=", "<", "<=", ">", ">="), value: word }),
      { maxLength: 3 },
    ),
    sort: fc.option(fc.record({ field: word, direction: fc.constantFrom("asc", "desc") })),
    avoided: fc.array(word, { maxLength: 2 }),
  });
  fc.assert(
    fc.property(typed, claim, (text, answer) => {
      let read: ReturnType<typeof readClaim>;
      try {
        read = readClaim(answer, DEFAULT_LIMITS);
      } catch (error) {
        expect(error).toMatchObject({ code: "SK-AI-503" });
        return;
      }
      const meant = claimed(text, read, FACTS);
      if (meant === null) return;
      if (meant.filterBy !== null)
        expect(operationsIn(compileFilter(meant.filterBy, INDEX, DEFAULT_LIMITS))).toBeGreaterThan(0);
      const known = new Set(wordsOf(text));
      for (const kept of wordsOf(meant.text)) expect(known).toContain(kept);
    }),
    { numRuns: 3_000 },
  );
});
