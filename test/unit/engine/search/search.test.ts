// The search kernel agrees with the naive model over several segments with deleted rows: matching, filters,
// bit-identical text match, order, paging and facets.

import fc from "fast-check";
import { expect, test } from "vitest";
import * as L from "../../../../engine-wasm/assembly/layout.js";
import { NO_FILTER } from "../../../../engine-wasm/host/programs/filter-program.js";
import {
  ALL_ROWS,
  EVERY_DOCUMENT,
  encodeSearch,
  type SearchAlternative,
  type SearchProgram,
  type SortKey,
} from "../../../../engine-wasm/host/programs/search-program.js";
import {
  hasWord,
  isMatched,
  isNeighbour,
  isPinned,
  readingOfSearchResult,
} from "../../../../engine-wasm/host/programs/search-result.js";
import { finished } from "../../../../engine-wasm/host/runtime/steps.js";
import { effort } from "../../../effort.js";
import { type DecodedSearchResult, decodeSearchResult } from "../../../oracle/decoded-result.js";
import { loadEngine } from "../load-engine.js";
import {
  type Catalogue,
  groupsOf,
  makeCatalogue,
  type Pick,
  picker,
  randomDocument,
  WORDS,
} from "../segments/catalogue.js";
import { randomFilter, randomNeighbours, randomProgram, randomWord } from "./random-program.js";
import { searchTwin } from "./search-twin.js";

const module = await loadEngine();
const bench = module.workbench();

/** What the server reads of an answer, without decoding it. */
function readInPlace(answer: Uint8Array, program: SearchProgram): object {
  const { rows, facets, ...others } = finished(readingOfSearchResult(answer, program));
  const numbers = Array.from({ length: rows.length }, (_, row) => row);
  for (const row of numbers.slice(1)) expect(rows.compare(row - 1, rows, row)).toBeLessThan(0);
  return {
    ...others,
    rows: numbers.map((row) => ({
      seq: rows.seq(row),
      textMatch: rows.textMatch(row),
      bonus: rows.bonus(row),
      matched: isMatched(rows.flags(row)),
      neighbour: isNeighbour(rows.flags(row)),
      hasWord: hasWord(rows.flags(row)),
      pinned: isPinned(rows.flags(row)),
    })),
    facets: facets.map((facet) =>
      Array.from({ length: facet.length }, (_, i) => ({ value: facet.valueAt(i), count: facet.countAt(i) })),
    ),
    facetBounds: facets.map(({ bound }) => bound),
  };
}

function withoutKeys({ rows, ...others }: DecodedSearchResult): object {
  return { ...others, rows: rows.map(({ keys: _, ...row }) => row) };
}

function run(catalogue: Catalogue, program: SearchProgram): DecodedSearchResult {
  const answer = catalogue.engine.search(catalogue.snapshot, encodeSearch(program));
  const decoded = decodeSearchResult(answer, program);
  expect(readInPlace(answer, program)).toEqual(withoutKeys(decoded));
  return decoded;
}

function check(catalogue: Catalogue, program: SearchProgram): void {
  expect(run(catalogue, program)).toEqual(searchTwin(catalogue.rows, program, (id) => bench.hash(id)));
}

test("random programs on random catalogues", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 70 }), { minLength: 0, maxLength: 3 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 150 }), sizes, fc.integer(), (count, cuts, seed) => {
      const pick = picker(seed);
      const documents = Array.from({ length: count }, (_, i) => randomDocument(i, pick));
      const deadShare = pick([0, 0, 3, 10]);
      const dead = new Set(
        documents.flatMap((_, i) => (deadShare > 0 && pick([...Array(deadShare).keys()]) === 0 ? [i] : [])),
      );
      const catalogue = makeCatalogue(module, bench, groupsOf(documents, cuts), (i) => dead.has(i));
      const near = picker(seed + 1);
      for (let i = 0; i < 12; i++) {
        const program = randomProgram(bench, pick);
        check(catalogue, program);
        check(catalogue, { ...program, neighbours: randomNeighbours(near) });
      }
    }),
    { numRuns: effort(15, 600), examples: [[7, [], 15]] },
  );
});

/**
 * Returns a document for catalogues of thousands of rows, which have packed blocks, several windows, and more
 * lists than fit into windows.
 */
function largeDocument(id: number, pick: Pick): ReturnType<typeof randomDocument> {
  const rare = Array.from({ length: pick([0, 0, 3]) }, () => `w${pick([...Array(700).keys()])}`);
  return { ...randomDocument(id, pick), title: [`${pick(WORDS)} ${pick(WORDS)}`, ...rare].join(" ") };
}

test("long lists and wide prefixes", () => {
  const pick = picker(42);
  const documents = Array.from({ length: 6000 }, (_, i) => largeDocument(i, pick));
  const isDead = (i: number): boolean => i % 97 === 5;
  const catalogue = makeCatalogue(module, bench, groupsOf(documents, [4500, 1]), isDead);
  const wide: SearchAlternative = {
    kind: L.ALT_PREFIX,
    typos: 0,
    exact: false,
    sequence: false,
    useForProximity: true,
    boost: 1.5,
    terms: [{ term: "w", prefix: true }],
  };
  for (let i = 0; i < effort(4, 10); i++) {
    const program = {
      ...randomProgram(bench, pick),
      filter: i % 2 === 0 ? NO_FILTER : randomFilter(bench, pick, 2),
    };
    check(catalogue, { ...program, mode: "any", words: [randomWord(bench, pick), randomWord(bench, pick)] });
    check(catalogue, { ...program, words: [{ weight: 2, alternatives: [wide] }, randomWord(bench, pick)] });
  }
});

test("pages of any size add up to the whole list", () => {
  const pick = picker(7);
  const documents = Array.from({ length: 300 }, (_, i) => randomDocument(i, pick));
  const catalogue = makeCatalogue(module, bench, groupsOf(documents, [100, 150]), (i) => i % 9 === 0);
  for (const sort of [
    [],
    [{ by: "field", descending: false, slot: 2, type: L.TYPE_STRING }],
  ] as SortKey[][]) {
    const { facets } = randomProgram(bench, pick);
    const program = { ...EVERY_DOCUMENT, facets, sort };
    const all = run(catalogue, { ...program, k: ALL_ROWS }).rows;
    expect(all.length).toBe(catalogue.rows.length);
    for (const k of [1, 2, 50, 199, 266, 267, 1000])
      expect(run(catalogue, { ...program, k }).rows).toEqual(all.slice(0, k));
  }
});

test("an empty snapshot returns an empty result", () => {
  const engine = module.engine();
  const program = { ...randomProgram(bench, picker(1)), k: 10 };
  const answer = engine.search(engine.setSnapshot([]), encodeSearch(program));
  expect(decodeSearchResult(answer, program)).toEqual({
    found: 0,
    pinnedOnly: 0,
    rows: [],
    facets: program.facets.map(() => []),
    facetBounds: program.facets.map(() => 0),
    applied: program.rules.map(() => false),
    pinsApplied: false,
  });
});
