// Which words are remembered, for which queries, and that the same words are searched whether they are
// remembered or looked up.
import { describe, expect, it } from "vitest";
import { run } from "../../../../../server/ground/jobs/work.js";
import { CacheMeter } from "../../../../../server/ground/metrics/recorder.js";
import { foundWord } from "../../../../../server/question/words/alternatives.js";
import { ExpansionCache } from "../../../../../server/question/words/expansion-cache.js";
import type { QueryWord } from "../../../../../server/question/words/query-text.js";
import { WordMemories, WordMemory } from "../../../../../server/question/words/word-memory.js";
import { expander, MadeDictionary } from "./made-dictionary.js";

const STATISTICS = { liveRows: 100, slots: [{ totalLength: 400, documents: 50 }] };
const FIELDS = { slots: [0], infixSlots: [], languages: [], key: "0" };
const word = (term: string, more: Partial<QueryWord> = {}): QueryWord => ({
  terms: [term],
  prefix: false,
  typosMax: 0,
  typosAtLast: 0,
  quoted: false,
  count: 1,
  ...more,
});
const FINDINGS = { exact: 3, literal: 3, prefix: null, infixes: [], stem: null, splits: [] };
const found = foundWord(word("shoe"), FINDINGS, { documents: 100, languages: [] });

describe("remembered words", () => {
  it("are told apart by what is looked up for them", () => {
    const memory = new WordMemory(STATISTICS);
    memory.keepWord(word("shoe"), found);
    expect(memory.word(word("shoe", { typosMax: 2, count: 3 }))).toBe(found);
    expect(memory.word(word("shoe", { prefix: true }))).toBeNull();
    expect(memory.word(word("shoe", { quoted: true }))).toBeNull();
    expect(memory.word(word("shoes"))).toBeNull();
    const join = { covers: [0, 1], term: "ab12", begun: false, isSku: false };
    memory.keepJoin(join, []);
    expect(memory.join({ ...join, covers: [2, 3] })).toEqual([]);
    expect(memory.join({ ...join, begun: true })).toBeNull();
    expect(memory.lengths).toEqual({ present: [8], all: [4] });
  });

  it("are evicted when least recently used", () => {
    const memory = new WordMemory(STATISTICS);
    memory.keepWord(word("kept"), found);
    memory.keepWord(word("left"), found);
    for (let i = 0; i < 9_000; i++) {
      memory.keepWord(word(`word${i}`), found);
      memory.word(word("kept"));
    }
    expect(memory.word(word("kept"))).toBe(found);
    expect(memory.word(word("left"))).toBeNull();
  });

  it("belong to one generation and one set of fields", () => {
    const cache = new ExpansionCache(new CacheMeter(), new WordMemories());
    const put = (generation: number): void =>
      cache.put(generation, { slots: [0], words: [] }, { ...STATISTICS, words: [], suspects: [] });
    expect(cache.memoryFor(1, FIELDS, STATISTICS)).toBeNull();
    put(1);
    const memory = cache.memoryFor(1, FIELDS, STATISTICS);
    memory?.keepWord(word("shoe"), found);
    expect(cache.memory(1, FIELDS)).toBe(memory);
    expect(cache.memory(1, { ...FIELDS, key: "0 0" })).toBeNull();
    put(2);
    expect(cache.memory(1, FIELDS)).toBeNull();
    expect(cache.memory(2, FIELDS)).toBeNull();
  });

  it("of all indexes of a thread are bounded, and those in use stay", () => {
    const each = 10;
    const words = new WordMemories(50 * (8 + each * 9)); // an empty memory weighs 8, a word of one term 9
    const indexes = Array.from({ length: 1_000 }, () => new ExpansionCache(new CacheMeter(), words));
    for (const index of indexes) {
      index.put(1, { slots: [0], words: [] }, { ...STATISTICS, words: [], suspects: [] });
      const memory = index.memoryFor(1, FIELDS, STATISTICS)!;
      for (let i = 0; i < each; i++) memory.keepWord(word(`word${i}`), found);
      indexes[0]!.memory(1, FIELDS);
    }
    const kept = indexes.filter((index) => index.memory(1, FIELDS) !== null);
    expect(kept.length).toBe(50);
    expect([kept.at(0), kept.at(-1)]).toEqual([indexes.at(0), indexes.at(-1)]);
    const again = indexes[1]!.memoryFor(1, FIELDS, STATISTICS)!;
    again.keepWord(word("word1"), found);
    expect(indexes[1]!.memory(1, FIELDS)).toBe(again);
  });

  it("of few sets of fields of an index are kept, so that they do not evict those of other indexes", () => {
    const words = new WordMemories(20 * 17);
    const put = (index: ExpansionCache, generation: number): void =>
      index.put(generation, { slots: [0], words: [] }, { ...STATISTICS, words: [], suspects: [] });
    const indexes = [0, 1].map(() => new ExpansionCache(new CacheMeter(), words)) as [
      ExpansionCache,
      ExpansionCache,
    ];
    for (const index of indexes) put(index, 1);
    const fields = (i: number) => ({ ...FIELDS, key: String(i) });
    const other = indexes[0].memoryFor(1, fields(0), STATISTICS);
    const made = Array.from({ length: 100 }, (_, i) => {
      const memory = indexes[1].memoryFor(1, fields(i), STATISTICS)!;
      memory.keepWord(word("shoe"), found);
      return memory;
    });
    const kept = made.filter((memory, i) => indexes[1].memory(1, fields(i)) === memory);
    expect(kept).toEqual(made.slice(-3));
    expect(indexes[0].memory(1, fields(0))).toBe(other);
    put(indexes[1], 2);
    made.at(-1)!.keepWord(word("late"), found);
    expect(indexes[1].memory(2, fields(99))).toBeNull();
  });

  it("are not looked up again, and are searched as before", async () => {
    const frequencies = { wifi: 5, wi: 7, fi: 8, shoe: 2 };
    const dictionary = new MadeDictionary(100, frequencies, {}, {}, {}, new WordMemory(STATISTICS));
    const query = () => expander(dictionary, "auto", ["wifi", 0], ["shoe", 0]);
    expect(query().remembered()).toBeNull();
    const first = await run(query().asWritten());
    expect(query().remembered()?.words).toEqual(first.words);
    expect((await run(query().asWritten())).words).toEqual(first.words);
    expect(first.words[0]!.alternatives.map(({ terms }) => terms.map(({ term }) => term))).toEqual([
      ["wifi"],
      ["wi", "fi"],
    ]);
    const asked = dictionary.asked.map(({ words }) => words.map(({ term }) => term));
    expect(asked).toEqual([["wifi", "shoe", "wi", "fi", "sh", "oe"]]);
  });
});
