// The typo search on dictionaries chosen for edge cases: shared prefixes that end inside a character,
// transpositions at the edges of the band, words of the maximum length. The model is the full matrix.
import { expect, test } from "vitest";
import { TERM_BYTES_MAX } from "../../../../engine-wasm/assembly/layout.js";
import { encodeExpand } from "../../../../engine-wasm/host/programs/expand-program.js";
import { decodeExpandResult } from "../../../../engine-wasm/host/programs/expand-result.js";
import { effort } from "../../../effort.js";
import { makeDictionary, typosOf } from "../../../oracle/words/expand.js";
import { loadEngine } from "../load-engine.js";
import { type Catalogue, makeCatalogue, picker } from "../segments/catalogue.js";

const module = await loadEngine();
const bench = module.workbench();

function dictionaryOf(terms: string[]): Catalogue {
  return makeCatalogue(module, bench, [[{ id: "1", title: terms.join(" ") }]], () => false);
}

function check(catalogue: Catalogue, term: string, maxTypos: number, typoPrefix: boolean): void {
  const program = { slots: [0], words: [{ term, exact: false, prefix: false, typoPrefix, maxTypos }] };
  const answer = decodeExpandResult(
    catalogue.engine.expand(catalogue.snapshot, encodeExpand(program)),
    program,
  );
  expect(answer.words[0]!.typos).toEqual(
    typosOf(makeDictionary(catalogue.rows, ["title"]), term, maxTypos, typoPrefix),
  );
}

function checkAll(terms: string[], words: string[], allowed = [1, 2, 3, 4]): void {
  const catalogue = dictionaryOf(terms);
  for (const word of words)
    for (const typos of allowed) for (const prefix of [false, true]) check(catalogue, word, typos, prefix);
}

test("every string of up to four letters over three letters", () => {
  const strings = [""];
  for (let i = 0; strings[i]!.length < 4; i++) for (const letter of "abc") strings.push(strings[i] + letter);
  checkAll(strings.slice(1), ["a", "ab", "abc", "cabb", "abcabc", "x", "xyxyx"]);
});

test("characters with the same first bytes", () => {
  checkAll(
    ["яа", "юа", "эа", "яяя", "𐌰𐌱", "𐌱𐌰", "𐌰𐌰𐌱", "日本", "旦本", "本日"],
    ["я", "юя", "𐌰𐌱", "𐌱", "日本", "日", "本", "a"],
  );
});

test("transpositions that do not overlap", () => {
  checkAll(
    ["ca", "abc", "acb", "bca", "ab", "ba", "abcdef", "badcfe", "abdcef"],
    ["ac", "ca", "abcdef", "bacdef", "ba"],
  );
});

test("terms and words of the maximum length", () => {
  const long = "abcdefghij".repeat(12).slice(0, TERM_BYTES_MAX);
  const terms = [
    long,
    `x${long.slice(1)}`,
    long.slice(0, -1),
    long.slice(2),
    `ba${long.slice(2)}`,
    long.slice(0, 64),
    long.slice(0, 63),
  ];
  const words = [long, long.slice(0, 65), long.slice(1), `${long}z`, `${long}zzzz`, `${long}zzzzz`];
  checkAll(terms, [...words, long.repeat(effort(3, 20))], effort([1, 4], [1, 2, 3, 4]));
});

test("skips long runs of non-matching terms", () => {
  const pick = picker(3);
  const letters = [..."abcdefgh"];
  const terms = Array.from({ length: 3000 }, () =>
    Array.from({ length: pick([5, 6, 7, 8]) }, () => pick(letters)).join(""),
  );
  const catalogue = dictionaryOf(terms);
  for (let i = 0; i < effort(15, 40); i++) check(catalogue, pick(terms), pick([1, 2]), pick([true, false]));
});

test("prefixes next to non-matching ones in a dictionary with a summary", () => {
  const pick = picker(11);
  const letters = [..."abcdefghij", "é", "я"];
  const word = () => Array.from({ length: pick([2, 3, 4, 5, 6, 7]) }, () => pick(letters)).join("");
  const documents = Array.from({ length: 1500 }, (_, i) => ({ id: `${i}`, title: `${word()} ${word()}` }));
  const catalogue = makeCatalogue(module, bench, [documents], () => false);
  for (let i = 0; i < effort(16, 40); i++) check(catalogue, word(), 1 + (i % 4), i % 3 === 0);
});
