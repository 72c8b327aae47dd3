// Two parts of the server tokenise texts without the engine's analyser: query understanding, which needs
// currency signs and decimal points, and the coach, whose thread has no engine. Neither may split a word that
// the analyser keeps whole.
import fc from "fast-check";
import { expect, test } from "vitest";
import { wordsIn } from "../../../../../server/coach/words.js";
import { normalisedText } from "../../../../../server/query-log/rows/text-form.js";
import { tokensOf } from "../../../../../server/search/understanding/tokens.js";
import { loadEngine } from "../../../engine/load-engine.js";

const workbench = (await loadEngine()).workbench();
const DEFAULTS = { symbolsToIndex: "", tokenSeparators: "" };

function termsOf(text: string): string[] {
  return workbench
    .analyse(text, DEFAULTS)
    .filter(({ parts }) => parts === 1)
    .map(({ term }) => term);
}

const letters = fc.constantFrom(..."abzÄéßøœи日𐌰0159");
const signs = fc.constantFrom(..."  .,-/+&$€'’!?()");
const text = fc
  .array(fc.oneof({ weight: 3, arbitrary: letters }, signs), { maxLength: 30 })
  .map((all) => all.join(""));

test("the coach's words yield the same terms as their text", () => {
  fc.assert(
    fc.property(text, (typed) => {
      const logged = normalisedText(typed);
      expect(wordsIn(logged).flatMap(termsOf)).toEqual(termsOf(logged));
    }),
    { numRuns: 2_000 },
  );
});

test("a query's pieces, with touching ones combined, yield its terms", () => {
  // Without apostrophes: the analyser drops them, but query understanding separates a number from letters
  // that follow its apostrophe, as in 5'tall.
  const withoutApostrophes = text.map((typed) => typed.replace(/['’]/g, ""));
  fc.assert(
    fc.property(withoutApostrophes, (query) => {
      const runs: { start: number; end: number }[] = [];
      const pieces = tokensOf(query).filter(({ kind }) => kind !== "sealed");
      fc.pre(pieces.length === tokensOf(query).length);
      for (const { start, end, touches } of pieces) {
        if (touches) runs.at(-1)!.end = end;
        else runs.push({ start, end });
      }
      expect(runs.flatMap(({ start, end }) => termsOf(query.slice(start, end)))).toEqual(termsOf(query));
    }),
    { numRuns: 2_000 },
  );
});

test("a plain query word has the analyser's letters", () => {
  const plain = fc.string({ unit: fc.constantFrom(..."abzÄéßøœæñи"), minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(plain, (word) => {
      expect(tokensOf(word).map(({ key }) => key)).toEqual(termsOf(word));
    }),
    { numRuns: 2_000 },
  );
});
