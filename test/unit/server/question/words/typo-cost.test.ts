// The cost of a typing error: the same as in the naive model for any two words, and lower for errors that
// people often make.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TypoCosts } from "../../../../../server/question/words/typos/typo-cost.js";
import { typoCost } from "../../../../oracle/words/typo-cost.js";

const cost = (word: string, term: string, unfinished = false): number =>
  new TypoCosts(word, unfinished).of(term);

describe("TypoCosts", () => {
  it("equals the twin's full matrix", () => {
    const letter = fc.constantFrom(..."aabceefghhiijklmnopprsstttuvwyz1é𐐷");
    const word = fc.array(letter, { minLength: 1, maxLength: 12 }).map((letters) => letters.join(""));
    const edits = fc.array(fc.tuple(fc.nat(11), fc.nat(3), letter), { maxLength: 3 });
    const pair = fc.oneof(
      fc.tuple(word, word),
      fc.tuple(word, edits).map(([from, list]) => {
        const letters = [...from];
        for (const [place, kind, one] of list) {
          const at = place % letters.length;
          if (kind === 0) letters.splice(at, 0, one);
          else if (kind === 1) letters[at] = one;
          else if (kind === 2 && letters.length > 1) letters.splice(at, 1);
          else letters.splice(at, 2, ...letters.slice(at, at + 2).reverse());
        }
        return [from, letters.join("")] as [string, string];
      }),
    );
    fc.assert(
      fc.property(pair, fc.boolean(), ([from, to], unfinished) => {
        expect(cost(from, to, unfinished)).toBe(typoCost(from, to, unfinished));
      }),
      { numRuns: 5_000 },
    );
  });

  it("works for words of any length", () => {
    expect(cost("a".repeat(300), "a".repeat(301))).toBe(50);
    expect(cost("x", "y".repeat(400))).toBe(typoCost("x", "y".repeat(400), false));
  });

  it.each([
    ["accomodate", "accommodate", "a missing double letter", 50],
    ["untill", "until", "a doubled letter", 55],
    ["recieve", "receive", "ie for ei", 50],
    ["teh", "the", "a swap", 60],
    ["definately", "definitely", "a vowel for another", 80],
    ["responsable", "responsible", "a weak ending", 50],
    ["extention", "extension", "a weak ending", 50],
    ["goverment", "government", "a missing letter", 70],
    ["rythm", "rhythm", "a silent letter", 50],
    ["fotograph", "photograph", "f for ph", 75],
    ["phinish", "finish", "ph for f", 75],
    ["cat", "mat", "a first letter", 175],
  ])("%s for %s: %s", (word, term, _, price) => {
    expect(cost(word, term)).toBe(price);
  });

  it("charges a longer term by the letter, only for an unfinished word", () => {
    expect(cost("iphnoe", "iphones", true)).toBe(60 + 50 + 25);
    expect(cost("iphnoe", "iphonecase", true)).toBe(60 + 50 + 4 * 25);
    expect(cost("iphnoe", "iphonecase")).toBeGreaterThan(300);
  });
});
