// Three ways to compare two spellings agree: the distance between two words, the engine's typo search in a
// dictionary, and the cost of a typo.
import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeExpand } from "../../../../../engine-wasm/host/programs/expand-program.js";
import { decodeExpandResult } from "../../../../../engine-wasm/host/programs/expand-result.js";
import { editsWithin } from "../../../../../server/question/words/typos/edits-within.js";
import { TypoCosts } from "../../../../../server/question/words/typos/typo-cost.js";
import { loadEngine } from "../../../engine/load-engine.js";
import { makeCatalogue } from "../../../engine/segments/catalogue.js";

const module = await loadEngine();
const workbench = module.workbench();
const word = fc.string({ unit: fc.constantFrom("a", "b", "c", "я", "𐌰"), minLength: 1, maxLength: 7 });

test("a dictionary finds the words within the allowed edits", () => {
  const words = fc.uniqueArray(word, { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(words, word, fc.constantFrom(1, 2), (terms, term, maxTypos) => {
      const title = terms.join(" ");
      const { engine, snapshot } = makeCatalogue(module, workbench, [[{ id: "1", title }]], () => false);
      const asked = { term, exact: false, prefix: false, typoPrefix: false, maxTypos };
      const program = { slots: [0], words: [asked] };
      const answer = decodeExpandResult(engine.expand(snapshot, encodeExpand(program)), program);
      const near = terms.filter((one) => one !== term && editsWithin(term, one, maxTypos));
      expect(answer.words[0]!.typos!.map((typo) => typo.term).sort()).toEqual(near.sort());
    }),
    { numRuns: 100 },
  );
});

test("a typo costs nothing without an edit, otherwise at least half the cheapest double edit per edit", () => {
  const cheapest = 75 / 2; // half of the cheapest double edit: f for ph
  fc.assert(
    fc.property(word, word, (typed, term) => {
      const cost = new TypoCosts(typed, false).of(term);
      expect(cost === 0).toBe(editsWithin(typed, term, 0));
      expect(editsWithin(typed, term, Math.floor(cost / cheapest))).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
