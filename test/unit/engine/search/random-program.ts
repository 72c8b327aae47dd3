// Random search programs over the catalogue's fields: every kind of word, filter, order, facet and rule.

import * as L from "../../../../engine-wasm/assembly/layout.js";
import type { Workbench } from "../../../../engine-wasm/host/instance/workbench.js";
import { type FilterProgram, NO_FILTER } from "../../../../engine-wasm/host/programs/filter-program.js";
import type { Neighbours } from "../../../../engine-wasm/host/programs/neighbours.js";
import {
  ALL_ROWS,
  EVERY_DOCUMENT,
  type SearchProgram,
  type SearchWord,
  type SortKey,
} from "../../../../engine-wasm/host/programs/search-program.js";
import { type FilterOp, filterOf } from "../../../oracle/filter-operations.js";
import { B, K1, PROXIMITY_WEIGHT } from "../../../oracle/score.js";
import { FIELDS, LARGE, type Pick, PRICES, TEXT_SLOTS, WORDS } from "../segments/catalogue.js";

function fold(bench: Workbench, text: string): string {
  return Buffer.from(bench.fold(text)).toString();
}

export function randomWord(bench: Workbench, pick: Pick): SearchWord {
  const kinds = [L.ALT_EXACT, L.ALT_PREFIX, L.ALT_TYPO, L.ALT_SYNONYM, L.ALT_INFIX] as const;
  const alternatives = kinds.slice(0, pick([1, 1, 2, 3, 4, 5])).map((kind) => ({
    kind,
    typos: kind === L.ALT_TYPO || kind === L.ALT_INFIX ? pick([1, 2]) : 0,
    exact: kind === L.ALT_EXACT || kind === L.ALT_SYNONYM,
    infixOnly: kind === L.ALT_INFIX,
    sequence: kind !== L.ALT_PREFIX && kind !== L.ALT_INFIX && pick([true, false, false]),
    useForProximity: pick([true, true, false]),
    boost: pick([0.25, 1, 2.75, 0.1]),
    terms: Array.from({ length: pick([1, 1, 2, 3]) }, () => {
      const prefix = kind === L.ALT_PREFIX && pick([true, false]);
      const term = fold(bench, pick(WORDS));
      return { term: prefix ? [...term].slice(0, pick([1, 2])).join("") : term, prefix };
    }),
  }));
  return { weight: pick([0.5, 1.75, 3.1]), alternatives };
}

