// Relevance measurements on rankings small enough to work out by hand: measures, edit distance, typing
// errors.
import { describe, expect, test } from "vitest";
import { Random } from "../../../bench/random.js";
import { editDistance } from "../../../bench/relevance/edit-distance.js";
import { withoutOperators } from "../../../bench/relevance/judged-run.js";
import {
  averagePrecision,
  meanOf,
  measure,
  ndcg,
  recall,
  relevantCount,
} from "../../../bench/relevance/measures.js";
import { foldWord } from "../../../bench/relevance/misspelling-pairs.js";
import { ERROR_KINDS, mistype, mistypeWord } from "../../../bench/relevance/typing-error.js";

const judged = new Map([
  ["a", 3],
  ["b", 2],
  ["c", 1],
  ["d", 0],
]);

describe("metrics", () => {
  test("nDCG uses linear gains", () => {
    // Ideal: 3/log2(2) + 2/log2(3) + 1/log2(4) = 3 + 1.261860 + 0.5 = 4.761860.
    expect(ndcg(["a", "b", "c"], judged, 10)).toBe(1);
    // 2 + 3/log2(3) + 0 + 1/log2(5) = 2 + 1.892789 + 0.430677 = 4.323466.
    expect(ndcg(["b", "a", "x", "c"], judged, 10)).toBeCloseTo(4.323466 / 4.76186, 5);
    // Only the first row counts: 2 of the ideal 3.
    expect(ndcg(["b", "a"], judged, 1)).toBeCloseTo(2 / 3, 12);
    expect(ndcg(["d", "x"], judged, 10)).toBe(0);
    expect(ndcg([], judged, 10)).toBe(0);
  });

  test("average precision counts missing documents", () => {
    // Two of three relevant documents, found at ranks 1 and 4: (1/1 + 2/4) / 3.
    expect(averagePrecision(["a", "d", "x", "c"], judged)).toBeCloseTo(0.5, 12);
    expect(averagePrecision(["a", "b", "c"], judged)).toBe(1);
    expect(averagePrecision(["x"], judged)).toBe(0);
  });

  test("recall counts relevant documents", () => {
    expect(relevantCount(judged)).toBe(3);
    expect(recall(["x", "a", "b", "c"], judged, 3)).toBeCloseTo(2 / 3, 12);
  });

  test("judged-only nDCG drops unjudged documents, not those judged irrelevant", () => {
    const { ndcg10, ndcg10Judged } = measure(["x", "a", "y", "b", "c"], judged);
    expect(ndcg10Judged).toBe(1);
    // 3/log2(3) + 2/log2(5) + 1/log2(6) = 1.892789 + 0.861353 + 0.386853 = 3.140995.
    expect(ndcg10).toBeCloseTo(3.140995 / 4.76186, 5);
    expect(measure(["d", "a", "b", "c"], judged).ndcg10Judged).toBeLessThan(1);
  });

  test("Recall@100 and nDCG@10 stop at their depth, MAP does not", () => {
    const late = [...Array.from({ length: 100 }, (_, i) => `x${i}`), "a"];
    expect(measure(late, new Map([["a", 1]]))).toEqual({
      ndcg10: 0,
      ndcg10Judged: 1,
      averagePrecision: 1 / 101,
      recall100: 0,
    });
  });

  test("means are taken over queries", () => {
    const mean = meanOf([measure(["a"], new Map([["a", 1]])), measure(["x"], new Map([["a", 1]]))]);
    expect(mean).toEqual({ ndcg10: 0.5, ndcg10Judged: 0.5, averagePrecision: 0.5, recall100: 0.5 });
  });
});

describe("edit distance", () => {
  test.each([
    ["", "", 0],
    ["", "abc", 3],
    ["kitten", "sitting", 3],
    ["teh", "the", 1],
    ["ca", "abc", 3], // optimal string alignment: unrestricted Damerau would give 2
    ["acommodation", "accommodation", 1],
    ["東京", "東京都", 1],
    ["😀a", "a", 1],
  ])("%s, %s: %i", (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
    expect(editDistance(b, a)).toBe(distance);
  });
});

describe("typing errors", () => {
  test.each(ERROR_KINDS)("%s makes one edit and keeps the first letter", (kind) => {
    const random = new Random(7);
    for (const word of ["monitor", "keyboard", "tv", "aab", "letter", "notebook"]) {
      for (let i = 0; i < 200; i++) {
        const wrong = mistypeWord(word, kind, random);
        expect(editDistance(word, wrong), `${word} ${wrong}`).toBe(1);
        expect(wrong[0]).toBe(word[0]);
      }
    }
  });

  test("word lengths distinguish the kinds", () => {
    const lengths = ERROR_KINDS.map((kind) => mistypeWord("monitor", kind, new Random(3)).length);
    expect(lengths).toEqual([7, 6, 8, 7]);
  });

  test("swaps neighbours inside the word, or replaces a letter if all neighbours are equal", () => {
    const random = new Random(11);
    for (let i = 0; i < 100; i++) {
      const wrong = mistypeWord("brands", "transposition", random);
      expect([...wrong].sort()).toEqual([..."brands"].sort());
    }
    expect(mistypeWord("aaa", "transposition", random)).not.toBe("aaa");
  });

  test("hits a long word if there is one, otherwise the longest; never a number", () => {
    const random = new Random(5);
    for (let i = 0; i < 100; i++) {
      expect(mistype("aa battery 16gb", "substitution", random)).toMatch(/^aa b\p{L}{6} 16gb$/u);
      expect(mistype("usb fan tv", "deletion", random)).toMatch(/^(u. fan|usb f.) tv$/);
    }
    expect(mistype("500 gb 2", "substitution", random)).toMatch(/^500 g[^b] 2$/);
    expect(mistype("iphone 8", "insertion", new Random(1))).toBe(
      mistype("iphone 8", "insertion", new Random(1)),
    );
    expect(mistype("8 x 10", "deletion", random)).toBeNull();
  });
});

test("judged texts are sent without operators", () => {
  expect(withoutOperators('-dash the "office of -the" wi-fi - x')).toBe("dash the  office of the  wi-fi  x");
});

test("words are compared without case and accents", () => {
  expect(foldWord("Café")).toBe("cafe");
});
