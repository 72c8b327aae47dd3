// Words inside longer words: for which words they are looked up, how they match, and how the counts of
// several shards are summed.
import { describe, expect, it } from "vitest";
import { ALT_EXACT, ALT_INFIX } from "../../../../../engine-wasm/assembly/layout.js";
import type { ExpandResult, InfixExpansion } from "../../../../../engine-wasm/host/programs/expand-result.js";
import { run } from "../../../../../server/ground/jobs/work.js";
import { infixQuestion } from "../../../../../server/question/words/infixes.js";
import { inverseFrequency } from "../../../../../server/question/words/inverse-frequency.js";
import { sumExpansions } from "../../../../../server/question/words/sum-expansions.js";
import { expander, infix, MadeDictionary, typo } from "./made-dictionary.js";

describe("words inside longer ones", () => {
  const containing = { phone: [infix("iphone", 20), infix("smartphone", 5)] };

  it("rank below prefixes and level with one typo", async () => {
    const dictionary = new MadeDictionary(1_000, { phone: 3 }, {}, containing);
    const { words } = await run(expander(dictionary, "auto", ["phone", 1]).asWritten());
    expect(words[0]?.alternatives).toMatchObject([
      { kind: ALT_EXACT, typos: 0 },
      {
        kind: ALT_INFIX,
        typos: 1,
        exact: false,
        infixOnly: true,
        boost: inverseFrequency(25, 1_000) * 0.7,
        terms: [
          { term: "iphone", prefix: false },
          { term: "smartphone", prefix: false },
        ],
      },
    ]);
  });

  it("make a word known: it is not replaced by another one, and gets their weight", async () => {
    const typos = { phone: [typo("phony", 1, 900)] };
    const unknown = new MadeDictionary(1_000, {}, typos);
    expect((await run(expander(unknown, "auto", ["phone", 1]).asWritten())).corrections.get(0)).toBe("phony");
    const dictionary = new MadeDictionary(1_000, {}, typos, containing);
    const found = await run(expander(dictionary, "auto", ["phone", 1]).asWritten());
    expect(found.corrections.size).toBe(0);
    expect(found.frequencies).toEqual([25]);
    expect(found.words[0]).toMatchObject({
      weight: inverseFrequency(25, 1_000),
      alternatives: [{ kind: ALT_INFIX }],
    });
  });

  it("are looked up only for single words of three letters or more", () => {
    const asked = { terms: ["usb"], prefix: false, typosMax: 0, typosAtLast: 0, quoted: false, count: 1 };
    expect(infixQuestion(asked)).toMatchObject({ term: "usb", infix: "anywhere", exact: false });
    expect(infixQuestion({ ...asked, prefix: true })?.infix).toBe("inside");
    expect(infixQuestion({ ...asked, quoted: true })).toBeNull();
    expect(infixQuestion({ ...asked, terms: ["us"] })).toBeNull();
    expect(infixQuestion({ ...asked, terms: ["𝒳𝒳"] })).toBeNull();
    expect(infixQuestion({ ...asked, terms: ["東", "京"] })).toBeNull();
  });

  it("are limited to the shortest terms, by bytes and then in byte order", () => {
    const shard = (...infixes: InfixExpansion[]): ExpandResult => ({
      liveRows: 10,
      slots: [{ totalLength: 40, documents: 8 }],
      words: [{ exact: null, prefix: null, typos: null, infixes }],
      suspects: [],
    });
    const few = sumExpansions([
      shard(infix("aphone", 1), infix("éphone", 3)),
      shard(infix("phones", 2), infix("aphone", 4), infix("xxphone", 1)),
    ]);
    expect(few.words[0]?.infixes).toEqual([
      infix("aphone", 5),
      infix("phones", 2),
      infix("xxphone", 1),
      infix("éphone", 3),
    ]);
    const many = (from: number): InfixExpansion[] =>
      Array.from({ length: 200 }, (_, i) => infix(`phone${from + i}`, 1));
    const kept = sumExpansions([shard(...many(500)), shard(...many(100), infix("xphone", 1))]).words[0]
      ?.infixes;
    expect(kept).toHaveLength(256);
    expect(kept?.slice(0, 2).map(({ term }) => term)).toEqual(["xphone", "phone100"]);
    expect(kept?.at(-1)?.term).toBe("phone554");
  });
});
