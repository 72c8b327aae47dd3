// Micro benchmarks that compare each kernel, called through the host, with a naive JavaScript implementation
// of the same work. Both return a number. The two numbers must agree, so that neither side can win with a
// wrong answer.

import { ALT_EXACT, TYPE_STRING } from "../../engine-wasm/assembly/layout.js";
import { PLAIN_ANALYSIS } from "../../engine-wasm/host/instance/workbench.js";
import { type ExpandProgram, encodeExpand } from "../../engine-wasm/host/programs/expand-program.js";
import { decodeExpandResult } from "../../engine-wasm/host/programs/expand-result.js";
import { FilterWriter } from "../../engine-wasm/host/programs/filter-program.js";
import {
  EVERY_DOCUMENT,
  encodeSearch,
  type SearchProgram,
  type SearchWord,
} from "../../engine-wasm/host/programs/search-program.js";
import { type DecodedSearchResult, decodeSearchResult } from "../../test/oracle/decoded-result.js";
import {
  FIELDS,
  type Fixture,
  naivePostings,
  SLOT_BRAND,
  SLOT_DESCRIPTION,
  SLOT_PRICE,
  SLOT_RATING_COUNT,
} from "./fixture.js";
import { naiveDistance, naiveTokens } from "./naive-text.js";

export interface Pair {
  readonly name: string;
  readonly kernel: () => number;
  readonly naive: () => number;
}

const TEXTS = 200;
const BUILT = 1000;
const TOP = 10;
const K1 = 1.2;
const B = 0.4;

export function microPairs(fixture: Fixture): Pair[] {
  const common = fixture.frequent[0]!;
  const middle = fixture.frequent[50]!;
  return [
    tokenising(fixture),
    building(fixture),
    typos(fixture, 1),
    typos(fixture, 2),
    wordFilter(fixture, common),
    rangeFilter(fixture),
    facets(fixture),
    ranked(fixture, [middle], "one word"),
    ranked(fixture, [common, middle], "two words, any"),
    sorted(fixture),
  ];
}

function tokenising({ workbench, documents }: Fixture): Pair {
  const texts = documents.slice(0, TEXTS).map((document) => document.description);
  const bytes = texts.map((text) => Buffer.from(text));
  return {
    name: `tokenise ${TEXTS} descriptions`,
    kernel: () => bytes.reduce((sum, text) => sum + workbench.analyse(text).length, 0),
    naive: () => texts.reduce((sum, text) => sum + naiveTokens(text).length, 0),
  };
}

function building({ workbench, raw }: Fixture): Pair {
  const documents = raw.slice(0, BUILT);
  return {
    name: `index ${BUILT} documents`,
    kernel: () =>
      BUILT - workbench.build({ fields: [...FIELDS], analysis: PLAIN_ANALYSIS }, documents).failures.length,
    naive: () => {
      const parsed = documents.map(
        (document) =>
          JSON.parse(Buffer.from(document.raw).toString("utf8")) as { title: string; description: string },
      );
      const lengths = new Uint32Array(BUILT);
      naivePostings(
        parsed.map((document) => document.title),
        lengths,
      );
      naivePostings(
        parsed.map((document) => document.description),
        lengths,
      );
      return parsed.length;
    },
  };
}

function typos({ engine, snapshot, postings, frequent }: Fixture, maxTypos: number): Pair {
  const term = frequent.find((word) => word.length >= 9) ?? frequent[0]!;
  const misspelt = `${term.slice(0, 4)}${term.slice(5)}`;
  const word = { term: misspelt, exact: false, prefix: false, typoPrefix: false, maxTypos };
  const program: ExpandProgram = { slots: [SLOT_DESCRIPTION], words: [word] };
  const bytes = encodeExpand(program);
  const terms = [...postings.keys()];
  return {
    name: `terms within ${maxTypos} typo${maxTypos > 1 ? "s" : ""}, of ${terms.length}`,
    kernel: () => decodeExpandResult(engine.expand(snapshot, bytes), program).words[0]!.typos!.length,
    naive: () =>
      terms.filter((candidate) => {
        if (candidate === misspelt || Math.abs(candidate.length - misspelt.length) > maxTypos) return false;
        return naiveDistance(candidate, misspelt) <= maxTypos;
      }).length,
  };
}

