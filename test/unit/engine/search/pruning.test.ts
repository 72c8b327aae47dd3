// Ranking that skips rows agrees with the naive model, which scores every row: many rows with equal scores,
// few distinct lengths, words in every tier, positional and term bonuses, pages smaller and larger than the
// tiers, several segments with deleted rows, every mode and order.

import fc from "fast-check";
import { expect, test } from "vitest";
import * as L from "../../../../engine-wasm/assembly/layout.js";
import { NO_FILTER } from "../../../../engine-wasm/host/programs/filter-program.js";
import type { Neighbours } from "../../../../engine-wasm/host/programs/neighbours.js";
import {
  EVERY_DOCUMENT,
  encodeSearch,
  type SearchAlternative,
  type SearchProgram,
  type SearchWord,
  type SortKey,
} from "../../../../engine-wasm/host/programs/search-program.js";
import { effort } from "../../../effort.js";
import { decodeSearchResult } from "../../../oracle/decoded-result.js";
import { filterOf } from "../../../oracle/filter-operations.js";
import { B, K1, PROXIMITY_WEIGHT } from "../../../oracle/score.js";
import type { Document } from "../../../oracle/segments/values.js";
import { loadEngine } from "../load-engine.js";
import { type Catalogue, groupsOf, makeCatalogue, type Pick, picker } from "../segments/catalogue.js";
import { searchTwin } from "./search-twin.js";

const TERMS = ["lamp", "lamps", "lump", "oak", "oaks", "red"];
const NAMES = [
  "lamp",
  "oak lamp",
  "lamp oak",
  "red oak lamp",
  "lamp lamp",
  "lumps of oak",
  "red",
  "oaks red lamps",
];
const RELEVANCE: SortKey = { by: "relevance", descending: true };
const PRICE: SortKey = { by: "field", descending: false, slot: 3, type: L.TYPE_FLOAT };

const module = await loadEngine();
const bench = module.workbench();

function document(id: number, pick: Pick): Document {
  return {
    id: `d${id}`,
    title: pick(NAMES),
    tags: [pick(["", "red", "oak", "lamp and oak"])],
    brand: pick(["oak", "lamp oak", "x"]),
    price: pick([1, 2, 3, 4]),
  };
}

function alternative(pick: Pick): SearchAlternative {
  const kind = pick([L.ALT_EXACT, L.ALT_EXACT, L.ALT_STEM, L.ALT_PREFIX, L.ALT_TYPO, L.ALT_INFIX] as const);
  const prefix = kind === L.ALT_PREFIX;
  const term = pick(TERMS);
  return {
    kind,
    typos: kind === L.ALT_TYPO || kind === L.ALT_INFIX ? pick([1, 2]) : 0,
    infixOnly: kind === L.ALT_INFIX,
    exact: kind === L.ALT_EXACT,
    sequence: false,
    useForProximity: kind !== L.ALT_STEM,
    boost: pick([2, 1, 0.5]),
    terms: [{ term: prefix ? term.slice(0, pick([1, 2, 3])) : term, prefix }],
  };
}

function word(pick: Pick): SearchWord {
  return {
    weight: pick([2, 1]),
    alternatives: Array.from({ length: pick([1, 2, 3]) }, () => alternative(pick)),
  };
}

function bonuses(pick: Pick): SearchProgram["bonuses"] {
  const line = pick([2 ** 52, 2 ** 21, 2 ** 23]);
  const named = [
    { group: 0, slot: 2, term: { term: "oak", prefix: false }, bonus: line },
    { group: 1, slot: 0, term: { term: "red", prefix: false }, bonus: 2 ** 20 },
  ];
  return { whole: pick([0, 2 ** 22]), starts: pick([0, 2 ** 20]), terms: pick([[], [], named]) };
}

function program(pick: Pick): SearchProgram {
  const orders = [[RELEVANCE], [RELEVANCE, PRICE], [PRICE, RELEVANCE], [{ ...RELEVANCE, descending: false }]];
  return {
    ...EVERY_DOCUMENT,
    mode: pick(["all", "any"]),
    k: pick([1, 2, 10, 40, 1000]),
    k1: K1,
    b: B,
    proximityWeight: PROXIMITY_WEIGHT,
    slots: pick([[0], [0, 2], [2, 1, 0]]).map((slot) => ({
      slot,
      weight: pick([1, 3]),
      averageLength: 2,
      infix: pick([true, false]),
    })),
    words: Array.from({ length: pick([1, 1, 2, 3]) }, () => word(pick)),
    excludes: pick([[], [], [["of"]]]),
    filter: pick([
      NO_FILTER,
      filterOf({ op: "floatRange", slot: 3, low: 2, high: 4, lowExclusive: false, highExclusive: false }),
    ]),
    sort: pick([orders[0]!, ...orders]),
    bonuses: bonuses(pick),
  };
}

