// The cache of the dictionary's answers: it has an answer per word, and only for the latest generation.
import { expect, it } from "vitest";
import type {
  ExpandProgram,
  ExpandSuspect,
  ExpandWord,
} from "../../../../../engine-wasm/host/programs/expand-program.js";
import { CacheMeter } from "../../../../../server/ground/metrics/recorder.js";
import { ExpansionCache } from "../../../../../server/question/words/expansion-cache.js";
import type { KnownSuspect, ToldWords } from "../../../../../server/question/words/typos/ranked-typos.js";
import { WordMemories } from "../../../../../server/question/words/word-memory.js";

const word = (term: string, more: Partial<ExpandWord> = {}): ExpandWord => ({
  term,
  exact: true,
  prefix: false,
  typoPrefix: false,
  maxTypos: 0,
  ...more,
});
const program = (slots: number[], ...words: ExpandWord[]): ExpandProgram => ({ slots, words });
const answer = (liveRows: number, ...frequencies: number[]): ToldWords => ({
  liveRows,
  slots: [{ totalLength: 10, documents: 5 }],
  words: frequencies.map((frequency) => ({ exact: [frequency], prefix: null, typos: null, infixes: null })),
  suspects: [],
});

it("returns words that other queries have looked up", () => {
  const meter = new CacheMeter();
  const cache = new ExpansionCache(meter, new WordMemories());
  cache.put(3, program([1], word("red"), word("shoe")), answer(100, 7, 8));
  const known = cache.get(3, program([1], word("shoe"), word("blue"), word("red")));
  expect(known.statistics?.liveRows).toBe(100);
  expect(known.words.map((expansion) => expansion?.exact ?? null)).toEqual([[8], null, [7]]);
  expect([meter.hits, meter.misses]).toEqual([0, 1]);
  cache.get(3, program([1], word("red")));
  expect([meter.hits, meter.misses]).toEqual([1, 1]);
});

it("keeps lookups apart that differ in anything", () => {
  const cache = new ExpansionCache(new CacheMeter(), new WordMemories());
  cache.put(3, program([1], word("red")), answer(100, 7));
  const others = [
    program([2], word("red")),
    program([1, 2], word("red")),
    program([1], word("red", { prefix: true })),
    program([1], word("red", { exact: false })),
    program([1], word("red", { maxTypos: 1 })),
    program([1], word("red", { maxTypos: 1, typoPrefix: true })),
    program([1], word("redd")),
  ];
  for (const other of others) expect(cache.get(3, other).words).toEqual([null]);
});

it("forgets everything with a newer generation and ignores answers from an older one", () => {
  const cache = new ExpansionCache(new CacheMeter(), new WordMemories());
  cache.put(3, program([1], word("red")), answer(100, 7));
  cache.put(4, program([1], word("shoe")), answer(101, 8));
  cache.put(3, program([1], word("late")), answer(100, 1));
  expect(cache.get(4, program([1], word("red"), word("late"))).words).toEqual([null, null]);
  expect(cache.get(4, program([1], word("shoe"))).statistics?.liveRows).toBe(101);
  expect(cache.get(3, program([1], word("shoe")))).toMatchObject({ statistics: null, words: [null] });
});

it("keeps what is used and evicts the rest", () => {
  const cache = new ExpansionCache(new CacheMeter(), new WordMemories());
  const used = program([1], word("used"));
  cache.put(1, used, answer(1, 5));
  for (let i = 0; i < 60_000; i++) {
    cache.put(1, program([1], word(`w${i}`)), answer(1, i));
    expect(cache.get(1, used).words[0]?.exact).toEqual([5]);
  }
  const all = Array.from({ length: 60_000 }, (_, i) => program([1], word(`w${i}`)));
  const kept = all.filter((one) => cache.get(1, one).words[0] !== null);
  expect(kept.length).toBeGreaterThanOrEqual(10_000);
  expect(kept.length).toBeLessThanOrEqual(24_000);
  expect(cache.get(1, all[59_999]!).words[0]?.exact).toEqual([59_999]);
});

it("remembers that a word occurs nowhere", () => {
  const cache = new ExpansionCache(new CacheMeter(), new WordMemories());
  cache.put(1, program([1], word("a"), word("b")), answer(9, 0, 0));
  expect(cache.get(1, program([1], word("b"))).words).toEqual([
    { exact: [0], prefix: null, typos: null, infixes: null },
  ]);
});

const suspect = (term: string, few: number, ...witnesses: number[]): ExpandSuspect => ({
  term,
  typoPrefix: false,
  maxTypos: 2,
  few,
  witnesses,
});
const NEAR = { term: "near", distance: 1, isPrefix: false, frequencies: [7], typos: 1, edits: 90 };
const told = (maxTypos: number): KnownSuspect => ({
  maxTypos,
  typos: [NEAR],
});

it("reports unknown words as missing, and suspects that depend on those of their witnesses", () => {
  const cache = new ExpansionCache(new CacheMeter(), new WordMemories());
  cache.put(1, program([1], word("common"), word("few")), answer(99, 50, 2));
  const words = [word("few"), word("b"), word("common"), word("c")];
  const suspects = [suspect("b", 2, 0, 1, 3), suspect("c", 2, 2, 3), suspect("few", 2, 0)];
  const { missing } = cache.get(1, { slots: [1], words }, () => suspects);
  expect(missing.words.map(({ term }) => term)).toEqual(["b", "c"]);
  expect(missing.suspects).toEqual([suspect("b", 2, 0, 1)]); // the cache already answers the other suspects
});

it("reuses answers about suspects for lookups of their typos", () => {
  const cache = new ExpansionCache(new CacheMeter(), new WordMemories());
  const asked = { ...program([1], word("a")), suspects: ["x", "y"].map((term) => suspect(term, 2, 0)) };
  cache.put(1, asked, { ...answer(9, 0), suspects: [told(2), told(0)] });
  const typos = (term: string, maxTypos: number) => {
    const question = program([1], word(term, { exact: false, maxTypos }));
    return cache.get(1, question).words[0]?.typos ?? null;
  };
  expect([typos("x", 2), typos("x", 1), typos("y", 2)]).toEqual([[NEAR], null, null]);
  const again = cache.get(1, program([1], word("b")), () => asked.suspects).missing.suspects;
  expect(again?.map(({ term }) => term)).toEqual(["y"]);
});
