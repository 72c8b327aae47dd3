// One- and two-word queries on many rows agree with the naive model, which scores every row. The kernel skips
// most rows, because the upper bounds or lengths in their posting lists show that they cannot score enough.
// Covers lists with and without blocks, terms of a prefix, rows in one list and in several, texts from one
// token to many, small and large bonuses, ties and deleted rows.

import { expect, test } from "vitest";
import * as L from "../../../../engine-wasm/assembly/layout.js";
import { NO_FILTER } from "../../../../engine-wasm/host/programs/filter-program.js";
import {
  EVERY_DOCUMENT,
  encodeSearch,
  type SearchAlternative,
  type SearchProgram,
} from "../../../../engine-wasm/host/programs/search-program.js";
import { effort } from "../../../effort.js";
import { decodeSearchResult } from "../../../oracle/decoded-result.js";
import { filterOf } from "../../../oracle/filter-operations.js";
import { B, K1, PROXIMITY_WEIGHT } from "../../../oracle/score.js";
import type { Document } from "../../../oracle/segments/values.js";
import { loadEngine } from "../load-engine.js";
import { groupsOf, makeCatalogue, type Pick, picker } from "../segments/catalogue.js";
import { searchTwin } from "./search-twin.js";

const ROWS = 5200;
const OTHERS = ["oak", "red", "of", "desk", "chair", "blue", "soft"];

const module = await loadEngine();
const bench = module.workbench();

/** Returns a text that contains "lamp" up to `most` times, and sometimes a rare term that begins with it. */
function text(words: number, most: number, pick: Pick): string {
  const all = Array.from({ length: words }, () => pick(OTHERS));
  for (let i = pick([0, 0, 1, most]); i > 0; i--) all[pick([0, pick([...all.keys()])])] = "lamp";
  if (pick([...Array(30).keys()]) === 0) all[pick([...all.keys()])] = `lamp${pick([...Array(20).keys()])}`;
  return all.join(" ");
}

function document(id: number, uneven: boolean, pick: Pick): Document {
  const members: Omit<Document, "id"> = {
    title: text(pick([1, 2, 3, 5, 8]), 2, pick),
    tags: [text(pick(uneven ? [1, 20, 60] : [6, 7, 8]), pick([3, 1, 300]), pick)],
    brand: pick(["lamp", "oak", "oak lamp", "x"]),
    price: pick([1, 2, 3, 4]),
  };
  return {
    id: `d${id}`,
    ...(uneven ? Object.fromEntries(Object.entries(members).filter(() => pick([1, 1, 1, 0]))) : members),
  };
}

function alternative(
  kind: SearchAlternative["kind"],
  typos: number,
  boost: number,
  term: string,
  prefix = false,
): SearchAlternative {
  return {
    kind,
    typos,
    infixOnly: false,
    exact: kind === L.ALT_EXACT,
    sequence: false,
    useForProximity: true,
    boost,
    terms: [{ term, prefix }],
  };
}

function alternatives(pick: Pick): SearchAlternative[] {
  const exact = alternative(L.ALT_EXACT, 0, pick([1, 2.5]), "lamp");
  const prefix = alternative(L.ALT_PREFIX, 0, pick([0.8, 1, 2]), "lamp", true);
  const typo = alternative(L.ALT_TYPO, 1, pick([0.4, 3]), "oak");
  return pick([[exact], [exact, prefix], [exact, prefix], [prefix], [exact, prefix, typo], [exact, typo]]);
}

/** Alternatives of a second word, which many rows contain. */
function others(pick: Pick): SearchAlternative[] {
  const exact = alternative(L.ALT_EXACT, 0, pick([0.5, 2]), "red");
  return pick([[exact], [exact, alternative(L.ALT_TYPO, 1, pick([0.3, 1]), "oak")]]);
}

function program(pick: Pick): SearchProgram {
  const relevance = { by: "relevance", descending: true } as const;
  const price = { by: "field", descending: pick([true, false]), slot: 3, type: L.TYPE_FLOAT } as const;
  const brand = { group: 0, slot: 2, term: { term: "lamp", prefix: false }, bonus: pick([2 ** 18, 2 ** 24]) };
  return {
    ...EVERY_DOCUMENT,
    mode: pick(["all", "all", "any", "byScore"]),
    k: pick([1, 10, 10, 60]),
    k1: K1,
    b: B,
    proximityWeight: PROXIMITY_WEIGHT,
    averageLength: pick([30, 8]),
    slots: pick([[0, 1, 2], [2, 1, 0], [1], [0, 1]]).map((slot) => ({
      slot,
      weight: pick([1, 3, 0.3]),
      averageLength: pick([2, 20]),
      infix: false,
    })),
    words: pick([[alternatives(pick)], [alternatives(pick)], [alternatives(pick), others(pick)]]).map(
      (all) => ({ weight: pick([1, 0.2]), alternatives: all }),
    ),
    sort: pick([[relevance], [relevance, price]]),
    bonuses: {
      whole: pick([0, 2 ** 24, 2 ** 20]),
      starts: pick([0, 2 ** 20]),
      terms: pick([[], [], [brand]]),
    },
    filter: pick([
      NO_FILTER,
      NO_FILTER,
      filterOf({ op: "floatRange", slot: 3, low: 2, high: 4, lowExclusive: false, highExclusive: false }),
    ]),
  };
}