/**
 * Makes up to `some` rows neighbours. Depending on their points, they change the order only among rows with
 * the same words, or among all rows; the largest points make bonuses irrelevant.
 */
function neighbours({ rows }: Catalogue, some: number, pick: Pick): Neighbours {
  const most = pick([2 ** -10, 1, 2 ** 10, 2 ** 19, 2 ** 22, 1e30]);
  const seqs = new Set(Array.from({ length: Math.min(some, rows.length) }, () => pick(rows).seq));
  return {
    place: pick(["added", "added", "first"]),
    rows: [...seqs]
      .sort((a, b) => a - b)
      .map((seq) => ({
        seq,
        points: most * pick([0, 1, 1, 0.5, 0.3]),
        matches: pick([true, false]),
      })),
  };
}

function check(catalogue: Catalogue, searched: SearchProgram): void {
  const answer = catalogue.engine.search(catalogue.snapshot, encodeSearch(searched));
  const twin = searchTwin(catalogue.rows, searched, (id) => bench.hash(id));
  expect(decodeSearchResult(answer, searched)).toEqual(twin);
}

function catalogue(count: number, cuts: number[], pick: Pick): Catalogue {
  const documents = Array.from({ length: count }, (_, i) => document(i, pick));
  const dead = pick([1_000_000, 3, 7]);
  return makeCatalogue(module, bench, groupsOf(documents, cuts), (i) => i % dead === 1);
}

test("no row that belongs to the best is skipped", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 0, maxLength: 3 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 600 }), sizes, fc.integer(), (count, cuts, seed) => {
      const pick = picker(seed);
      const made = catalogue(count, cuts, pick);
      const near = picker(seed + 1);
      for (let i = 0; i < 12; i++) {
        const one = program(pick);
        check(made, one);
        check(made, { ...one, neighbours: neighbours(made, near([1, 5, 40, 600]), near) });
      }
    }),
    { numRuns: effort(10, 400) },
  );
});

test("queries of many words, even more than a row has bits for", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.integer(), (count, seed) => {
      const pick = picker(seed);
      const made = catalogue(count, [100], pick);
      const near = picker(seed + 1);
      for (const length of [6, 20, 70]) {
        const words = Array.from({ length }, () => ({ ...word(pick), weight: pick([2, 1, 0.3, 0.1]) }));
        const one = { ...program(pick), words };
        check(made, one);
        check(made, { ...one, neighbours: neighbours(made, near([1, 5, 40]), near) });
      }
    }),
    { numRuns: effort(5, 200) },
  );
});

test("rows that have few of many words", () => {
  const pick = picker(7);
  const terms = Array.from({ length: 30 }, (_, i) => `word${i}`);
  const text = (length: number): string => Array.from({ length }, () => pick(terms)).join(" ");
  const documents = Array.from({ length: 9000 }, (_, i) => ({
    ...document(i, pick),
    title: text(pick([2, 4, 9])),
    brand: pick(["", text(1), text(2)]),
  }));
  const made = makeCatalogue(module, bench, groupsOf(documents, [6000]), (i) => i % 5 === 1);
  for (let i = 0; i < effort(6, 40); i++) {
    const words = Array.from({ length: pick([2, 5, 9, 15]) }, (): SearchWord => {
      const boost = pick([6, 3, 1, 0.2]);
      const one = {
        ...alternative(pick),
        infixOnly: false,
        boost,
        terms: [{ term: pick(terms), prefix: false }],
      };
      return { weight: boost, alternatives: [one] };
    });
    check(made, { ...program(pick), mode: pick(["any", "byScore"]), k: pick([1, 10]), words });
  }
});

test("rows in several ranges", () => {
  const pick = picker(5);
  const made = catalogue(34_000, [33_500], pick);
  const near = picker(6);
  for (let i = 0; i < effort(4, 8); i++) {
    const one = program(pick);
    check(made, one);
    check(made, { ...one, neighbours: neighbours(made, 400, near) });
  }
});

test("rows that can get a term bonus, but none for proximity, are not looked up by position", () => {
  const pick = picker(3);
  const mistyped: SearchAlternative = {
    kind: L.ALT_TYPO,
    typos: 1,
    exact: false,
    sequence: false,
    useForProximity: true,
    boost: 1,
    terms: [{ term: "lamp", prefix: false }],
  };
  check(catalogue(200, [150], pick), {
    ...program(pick),
    mode: "all",
    k: 10,
    words: [{ weight: 1, alternatives: [mistyped] }],
    excludes: [],
    filter: NO_FILTER,
    sort: [RELEVANCE],
    bonuses: {
      whole: 2 ** 22,
      starts: 0,
      terms: [{ group: 0, slot: 2, term: { term: "oak", prefix: false }, bonus: 2 ** 20 }],
    },
  });
});
