// The explain kernel's parts add up to exactly the search kernel's scores, to the last bit, and each part is
// something that the document really has.
import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeExplain } from "../../../../engine-wasm/host/programs/explain-program.js";
import {
  decodeExplainResult,
  type ExplainedRow,
  type ExplainedWord,
} from "../../../../engine-wasm/host/programs/explain-result.js";
import {
  ALL_ROWS,
  encodeSearch,
  type SearchProgram,
} from "../../../../engine-wasm/host/programs/search-program.js";
import { effort } from "../../../effort.js";
import { decodeSearchResult } from "../../../oracle/decoded-result.js";
import { occurrenceIn, saturationOf } from "../../../oracle/score.js";
import type { Row } from "../../../oracle/segments/rows.js";
import { loadEngine } from "../load-engine.js";
import {
  type Catalogue,
  FIELDS,
  groupsOf,
  makeCatalogue,
  picker,
  randomDocument,
} from "../segments/catalogue.js";
import { randomNeighbours, randomProgram } from "./random-program.js";

const module = await loadEngine();
const bench = module.workbench();

function explain(
  { engine, snapshot }: Catalogue,
  program: SearchProgram,
  seqs: number[],
): (ExplainedRow | null)[] {
  return decodeExplainResult(engine.explain(snapshot, encodeExplain(program, seqs)), program, seqs);
}

/** Computes the text match from its parts. */
function textMatchOf(row: ExplainedRow, program: SearchProgram): number {
  if (row.neighbour && program.neighbours?.place === "first") return 2 ** 52 + stepsOf(row.points);
  const present = row.words.filter((word) => word.alternative >= 0);
  if (!row.matched && !row.neighbour) return 0;
  let relevance = 0;
  for (const word of present) relevance += word.score;
  if (present.length > 1) relevance += program.proximityWeight * row.closeness;
  const steps = stepsOf(relevance + row.points);
  const full = present.length > 0 && present.length === row.words.length;
  if (!full || program.mode === "byScore") return steps;
  const typos = present.reduce((sum, word) => sum + word.typos, 0);
  const exact = present.every((word) => word.exact);
  return 2 ** 51 + (15 - Math.min(15, typos)) * 2 ** 47 + (exact ? 2 ** 46 : 0) + steps;
}

function stepsOf(relevance: number): number {
  return Math.min(Math.floor(relevance * 2 ** 24), 2 ** 46 - 1);
}

function checkParts(word: ExplainedWord, row: Row, program: SearchProgram, i: number): void {
  if (word.alternative < 0) return;
  const alternative = program.words[i]!.alternatives[word.alternative]!;
  expect(word.parts.length).toBeGreaterThan(0);
  const fields = program.slots.map((one) => ({ ...one, name: FIELDS[one.slot]!.name }));
  let sum = 0;
  for (const { slot, term, frequency } of word.parts) {
    const text = row.texts.get(FIELDS[slot]!.name)!;
    const terms = alternative.sequence ? term.split(" ") : [term];
    const places = text.positions
      .get(terms[0]!)!
      .filter((start) => terms.every((one, at) => text.positions.get(one)?.includes(start + at)));
    expect(places.length).toBe(frequency);
    sum += frequency * occurrenceIn(text.length, fields.find((one) => one.slot === slot)!);
  }
  const saturation = saturationOf(row, { ...program, fields });
  expect(word.score).toBe((alternative.boost * sum) / (sum + saturation));
}

test("explanations add up to the result", () => {
  const seen = {
    starts: 0,
    whole: 0,
    sequences: 0,
    termBonuses: 0,
    pinnedOnly: 0,
    boosted: 0,
    buried: 0,
    alone: 0,
    withSomeWords: 0,
    withAllWords: 0,
    added: 0,
  };
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 80 }), fc.integer(), (count, seed) => {
      const pick = picker(seed);
      const near = picker(seed + 1);
      const documents = Array.from({ length: count }, (_, i) => randomDocument(i, pick));
      const catalogue = makeCatalogue(module, bench, groupsOf(documents, [30, 1]), (i) => i % 11 === 4);
      for (let i = 0; i < 20; i++) {
        const program: SearchProgram = {
          ...randomProgram(bench, pick),
          k: ALL_ROWS,
          neighbours: near([null, randomNeighbours(near)]),
          sort: [
            { by: "class", descending: true },
            { by: "relevance", descending: true },
          ],
        };
        const bytes = catalogue.engine.search(catalogue.snapshot, encodeSearch(program));
        const { rows } = decodeSearchResult(bytes, program);
        const found = new Set(rows.map(({ seq }) => seq));
        const absent = [...catalogue.rows.map(({ seq }) => seq), 2 ** 50].filter((seq) => !found.has(seq));
        expect(explain(catalogue, program, absent)).toEqual(absent.map(() => null));
        for (const [at, one] of explain(catalogue, program, [...found]).entries()) {
          const row = rows[at]!;
          const { textMatch, matched, neighbour, hasWord, pinned, rowClass, relevance } = one!;
          const keys = [rowClass, relevance];
          const { seq, bonus, ...same } = row;
          expect({ textMatch, matched, neighbour, hasWord, pinned, keys }).toEqual(same);
          const listed = program.neighbours?.rows.find((listed) => listed.seq === seq);
          const counts = (matched || neighbour) && (program.neighbours?.place === "added" || neighbour);
          expect(one!.points).toBe(
            counts && listed !== undefined && listed.points >= 1e-30 ? listed.points : 0,
          );
          expect(textMatchOf(one!, program)).toBe(row.textMatch);
          expect(one!.termBonuses.reduce((sum, { bonus }) => sum + bonus, one!.placeBonus)).toBe(bonus);
          const document = catalogue.rows.find((row) => row.seq === seq)!;
          for (const [w, word] of one!.words.entries()) {
            checkParts(word, document, program, w);
            if (program.words[w]!.alternatives[word.alternative]?.sequence === true) seen.sequences++;
          }
          if (one!.place !== null) seen[one!.place]++;
          seen.termBonuses += one!.termBonuses.length;
          seen.pinnedOnly += matched || neighbour ? 0 : 1;
          if (neighbour) seen[matched ? "withAllWords" : hasWord ? "withSomeWords" : "alone"]++;
          seen.added += !neighbour && one!.points > 0 ? 1 : 0;
          seen.boosted += one!.boosts > 0 ? 1 : 0;
          seen.buried += rowClass === 0n ? 1 : 0;
        }
      }
    }),
    { numRuns: effort(60, 400) },
  );
  for (const [what, times] of Object.entries(seen)) expect([what, times > 0]).toEqual([what, true]);
});

test("malformed programs are refused", () => {
  const pick = picker(3);
  const catalogue = makeCatalogue(module, bench, [[randomDocument(0, pick)]], () => false);
  const question = encodeExplain(randomProgram(bench, pick), [5, 9, 1007]);
  const ask = (bytes: Uint8Array) => () => catalogue.engine.explain(catalogue.snapshot, bytes);
  expect(ask(question)).not.toThrow();
  for (let end = 0; end < question.length; end++) expect(ask(question.subarray(0, end))).toThrow(/program/i);
  for (const seq of [Number.NaN, -1, 5, 9, 2 ** 60, Number.POSITIVE_INFINITY]) {
    const bent = Buffer.from(question);
    bent.writeDoubleLE(seq, 4 + 8 + (seq === 9 ? 8 : 0));
    expect(ask(bent)).toThrow(/program/i);
  }
});
