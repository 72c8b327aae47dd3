// A glance at a query's words, compared with its readings: it passes every query that has any, whatever the
// index contains and in each language.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ResolvedField } from "../../../../../server/catalog/schema/resolved-schema.js";
import { FIXED_LIMITS } from "../../../../../server/ground/limits.js";
import { editsWithin } from "../../../../../server/question/words/typos/edits-within.js";
import { IndexFacts, lettersOf, namesOfFields } from "../../../../../server/search/understanding/facts.js";
import { mayHaveFillers, mayHaveValues, mayName } from "../../../../../server/search/understanding/glance.js";
import { LANGUAGES } from "../../../../../server/search/understanding/languages/all.js";
import * as cues from "../../../../../server/search/understanding/languages/cues.js";
import { phraseAt } from "../../../../../server/search/understanding/languages/language.js";
import { readText } from "../../../../../server/search/understanding/read.js";
import { keysOf, tokensOf } from "../../../../../server/search/understanding/tokens.js";
import { AMOUNT_WORDS } from "../../../../../server/search/understanding/units.js";
import { RECORD, SCHEMA, SHOP_VALUES } from "./shop.js";

const TOKENS_MAX = FIXED_LIMITS.understandingTokensMax;
const NAMES = namesOfFields(RECORD, SCHEMA);

/** Every phrase of every language, as keys. */
const PHRASES = LANGUAGES.flatMap(({ fillers, without, sorts, before, between, after, about, to }) =>
  [fillers, without, sorts, before, between, after, about, to].flatMap((table) =>
    [...table.values()].flat().map(({ keys }) => keys.join(" ")),
  ),
);
const WORDS = LANGUAGES.flatMap(({ articles, connectives, goesWith, names, colours, and }) =>
  [articles, connectives, goesWith, names, colours, and].flatMap((words) => [...words.keys()]),
);
const phrase = fc.oneof(
  fc.constantFrom(...PHRASES),
  fc.constantFrom(...WORDS, ...AMOUNT_WORDS),
  fc.constantFrom(
    ...'shoe shoes wine adidas 5 50 4k 55inch size42 \ufdfa \u0635\u0644\u0649 -a "b" , É'.split(" "),
  ),
);
const query = fc.array(phrase, { maxLength: 6 }).map((all) => all.join(" "));
const value = fc.oneof(
  fc.constantFrom(...Object.values(SHOP_VALUES).flat()),
  fc.array(phrase, { minLength: 1, maxLength: 3 }).map((all) => all.join(" ")),
);
const catalogue = fc
  .record(
    Object.fromEntries(Object.keys(SHOP_VALUES).map((name) => [name, fc.array(value, { maxLength: 6 })])),
  )
  .map((values) => {
    const counted = Object.entries(values).map(([name, texts]) => ({
      field: SCHEMA.field(name) as ResolvedField,
      values: texts.map((text) => ({ value: text, count: 1 })),
    }));
    return new IndexFacts(RECORD, SCHEMA, counted);
  });

describe("a glance", () => {
  it("passes every query that has readings", () => {
    fc.assert(
      fc.property(query, catalogue, (text, facts) => {
        const read = readText(text, facts, TOKENS_MAX);
        if (read === null) return;
        const { tokens, named, fillers, values } = read;
        if (tokens.length > 1 && !mayName(tokens, NAMES)) expect(named).toEqual([]);
        if (!mayHaveFillers(tokens)) expect(fillers).toEqual([]);
        if (!mayHaveValues(tokens, facts))
          expect(values.filter(({ corrected }) => corrected === undefined)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it("knows every key with which a value can begin", () => {
    fc.assert(
      fc.property(value, catalogue, (text, facts) => {
        const keys = keysOf(text);
        for (let count = 1; count <= keys.length; count++)
          if (facts.values(keys.slice(0, count)).length > 0) expect(facts.beginsValue(keys[0]!)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it("at a misspelt word's letters passes every value that it may stand for", () => {
    const word = fc.string({ unit: fc.constantFrom(..."abcüß𐐨𐐩"), maxLength: 7 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        const differing = (lettersOf(a) ^ lettersOf(b)) >>> 0;
        const bits = differing.toString(2).replaceAll("0", "").length;
        for (const edits of [1, 2]) if (editsWithin(a, b, edits)) expect(bits).toBeLessThanOrEqual(2 * edits);
      }),
      { numRuns: 3_000 },
    );
  });

  it("is enough for most queries", () => {
    const glance = (text: string): boolean => mayName(tokensOf(text), NAMES);
    const plain = ["red shoes", "adidas", "50", "laptop bag", "🙂 🙃", "iphone 12 case", "fit for fun 3"];
    expect(plain.filter(glance)).toEqual([]);
    const named = ["shoes under 50", "belt without buckle", "cheapest shoes", "brand adidas", "tv 55 inch"];
    expect(named.filter(glance)).toEqual(named);
  });
});

it("a word's cues are what the languages' tables say of it", () => {
  const any = (says: (language: (typeof LANGUAGES)[number]) => boolean): boolean => LANGUAGES.some(says);
  for (const key of new Set([
    ...WORDS,
    ...AMOUNT_WORDS,
    ...PHRASES.flatMap((one) => one.split(" ")),
    "shoe",
  ])) {
    const alone = (place: number): string | undefined => (place === 0 ? key : undefined);
    const expected: [number, boolean][] = [
      [cues.ARTICLE, any(({ articles }) => articles.has(key))],
      [cues.CONNECTIVE, any(({ connectives }) => connectives.has(key))],
      [cues.GOES_WITH, any(({ goesWith }) => goesWith.has(key))],
      [cues.FIELD_NAME, any(({ names }) => names.has(key))],
      [cues.COLOUR, any(({ colours }) => colours.has(key))],
      [cues.NEGATION, any(({ without }) => phraseAt(without, 0, alone) !== null)],
      [cues.AND, any(({ and }) => and.has(key))],
      [cues.FILLER, any(({ fillers }) => fillers.has(key))],
      [cues.WITHOUT, any(({ without }) => without.has(key))],
      [cues.SORT, any(({ sorts }) => sorts.has(key))],
      [cues.BOUND, any(({ before, between }) => before.has(key) || between.has(key))],
      [cues.UNIT, AMOUNT_WORDS.includes(key)],
    ];
    const sum = expected.reduce((all, [cue, has]) => (has ? all | cue : all), 0);
    expect([key, cues.cuesOf(key)]).toEqual([key, sum]);
  }
});
