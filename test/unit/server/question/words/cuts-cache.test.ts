// Which words' splits are cached, and that the same splits are searched whether they come from the cache or
// from the dictionary.
import { describe, expect, it } from "vitest";
import { run } from "../../../../../server/ground/jobs/work.js";
import { CutsCache } from "../../../../../server/question/words/cuts-cache.js";
import { expander, MadeDictionary } from "./made-dictionary.js";

describe("cached cuts of words", () => {
  it("are returned for the same fields only", () => {
    const cache = new CutsCache();
    cache.put([1, 2], "wifi", [{ terms: ["wi", "fi"], frequency: 3 }]);
    cache.put([1, 2], "shoe", []);
    expect(cache.get([1, 2], "wifi")).toEqual([{ terms: ["wi", "fi"], frequency: 3 }]);
    expect(cache.get([1, 2], "shoe")).toEqual([]);
    expect(cache.get([1], "wifi")).toBeNull();
    cache.clear();
    expect(cache.get([1, 2], "wifi")).toBeNull();
  });

  it("are evicted when least recently used", () => {
    const cache = new CutsCache();
    cache.put([1], "kept", []);
    cache.put([1], "left", []);
    for (let i = 0; i < 9_000; i++) {
      cache.put([1], `word${i}`, []);
      cache.get([1], "kept");
    }
    expect(cache.get([1], "kept")).toEqual([]);
    expect(cache.get([1], "left")).toBeNull();
  });

  it("are not requested again, and the words are searched as before", async () => {
    const frequencies = { wifi: 5, wi: 7, fi: 8, shoe: 2 };
    const dictionary = new MadeDictionary(100, frequencies, {}, {}, {}, new CutsCache());
    const first = await run(expander(dictionary, "auto", ["wifi", 0], ["shoe", 0]).asWritten());
    const again = await run(expander(dictionary, "auto", ["wifi", 0], ["shoe", 0]).asWritten());
    expect(again.words).toEqual(first.words);
    expect(first.words[0]!.alternatives.map(({ terms }) => terms.map(({ term }) => term))).toEqual([
      ["wifi"],
      ["wi", "fi"],
    ]);
    const asked = dictionary.asked.map(({ words }) => words.map(({ term }) => term));
    expect(asked).toEqual([
      ["wifi", "shoe", "wi", "fi", "sh", "oe"],
      ["wifi", "shoe"],
    ]);
  });
});
