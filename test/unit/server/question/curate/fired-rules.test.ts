// Which sequences of query terms trigger rules and synonyms. Also checks that each rule and synonym group is
// analysed only once, not again whenever another one changes.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NO_FILTER } from "../../../../../engine-wasm/host/programs/filter-program.js";
import type { RankingRule } from "../../../../../server/catalog/records/rule.js";
import type { SynonymGroup } from "../../../../../server/catalog/records/synonym.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { createLogger } from "../../../../../server/ground/log.js";
import { NOTHING_POPULAR } from "../../../../../server/query-log/popularity/popularity.js";
import { type CompiledRule, FiringRules } from "../../../../../server/question/curate/fired-rules.js";
import { Stretches } from "../../../../../server/question/curate/stretches.js";
import { SynonymMap } from "../../../../../server/question/words/synonyms.js";
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

describe("an index's rules", () => {
  test("fire exactly if the query contains all of their entries", () => {
    const terms = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 5 });
    fc.assert(
      fc.property(
        fc.array(fc.array(terms, { maxLength: 2 }), { maxLength: 6 }),
        terms,
        (conditions, query) => {
          const compiled = conditions.map(
            (entries, i): CompiledRule => ({
              entries,
              effect: "keep",
              weight: 0,
              filter: NO_FILTER,
              pins: [BigInt(i)],
            }),
          );
          const text = ` ${query.join(" ")} `;
          const expected = compiled.filter(({ entries }) =>
            entries.every((entry) => entry.length > 0 && text.includes(` ${entry.join(" ")} `)),
          );
          const { rules, pins } = new FiringRules(compiled).firedBy(query);
          expect(pins).toEqual(expected.flatMap((one) => one.pins));
          expect(rules).toHaveLength(expected.length);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe("an index's synonyms", () => {
  test("match wherever the query contains an entry", () => {
    const entry = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 });
    const groups = fc.array(fc.array(entry, { minLength: 2, maxLength: 3 }), { maxLength: 3 });
    fc.assert(
      fc.property(groups, fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 6 }), (all, query) => {
        const texts = all.map((entries) => [...new Set(entries.map((one) => one.join(" ")))]);
        const map = new SynonymMap(
          texts.map((entries, i) => group(i, ...entries)),
          analyser,
        );
        const expected = query.flatMap((_, first) =>
          [3, 2, 1].flatMap((count) => {
            const typed = query.slice(first, first + count).join(" ");
            const others = texts.filter((entries) => entries.includes(typed)).flat();
            const distinct = [...new Set(others)].filter((other) => other !== typed);
            const isCut = first + count > query.length;
            return isCut || distinct.length === 0
              ? []
              : [{ first, count, others: distinct.map((other) => other.split(" ")) }];
          }),
        );
        expect(map.matches(query)).toEqual(expected);
      }),
      { numRuns: 1_000 },
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
    const pins = (q: string): number => index.rules.firedBy(analyser.terms(q)).pins.length;
    expect(["a red shoe", "red blue shoe", "shoe red", "", "blue shoe"].map(pins)).toEqual([2, 2, 1, 1, 2]);
    expect(index.synonyms.matches(["tv"])).toEqual([{ first: 0, count: 1, others: [["television"]] }]);
  });

  test("are derived again only if they have changed", () => {
    const before = indexes.of({ record, rules, synonyms });
    asked.length = 0;
    const ruled = indexes.of({ record, rules: [...rules, rule(4, "green")], synonyms });
    expect(asked).toEqual(["green"]);
    expect(ruled.synonyms).toBe(before.synonyms);
    expect(ruled.rules.compiled.slice(0, 3)).toEqual(before.rules.compiled);
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