for (const uneven of [false, true]) {
  test(`skipping rows changes no result, with texts of ${uneven ? "very different" : "similar"} length`, () => {
    const pick = picker(uneven ? 2 : 1);
    const documents = Array.from({ length: ROWS }, (_, i) => document(i, uneven, pick));
    const catalogue = makeCatalogue(module, bench, groupsOf(documents, [4600, 600]), (i) => i % 17 === 3);
    for (let round = 0; round < effort(10, 300); round++) {
      const asked = program(pick);
      const answer = decodeSearchResult(
        catalogue.engine.search(catalogue.snapshot, encodeSearch(asked)),
        asked,
      );
      expect(answer).toEqual(searchTwin(catalogue.rows, asked, (id) => bench.hash(id)));
    }
  });
}

test("a long posting list leads, but a short one decides", () => {
  const pick = picker(3);
  const title = (i: number): string => {
    if (i === 2500) return "lamp lamp lamp oak"; // a single such row raises the upper bound for all rows
    if (i > ROWS - 20) return "lamp oak"; // the newest rows set the threshold
    return i < 4000 && i % 97 === 5 ? "lamp lamp7 oak" : i % 3 === 0 ? "lamp oak red" : "oak";
  };
  const titles = Array.from({ length: ROWS }, (_, i) => title(i));
  const documents = titles.map((title, i): Document => ({ id: `d${i}`, title }));
  const catalogue = makeCatalogue(module, bench, groupsOf(documents, [ROWS - 100]), () => false);
  const exact = alternative(L.ALT_EXACT, 0, 1, "lamp");
  const prefix = alternative(L.ALT_PREFIX, 0, 2, "lamp", true);
  const weaker = alternative(L.ALT_PREFIX, 0, 0.9, "lamp", true); // scores lower than the exact alternative
  for (const words of [[prefix], [exact, prefix], [exact, weaker]]) {
    const asked: SearchProgram = {
      ...program(pick),
      k: 10,
      averageLength: 3,
      slots: [{ slot: 0, weight: 1, averageLength: 3, infix: false }],
      words: [{ weight: 1, alternatives: words }],
      sort: [{ by: "relevance", descending: true }],
      bonuses: { whole: 0, starts: 0, terms: [] },
      filter: NO_FILTER,
    };
    const answer = decodeSearchResult(
      catalogue.engine.search(catalogue.snapshot, encodeSearch(asked)),
      asked,
    );
    expect(answer).toEqual(searchTwin(catalogue.rows, asked, (id) => bench.hash(id)));
  }
});

test("overlong rows are skipped, in queries of one word and of several", () => {
  const pick = picker(4);
  const title = (): string => {
    const words = Array.from({ length: pick([...Array(30).keys()]) }, () => "of");
    if (pick([1, 1, 1, 0])) words.push("lamp");
    if (pick([1, 1, 0])) words.push("red");
    if (pick([...Array(900).keys()]) === 0) words.push("rare");
    if (pick([...Array(50).keys()]) === 0) words.push("lamp7");
    return words.sort(() => pick([1, -1])).join(" ");
  };
  const documents = Array.from({ length: ROWS }, (_, i): Document => {
    const brand = pick(["lamp", "of", "red of of", "of of of of"]);
    return { id: `d${i}`, title: title(), ...(pick([1, 1, 0]) ? { brand } : {}) };
  });
  const catalogue = makeCatalogue(module, bench, groupsOf(documents, [ROWS - 100]), (i) => i % 19 === 3);
  const lamp = [alternative(L.ALT_EXACT, 0, 2, "lamp")];
  const begun = [...lamp, alternative(L.ALT_PREFIX, 0, 1.6, "lamp", true)];
  const red = [alternative(L.ALT_EXACT, 0, 1, "red"), alternative(L.ALT_TYPO, 1, 0.5, "rare")];
  const rare = [alternative(L.ALT_EXACT, 0, 4, "rare")];
  for (const words of [[lamp], [begun], [lamp, red], [begun, red], [red, rare], [begun, red, rare]])
    for (const mode of ["all", "any", "byScore"] as const)
      for (const slots of [[0], [0, 2], [2, 0]]) {
        const asked: SearchProgram = {
          ...program(pick),
          mode,
          k: 10,
          averageLength: pick([15, 40]),
          slots: slots.map((slot) => ({ slot, weight: pick([1, 2]), averageLength: 15, infix: false })),
          words: words.map((alternatives) => ({ weight: 1, alternatives })),
          bonuses: { whole: 0, starts: pick([0, 2 ** 20]), terms: [] },
          filter: NO_FILTER,
        };
        const answer = decodeSearchResult(
          catalogue.engine.search(catalogue.snapshot, encodeSearch(asked)),
          asked,
        );
        expect(answer).toEqual(searchTwin(catalogue.rows, asked, (id) => bench.hash(id)));
      }
});
