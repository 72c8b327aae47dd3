// Which sequences of query terms trigger rules and synonyms. Also checks that each rule and synonym group is
// analysed only once, not again whenever another one changes.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RankingRule } from "../../../../../server/catalog/records/rule.js";
import type { SynonymGroup } from "../../../../../server/catalog/records/synonym.js";
import { DEFAULT_LIMITS, FIXED_LIMITS } from "../../../../../server/ground/limits.js";
import { createLogger } from "../../../../../server/ground/log.js";
import { NOTHING_POPULAR } from "../../../../../server/query-log/popularity/popularity.js";
import { firedRulesOf } from "../../../../../server/question/curate/fired-rules.js";
import { Stretches } from "../../../../../server/question/curate/stretches.js";
import { QueriedIndexes } from "../../../../../server/search/matching/queried-index.js";
import { analyser, makeRecord } from "../../record.js";

const NOW = "2030-01-01T00:00:00.000Z";

const rule = (id: number, ...query_contains: string[]): RankingRule => ({
  id,
  index: 1,
  name: "",
  type: "pin",
  conditions: { query_contains },
  effect: { documents: [`d${id}`] },
  priority: 0,
  enabled: true,
  created_at: NOW,
  updated_at: NOW,
});

const group = (id: number, ...synonyms: string[]): SynonymGroup => ({
  id,
  index: 1,
  type: "multi_way",
  synonyms,
  root: null,
  enabled: true,
  created_at: NOW,
  updated_at: NOW,
});

describe("stretches of a query", () => {
  test("are found exactly if the terms are adjacent", () => {
    const term = fc.constantFrom("a", "b", "c", "d");
    const long = fc.array(term, { maxLength: 24 });
    fc.assert(
      fc.property(long, fc.array(fc.array(term, { maxLength: 6 }), { maxLength: 8 }), (terms, asked) => {
        const stretches = new Stretches(terms);
        const text = ` ${terms.join(" ")} `;
        for (const some of asked)
          expect(stretches.has(some)).toBe(some.length === 0 || text.includes(` ${some.join(" ")} `));
        for (let first = 0; first < terms.length; first++)
          expect(stretches.has(terms.slice(first, first + 1 + (first % 7)))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe("an index's rules and synonyms", () => {
  const record = makeRecord();
  const asked: string[] = [];
  const counting = {
    ...analyser,
    terms: (text: string) => {
      asked.push(text);
      return analyser.terms(text);
    },
  };
  const indexes = new QueriedIndexes(
    () => counting,
    () => NOTHING_POPULAR,
    DEFAULT_LIMITS,
    createLogger("fatal"),
  );
  const rules = [rule(1, "red shoe"), rule(2, "shoe", "blue"), rule(3)];
  const synonyms = [group(1, "tv", "television"), group(2, "sofa", "couch")];

  test("fire and match", () => {
    const index = indexes.of({ record, rules, synonyms });
    const { queryPinsMax } = FIXED_LIMITS;
    const pins = (q: string): number =>
      firedRulesOf(index.rules, analyser.terms(q), queryPinsMax).pins.length;
    expect(["a red shoe", "red blue shoe", "shoe red", "", "blue shoe"].map(pins)).toEqual([2, 2, 1, 1, 2]);
    expect(index.synonyms.matches(["tv"])).toEqual([{ first: 0, count: 1, others: [["television"]] }]);
  });

  test("are derived again only if they have changed", () => {
    const before = indexes.of({ record, rules, synonyms });
    asked.length = 0;
    const ruled = indexes.of({ record, rules: [...rules, rule(4, "green")], synonyms });
    expect(asked).toEqual(["green"]);
    expect(ruled.synonyms).toBe(before.synonyms);
    expect(ruled.rules.slice(0, 3)).toEqual(before.rules);
    asked.length = 0;
    const more = [...synonyms, group(3, "car", "auto")];
    const next = indexes.of({ record, rules, synonyms: more });
    expect(asked.filter((text) => text !== "")).toEqual(["car", "auto"]);
    expect(next.synonyms.matches(["sofa"])).toEqual(before.synonyms.matches(["sofa"]));
    asked.length = 0;
    const changed = { ...record, settings: { ...record.settings, prefix_search: false } };
    indexes.of({ record: changed, rules, synonyms });
    expect(
      asked.filter((text) => [...rules.flatMap((one) => one.conditions.query_contains), "tv"].includes(text)),
    ).toEqual([]);
  });
});
