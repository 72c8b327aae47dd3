// Judged query variants: cut short, in a sentence, with a typing error.
import { describe, expect, test } from "vitest";
import { Random } from "../../../bench/random.js";
import { asSentence, shorten, variantTexts } from "../../../bench/relevance/query-variants.js";
import { hitsWordOf, mistype } from "../../../bench/relevance/typing-error.js";

const LONG = "What similarity laws must be obeyed when constructing models of heated aircraft ?";
const TOPIC = ["similarity", "laws", "obeyed", "constructing", "models", "heated", "aircraft"];

describe("short", () => {
  test("keeps half of the words that are not stop words, rounded up, in order", () => {
    const random = new Random(3);
    const seen = new Set<string>();
    for (let i = 0; i < 300; i++) {
      const words = shorten(LONG, random).split(" ");
      expect(words).toHaveLength(4);
      expect(TOPIC.filter((word) => words.includes(word))).toEqual(words);
      for (const word of words) seen.add(word);
    }
    expect([...seen].sort()).toEqual([...TOPIC].sort());
  });

  test("keeps two of three words", () => {
    const random = new Random(4);
    const seen = new Set(Array.from({ length: 100 }, () => shorten("red the leather shoes", random)));
    expect([...seen].sort()).toEqual(["leather shoes", "red leather", "red shoes"]);
  });

  test("leaves a query with fewer than three such words unchanged", () => {
    for (const text of ["aa battery", "what is the theory of numbers ?", "1/2 inch", "the"])
      expect(shorten(text, new Random(1))).toBe(text);
  });

  test("recognises stop words in capitals and next to punctuation, and treats numbers as words", () => {
    expect(shorten("THE, (of) What's 500 gb", new Random(1))).toBe("THE, (of) What's 500 gb");
    expect(shorten("THE 500 AND (gb), OF disk!", new Random(1)).split(" ")).toHaveLength(2);
  });
});

describe("natural", () => {
  test("puts the query into one of several sentences, without its final punctuation", () => {
    const random = new Random(5);
    const sentences = new Set(Array.from({ length: 200 }, () => asSentence("wi-fi 6 router .", random)));
    expect(sentences.size).toBe(6);
    expect(sentences).toContain("what is known about wi-fi 6 router?");
    for (const sentence of sentences) expect(sentence).toMatch(/^[a-z ]+ wi-fi 6 router(\W|$)/);
  });
});

describe("variants of a query list", () => {
  const texts = [LONG, "aa battery", "8 x 10", "wireless noise cancelling headphones"];

  test.each(["short", "natural", "substitution", "transposition"] as const)(
    "%s depends on the seed",
    (variant) => {
      expect(variantTexts(texts, variant, 1)).toEqual(variantTexts(texts, variant, 1));
      expect(variantTexts(texts, variant, 1)).not.toEqual(variantTexts(texts, variant, 20));
    },
  );

  test("clean changes nothing, and a query without a word gets no typing error", () => {
    expect(variantTexts(texts, "clean", 1)).toEqual(texts);
    expect(variantTexts(texts, "deletion", 1)[2]).toBe("8 x 10");
  });
});

test("the length of the word hit by a typing error is known in advance", () => {
  expect(hitsWordOf(4, "aa hdmi 16gb")).toBe(true);
  expect(hitsWordOf(4, "usb fan tv")).toBe(false);
  expect(hitsWordOf(3, "usb fan tv")).toBe(true);
  expect(hitsWordOf(4, "8 x 10")).toBe(false);
  expect(mistype("aa hdmi 16gb", "insertion", new Random(1))).toMatch(/^aa h\p{L}{4} 16gb$/u);
});
