// Which similar term the user meant, judged by document frequency, co-occurring words and edits.
import { describe, expect, it } from "vitest";
import { costOfWord, likelyTypos } from "../../../../../server/question/words/typos/noisy-channel.js";

const near = (term: string, edits: number, typos = 1) => ({
  term,
  edits,
  typos,
  distance: typos,
  isPrefix: false,
  frequencies: [1],
});
const RARE = { documents: 10, weight: 4 };
const FREQUENT = { documents: 500, weight: 0.7 };
const NOWHERE = { documents: 0, weight: 7 };
const none = (): number => 0;

describe("a word's cost", () => {
  const alone = (documents: number) =>
    costOfWord({ documents, together: [] }, { liveRows: 1_000, words: [] });

  it("falls by 5 if twice as many documents contain it", () => {
    expect(alone(100.5) - alone(201.5)).toBeCloseTo(5, 1);
    expect(alone(999.5)).toBeCloseTo(0, 10);
    expect(alone(0)).toBeGreaterThan(alone(1));
  });

  it("combines its share of the other words' documents with its share of all documents", () => {
    const context = { liveRows: 1_000, words: [{ documents: 40, weight: 3 }] };
    const cost = (together: number) => costOfWord({ documents: 10, together: [together] }, context);
    expect(cost(10)).toBeCloseTo(-5 * Math.log2(0.1 * 0.0105 + 0.9 * 0.25), 10);
    expect(cost(0)).toBeCloseTo(-5 * Math.log2(0.1 * 0.0105), 10);
  });

  it("depends more on rare words than on frequent ones, and ignores words that no document contains", () => {
    const cost = (...together: number[]) =>
      costOfWord({ documents: 10, together }, { liveRows: 1_000, words: [RARE, FREQUENT, NOWHERE] });
    expect(cost(5, 0, 0)).toBeLessThan(cost(0, 250, 0));
    const known = costOfWord(
      { documents: 10, together: [5, 0] },
      { liveRows: 1_000, words: [RARE, FREQUENT] },
    );
    expect(cost(5, 0, 0)).toBe(known);
  });
});

describe("the terms possibly meant", () => {
  const order = (...args: Parameters<typeof likelyTypos>) => likelyTypos(...args).map(({ term }) => term);

  it("are ordered by typos, then by edits and documents together", () => {
    const typos = [near("far", 120, 2), near("rare", 60), near("frequent", 80)];
    const typed = { cost: 145, doubt: Number.POSITIVE_INFINITY };
    expect(order(typos, [0, 60, 20], typed, none)).toEqual(["frequent", "rare", "far"]);
  });

  it("of a known word are left out if they are much less likely than the word", () => {
    const typos = [near("near", 60), near("nearer", 50)];
    expect(order(typos, [50, 50], { cost: 70, doubt: 30 }, none)).toEqual(["nearer"]);
  });

  it("are more certain the less they cost compared with the word", () => {
    const sure = (cost: number) =>
      likelyTypos([near("x", 50)], [cost], { cost: 145, doubt: Number.POSITIVE_INFINITY }, none)[0]!
        .confidence;
    expect(sure(95)).toBeCloseTo(0.55, 10);
    expect(sure(0)).toBeCloseTo(0.9, 2);
    expect(sure(400)).toBeCloseTo(0.2, 2);
  });
});