function wordFilter(fixture: Fixture, term: string): Pair {
  const list = fixture.postings.get(term)!;
  const filter = new FilterWriter();
  filter.tokens(SLOT_DESCRIPTION, [term]);
  const run = searcher(fixture, { filter: filter.finish() });
  return {
    name: `documents with a frequent word (${list.length})`,
    kernel: () => run().found,
    naive: () => {
      const bits = new Uint8Array(fixture.documents.length);
      for (const { row } of list) bits[row] = 1;
      return bits.reduce((sum, bit) => sum + bit, 0);
    },
  };
}

function rangeFilter(fixture: Fixture): Pair {
  const filter = new FilterWriter();
  filter.floatRange(SLOT_PRICE, 10, 100);
  const run = searcher(fixture, { filter: filter.finish() });
  const prices = fixture.documents.map((document) => document.price);
  return {
    name: "filter by a price range",
    kernel: () => run().found,
    naive: () => prices.filter((price) => price >= 10 && price <= 100).length,
  };
}

function facets(fixture: Fixture): Pair {
  const run = searcher(fixture, { facets: [{ slot: SLOT_BRAND, type: TYPE_STRING, limit: 0 }] });
  const brands = fixture.documents.map((document) => document.brand);
  return {
    name: "count the brands of all documents",
    kernel: () => run().facets[0]!.length,
    naive: () => {
      const counts = new Map<string, number>();
      for (const brand of brands) counts.set(brand, (counts.get(brand) ?? 0) + 1);
      return counts.size;
    },
  };
}

function ranked(fixture: Fixture, terms: readonly string[], name: string): Pair {
  const total = fixture.documents.length;
  const idf = (term: string) => {
    const df = fixture.postings.get(term)!.length;
    return Math.log(1 + (total - df + 0.5) / (df + 0.5));
  };
  const words = terms.map(
    (term): SearchWord => ({
      weight: idf(term),
      alternatives: [
        {
          kind: ALT_EXACT,
          typos: 0,
          useForProximity: false,
          exact: true,
          sequence: false,
          boost: idf(term),
          terms: [{ term, prefix: false }],
        },
      ],
    }),
  );
  const run = searcher(fixture, { words, k: TOP, mode: "any" });
  return {
    name: `best ${TOP} of ${name} (${terms.map((term) => fixture.postings.get(term)!.length).join(" + ")})`,
    kernel: () => run().found,
    naive: () => {
      const scores = new Map<number, number>();
      for (const term of terms) {
        const weight = idf(term);
        for (const { row, tf } of fixture.postings.get(term)!) {
          const ratio = fixture.lengths[row]! / fixture.averageLength;
          const occurrences = tf / (1 - B + B * ratio);
          const saturation = K1 * (1 - B + B * Math.min(2, ratio));
          scores.set(row, (scores.get(row) ?? 0) + (weight * occurrences) / (occurrences + saturation));
        }
      }
      [...scores].sort((a, b) => b[1] - a[1] || b[0] - a[0]).slice(0, TOP);
      return scores.size;
    },
  };
}

function sorted(fixture: Fixture): Pair {
  const run = searcher(fixture, {
    k: TOP,
    sort: [{ by: "field", descending: true, slot: SLOT_RATING_COUNT, type: FIELDS[SLOT_RATING_COUNT]!.type }],
  });
  return {
    name: `first ${TOP} of all documents by a number`,
    kernel: () => Number(run().rows[0]!.keys[0]),
    naive: () => fixture.documents.map((document) => document.rating_count).sort((a, b) => b - a)[0]!,
  };
}

/**
 * Returns a function that runs one program. By default, the program matches every document but returns no
 * rows; `parts` overrides its members.
 */
function searcher(fixture: Fixture, parts: Partial<SearchProgram>): () => DecodedSearchResult {
  const program: SearchProgram = {
    ...EVERY_DOCUMENT,
    k: 0,
    k1: K1,
    b: B,
    averageLength: fixture.averageLength,
    slots: [{ slot: SLOT_DESCRIPTION, weight: 1, averageLength: fixture.averageLength }],
    ...parts,
  };
  if (program.sort.length === 0 && program.words.length > 0) {
    return searcher(fixture, { ...parts, sort: [{ by: "relevance", descending: true }] });
  }
  const bytes = encodeSearch(program);
  return () => decodeSearchResult(fixture.engine.search(fixture.snapshot, bytes), program);
}
