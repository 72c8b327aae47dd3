// Stop words: every language with a stemmer has its own list, and other codes have none.
import { expect, test } from "vitest";
import { languageCodes } from "../../../../../engine-wasm/host/stemmer.js";
import { languageStopWords } from "../../../../../server/question/words/stop-words.js";

test("every language with a stemmer has stop words", () => {
  for (const code of languageCodes()) {
    const words = languageStopWords(code);
    expect(words.length, code).toBeGreaterThan(20);
    expect(
      words.filter((word) => typeof word !== "string" || word.trim() === ""),
      code,
    ).toEqual([]);
  }
  expect(languageStopWords("tlh")).toEqual([]);
});

test("the lists are those of their languages", () => {
  const samples = { en: "the", de: "und", fr: "les", es: "los", nl: "het", ru: "что", sr: "bez", el: "και" };
  for (const [code, word] of Object.entries(samples)) expect(languageStopWords(code), code).toContain(word);
});