function randomLeaf(bench: Workbench, pick: Pick): FilterOp {
  const numbers = [-2147483649n, -1n, 0n, 1n, 7n, 2147483648n, ...LARGE];
  switch (pick(["all", "int", "int", "float", "equals", "equals", "tokens", "tokens", "ids"])) {
    case "int":
      return { op: "intRange", slot: pick([4, 5, 6, 7, 99]), low: pick(numbers), high: pick(numbers) };
    case "float": {
      const bounds = [...PRICES, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      const ends = { lowExclusive: pick([true, false]), highExclusive: pick([true, false]) };
      return { op: "floatRange", slot: pick([3, 8]), low: pick(bounds), high: pick(bounds), ...ends };
    }
    case "equals":
      return {
        op: "equals",
        slot: pick(TEXT_SLOTS),
        folded: bench.fold(pick(["acme", "Ärger", "red", "shoe red", "", "日本", "zeta", ...WORDS])),
      };
    case "tokens": {
      const terms = Array.from({ length: pick([1, 2, 2, 3]) }, () => fold(bench, pick(WORDS)));
      return {
        op: "tokens",
        slot: pick(TEXT_SLOTS),
        terms: bench.analyse(terms.join(" ")).map(({ term }) => term),
      };
    }
    case "ids":
      return {
        op: "ids",
        hashes: Array.from({ length: pick([0, 1, 5]) }, () => bench.hash(`d${pick([1, 2, 3, 4, 5, 17])}`)),
      };
    default:
      return { op: "all" };
  }
}

export function randomFilter(bench: Workbench, pick: Pick, depth: number): FilterProgram {
  return filterOf(...randomOperations(bench, pick, depth));
}

function randomOperations(bench: Workbench, pick: Pick, depth: number): FilterOp[] {
  if (depth === 0) return [randomLeaf(bench, pick)];
  const kind = pick(["leaf", "leaf", "not", "and", "or"]);
  if (kind === "leaf") return [randomLeaf(bench, pick)];
  if (kind === "not") return [...randomOperations(bench, pick, depth - 1), { op: "not" }];
  return [
    ...randomOperations(bench, pick, depth - 1),
    ...randomOperations(bench, pick, depth - 1),
    { op: kind as "and" | "or" },
  ];
}

function randomSort(pick: Pick): SortKey[] {
  return Array.from({ length: pick([0, 1, 1, 2, 3]) }, (): SortKey => {
    const descending = pick([true, false]);
    const by = pick(["relevance", "relevance", "class", "class", "seq", "field", "field", "field"] as const);
    if (by !== "field") return { by, descending };
    const slot = pick([2, 3, 4, 5, 6]);
    return { by, descending, slot, type: FIELDS[slot]!.code };
  });
}

export function randomProgram(bench: Workbench, pick: Pick): SearchProgram {
  const slots = TEXT_SLOTS.filter(() => pick([true, true, false]));
  return {
    ...EVERY_DOCUMENT,
    mode: pick(["all", "all", "any", "byScore"]),
    k: pick([0, 1, 3, 10, ALL_ROWS]),
    averageLength: pick([0, 3.5, 9.25]),
    k1: K1,
    b: B,
    proximityWeight: PROXIMITY_WEIGHT,
    slots: slots.map((slot) => ({
      slot,
      weight: pick([1, 2.5, 0.3]),
      averageLength: pick([0, 2.5, 4.75]),
      infix: pick([true, false]),
    })),
    words: Array.from({ length: pick([0, 1, 1, 2, 3]) }, () => randomWord(bench, pick)),
    phrases: pick([true, false, false, false])
      ? [bench.analyse(`${pick(WORDS)} ${pick(WORDS)}`).map(({ term }) => term)]
      : [],
    excludes: pick([true, false, false])
      ? [[fold(bench, pick(WORDS))], bench.analyse(`${pick(WORDS)} ${pick(WORDS)}`).map(({ term }) => term)]
      : [],
    filter: pick([true, false]) ? randomFilter(bench, pick, 3) : NO_FILTER,
    sort: randomSort(pick),
    facets: Array.from({ length: pick([0, 1, 2]) }, () => {
      const slot = pick([1, 2, 3, 4, 5, 6, 7, 8]);
      return { slot, type: FIELDS[slot]!.code, limit: pick([0, 0, 1, 3, 100]) };
    }),
    ...(pick([true, false]) ? randomRanking(bench, pick) : {}),
  };
}

/** Returns bonuses, rules and pins for a program; most programs have only some of them. */
function randomRanking(bench: Workbench, pick: Pick): Partial<SearchProgram> {
  const sizes = [0, 0, 1, 2, 6];
  const bonus = (): number => pick([0, 1, 5, 2 ** 23, 2 ** 45, 2 ** 47]);
  return {
    bonuses: {
      whole: bonus(),
      starts: bonus(),
      terms: Array.from({ length: pick(sizes) }, (_, i) => {
        const term = fold(bench, pick(WORDS));
        const prefix = pick([false, false, true]);
        return {
          group: pick([0, 3, 7]),
          slot: pick([...TEXT_SLOTS, 99]),
          term: prefix ? { term: [...term][0]!, prefix } : { term, prefix },
          bonus: i === 0 ? pick([bonus(), 2 ** 52]) : bonus(),
        };
      }),
    },
    rules: Array.from({ length: pick(sizes) }, () => ({
      effect: pick(["hide", "bury", "keep", "boost", "boost"] as const),
      weight: pick([0, 1, 2.5, 10, 1e12]),
      filter: pick([true, true, true, false]) ? randomFilter(bench, pick, 1) : NO_FILTER,
    })),
    pins: [
      ...new Set(Array.from({ length: pick(sizes) }, () => bench.hash(`d${pick([1, 2, 3, 4, 5, 17, 900])}`))),
    ],
  };
}

/**
 * Returns neighbours: some of a catalogue's first rows, and some sequence numbers that do not exist. Points
 * are small or large, many of them equal.
 */
export function randomNeighbours(pick: Pick): Neighbours {
  const share = pick([[true], [true, false], [true, false, false, false, false], [false]]);
  const all = [1000, 1001, ...Array.from({ length: 179 }, (_, i) => 1007 + 7 * i)];
  const seqs = [0, ...all, 2 ** 53 - 1].filter(() => pick(share));
  return {
    place: pick(["added", "added", "first"]),
    rows: seqs.map((seq) => ({
      seq,
      points: pick([0, 1e-31, 0.5, 0.5, 1.25, 2 ** -24, 3, 100, 2 ** 21, 1e30]),
      matches: pick([true, true, false]),
    })),
  };
}
