// Choosing how words may match, based only on counts that are summed over all shards: near terms, suspected
// typos, weights.
import { describe, expect, it } from "vitest";
import { ALT_EXACT, ALT_JOINED, ALT_PREFIX, ALT_TYPO } from "../../../../../engine-wasm/assembly/layout.js";
import type { ExpandResult, TypoExpansion } from "../../../../../engine-wasm/host/programs/expand-result.js";
import type { SearchWord } from "../../../../../engine-wasm/host/programs/search-program.js";
import { run } from "../../../../../server/ground/jobs/work.js";
import {
  type Additions,
  foundWord,
  searchWords,
  type WordFindings,
} from "../../../../../server/question/words/alternatives.js";
import { inverseFrequency } from "../../../../../server/question/words/inverse-frequency.js";
import type { QueryWord } from "../../../../../server/question/words/query-text.js";
import { sumExpansions } from "../../../../../server/question/words/sum-expansions.js";
import {
  costOfWord,
  type LikelyTypo,
  likelyTypos,
} from "../../../../../server/question/words/typos/noisy-channel.js";
import { limitTypos, type RankedTypo } from "../../../../../server/question/words/typos/ranked-typos.js";
import type { Form } from "../../../../../server/question/words/variants.js";
import type { QueryPlan } from "../../../../../server/search/matching/plan.js";
import { expander, MadeDictionary, typo } from "./made-dictionary.js";

const kinds = (words: {
  words: readonly { alternatives: readonly { kind: number; typos: number }[] }[];
}): number[][] => words.words.map((word) => word.alternatives.map((one) => one.typos));

describe("near terms", () => {
  it("are not wanted for a common word, and nothing is asked about them", async () => {
    const dictionary = new MadeDictionary(10_000, { shirts: 500 }, { shirts: [typo("skirts", 1, 9_000)] });
    const words = expander(dictionary, "auto", ["shirts", 1]);
    const written = await run(words.asWritten());
    expect(kinds(written)).toEqual([[0]]);
    expect(await run(words.withDoubts(written))).toBeNull();
    expect(dictionary.asked).toHaveLength(1);
  });

  it("of a missing word are searched, the likeliest first", async () => {
    const near = [typo("iphone", 1, 3), typo("ihone", 2, 1), typo("iphnoes", 1, 2)];
    const dictionary = new MadeDictionary(100, {}, { iphnoe: near });
    const words = await run(expander(dictionary, "auto", ["iphnoe", 2]).asWritten());
    expect(words.typos.get(0)?.map(({ term }) => term)).toEqual(["iphone", "iphnoes", "ihone"]);
    expect(kinds(words)).toEqual([[1, 1, 2]]);
  });

  it("of a rare word are searched if one of them is far more frequent", async () => {
    const doubts = async (documents: number) => {
      const near = [typo("receive", 1, documents), typo("retrieve", 2, 9)];
      const dictionary = new MadeDictionary(100_000, { recieve: 10 }, { recieve: near });
      const words = expander(dictionary, "auto", ["recieve", 2], ["nowhere", 0]);
      const written = await run(words.asWritten());
      expect(kinds(written)).toEqual([[0], []]);
      const doubted = await run(words.withDoubts(written));
      return doubted === null ? null : [kinds(doubted), [...doubted.corrections]];
    };
    expect(await doubts(200)).toEqual([[[0, 1], []], [[0, "receive"]]]);
    expect(await doubts(100)).toBeNull();
  });

  it("of a query's only word are searched if hardly any document contains it", async () => {
    const near = [typo("recipe", 1, 1), typo("receive", 1, 9)];
    const typosOf = async (documents: number, frequency: number) => {
      const dictionary = new MadeDictionary(documents, { recieve: frequency }, { recieve: near });
      const words = await run(expander(dictionary, "auto", ["recieve", 2]).asWritten());
      return words.typos.get(0)?.map(({ term }) => term);
    };
    expect(await typosOf(2_000, 2)).toEqual(["receive", "recipe"]);
    expect(await typosOf(2_000, 3)).toBeUndefined();
    expect(await typosOf(999, 1)).toBeUndefined();
  });

  it("are chosen by how well they go with the other words", async () => {
    const near = { phono: [typo("photo", 1, 4_000), typo("phone", 1, 80)] };
    const best = async (together: Record<string, number>) => {
      const dictionary = new MadeDictionary(20_000, { charger: 45 }, near, {}, together);
      const words = await run(expander(dictionary, "auto", ["phono", 1], ["charger", 0]).asWritten());
      expect(dictionary.companies).toBe(1);
      return words.corrections.get(0);
    };
    expect(await best({})).toBe("photo");
    expect(await best({ "phone charger": 20 })).toBe("phone");
  });

  it("cast doubt on a word that never occurs with the others", async () => {
    const doubts = async (together: Record<string, number>) => {
      const frequencies = { hdmi: 245, cale: 3 };
      const near = { cale: [typo("cable", 1, 3_000)] };
      const dictionary = new MadeDictionary(20_000, frequencies, near, {}, together);
      const words = expander(dictionary, "auto", ["hdmi", 0], ["cale", 1]);
      const doubted = await run(words.withDoubts(await run(words.asWritten())));
      return doubted === null ? null : kinds(doubted);
    };
    expect(await doubts({ "cable hdmi": 200 })).toEqual([[0], [0, 1]]);
    expect(await doubts({ "cable hdmi": 200, "cale hdmi": 30 })).toBeNull();
  });

  it("follow the policy", async () => {
    const make = (): MadeDictionary =>
      new MadeDictionary(50, { a: 1 }, { a: [typo("ab", 1, 40)], c: [typo("cd", 1, 1)] });
    expect(kinds(await run(expander(make(), "always", ["a", 1], ["c", 1]).asWritten()))).toEqual([
      [0, 1],
      [1],
    ]);
    expect(kinds(await run(expander(make(), "missing", ["a", 1], ["c", 1]).asWritten()))).toEqual([[0], [1]]);
    expect(kinds(await run(expander(make(), "auto", ["a", 1], ["c", 1]).asWritten()))).toEqual([[0], [1]]);
    expect(kinds(await run(expander(make(), "always", ["a", 0], ["c", 0]).asWritten()))).toEqual([[0], []]);
  });
});

describe("suspects", () => {
  const asked = async (policy: QueryPlan["typoPolicy"]) => {
    const dictionary = new MadeDictionary(10_000, { shirts: 500, red: 900 });
    await run(expander(dictionary, policy, ["shirts", 2], ["red", 0]).asWritten());
    return dictionary.asked[0];
  };

  it("are the words that may have typos", async () => {
    const limits = { auto: 0, missing: 0, always: 2 ** 32 - 1 } as const;
    for (const policy of ["auto", "missing", "always"] as const) {
      const few = limits[policy];
      const program = await asked(policy);
      expect(program?.suspects).toEqual([
        { term: "shirts", typoPrefix: false, maxTypos: 2, few, witnesses: [0] },
      ]);
      expect(program?.words[0]?.term).toBe("shirts");
    }
  });

  it("are used only if all shards looked equally far", () => {
    const shard = (maxTypos: number, df: number): ExpandResult => ({
      liveRows: 1,
      slots: [],
      words: [],
      suspects: [{ maxTypos, typos: maxTypos === 0 ? [] : [typo("x", 1, df)] }],
    });
    expect(sumExpansions([shard(2, 1), shard(2, 4)]).suspects).toEqual([
      { maxTypos: 2, typos: [typo("x", 1, 5)] },
    ]);
    for (const other of [0, 1])
      expect(sumExpansions([shard(2, 1), shard(other, 4)]).suspects).toEqual([{ maxTypos: 0, typos: [] }]);
  });
});

describe("a word found in no form", () => {
  const far = { exelent: [typo("excellent", 2, 3)] };
  it("may have more typos, under every policy", async () => {
    for (const policy of ["auto", "missing", "always"] as const) {
      const dictionary = new MadeDictionary(100, {}, far);
      expect(kinds(await run(expander(dictionary, policy, ["exelent", 1, 2]).asWritten()))).toEqual([[2]]);
      expect(dictionary.asked.map(({ words }) => words[0]?.maxTypos)).toEqual([0, 1, 2]);
    }
    expect(
      kinds(await run(expander(new MadeDictionary(100, {}, far), "auto", ["exelent", 1]).asWritten())),
    ).toEqual([[]]);
  });

  it("is not looked up again if it is found, or has a typo that is", async () => {
    const near = new MadeDictionary(100, {}, { exelent: [...far.exelent, typo("exelents", 1, 1)] });
    const words = await run(expander(near, "auto", ["exelent", 1, 2]).asWritten());
    expect(words.words[0]?.alternatives.flatMap(({ terms }) => terms.map(({ term }) => term))).toEqual([
      "exelents",
    ]);
    const known = new MadeDictionary(100, { exelent: 1 }, far);
    expect(kinds(await run(expander(known, "always", ["exelent", 1, 2]).asWritten()))).toEqual([[0]]);
    expect(known.asked).toHaveLength(2);
  });
});

/** Ranks typos by their edits and frequencies only, without the query's other words. */
function likely(typos: RankedTypo[]): LikelyTypo[] {
  const context = { liveRows: 1_000, words: [] };
  const costs = typos.map(({ frequencies }) =>
    costOfWord({ documents: frequencies[0]!, together: [] }, context),
  );
  return likelyTypos(typos, costs, { cost: 145, doubt: Number.POSITIVE_INFINITY }, () => 0);
}

const NO_FINDINGS: WordFindings = { exact: 0, literal: 0, prefix: null, infixes: [], stem: null, splits: [] };

/** Returns the words to search for, given what the dictionaries contain for each. */
function searched(
  words: readonly QueryWord[],
  findings: readonly Partial<WordFindings>[],
  additions: Partial<Additions>,
  documents: number,
): SearchWord[] {
  const weighing = { documents, languages: [] };
  const found = words.map((word, i) => foundWord(word, { ...NO_FINDINGS, ...findings[i] }, weighing));
  const all = { shared: [], splits: new Map(), typos: new Map(), ...additions };
  return searchWords(words, found, all, weighing);
}

describe("alternatives", () => {
  const word = { terms: ["shoe"], prefix: true, typosMax: 2, typosAtLast: 2, quoted: false, count: 1 };
  it("are weighted in this order: the word, its prefixes, its typos", () => {
    const typos = [typo("shoo", 1, 1), typo("shone", 1, 2), typo("shovel", 1, 2, true), typo("ship", 2, 1)];
    const findings = {
      exact: 10,
      literal: 40,
      prefix: { termCount: 2, frequencies: [30, 0], terms: ["shoes", "shoelace"] },
    };
    const near = { typos: new Map([[0, likely(limitTypos("shoe", true, typos, 64))]]) };
    const [{ weight, alternatives }] = searched([word], [findings], near, 1_000) as [SearchWord];
    expect(
      alternatives.map((one) => [one.kind, one.typos, one.terms.map((term) => term.term).join()]),
    ).toEqual([
      [ALT_EXACT, 0, "shoe"],
      [ALT_PREFIX, 0, "shoe"],
      [ALT_TYPO, 1, "shone"],
      [ALT_TYPO, 1, "shoo"],
      [ALT_TYPO, 2, "shovel"],
      [ALT_TYPO, 2, "ship"],
    ]);
    const idf = inverseFrequency(10, 1_000);
    expect(weight).toBe(idf);
    const boosts = alternatives.map((one) => one.boost);
    expect(boosts.slice(0, 2)).toEqual([idf, inverseFrequency(40, 1_000) * 0.8]);
    expect(boosts.slice(2)).toEqual([...boosts.slice(2)].sort((one, other) => other - one));
    const [unfinished] = searched([word], [{ ...findings, exact: 0 }], near, 1_000) as [SearchWord];
    expect(unfinished.alternatives.slice(0, 2)).toMatchObject([
      { boost: inverseFrequency(40, 1_000) * 0.8, terms: [{ term: "shoe", prefix: true }] },
      { boost: inverseFrequency(40, 1_000) * 0.9, terms: [{ term: "shoes", prefix: false }] },
    ]);
  });

  it("are empty for a word found nowhere", () => {
    const nothing = {
      exact: 0,
      literal: 0,
      prefix: { termCount: 0, frequencies: [0], terms: [] },
    };
    expect(searched([word], [nothing], {}, 10)[0]?.alternatives).toEqual([]);
  });

  it("credit a variant of several words to each by its share of their weights", () => {
    const form: Form = {
      kind: ALT_JOINED,
      terms: ["wifi"],
      sequence: false,
      prefix: false,
      exact: true,
      factor: 0.95,
    };
    const words = ["wi", "fi"].map((term) => ({
      terms: [term],
      prefix: false,
      typosMax: 0,
      typosAtLast: 0,
      quoted: false,
      count: 1,
    }));
    const shared = [{ covers: [0, 1], form, frequency: 4 }];
    const [first, second] = searched(words, [], { shared }, 100) as [SearchWord, SearchWord];
    const boost = inverseFrequency(4, 100) * 0.5 * 0.95;
    expect(first.alternatives).toMatchObject([{ boost, exact: true }]);
    expect(second.alternatives).toMatchObject([{ boost, terms: [{ term: "wifi" }] }]);
  });

  const ranked = (word: string, ...typos: TypoExpansion[]) =>
    limitTypos(word, false, typos, 4).map((one) => [one.term, one.typos]);

  it("count edits as typos, another first letter as two, a plausible pair of edits as one", () => {
    expect(ranked("hat", typo("cat", 1, 99), typo("hut", 1, 1))).toEqual([
      ["hut", 1],
      ["cat", 2],
    ]);
    expect(ranked("comitee", typo("committee", 2, 1), typo("comities", 2, 9))).toEqual([
      ["committee", 1],
      ["comities", 2],
    ]);
    expect(ranked("qpwoeiru", typo("qwertyui", 4, 1))).toEqual([["qwertyui", 4]]);
  });

  it("let document counts decide among equally plausible typos, and between neighbouring cost classes", () => {
    const [rare, frequent] = [typo("cover", 1, 4), typo("color", 1, 40)];
    expect(ranked("coloer", rare, frequent)[0]).toEqual(["color", 1]);
    expect(limitTypos("wod", false, [typo("wed", 1, 1), typo("wad", 1, 2)], 1)[0]?.term).toBe("wad");
  });

  it("prefer a whole term to one that the word may begin, and price only the nearest of very many", () => {
    const begun = limitTypos("iphnoe", true, [typo("iphones", 2, 1), typo("iphone", 1, 1)], 4);
    expect(begun[0]).toMatchObject({ term: "iphone", typos: 1 });
    const far = Array.from({ length: 600 }, (_, i) => typo(`shri${i}`, 2, 1));
    expect(limitTypos("shrit", false, [...far, typo("shirt", 1, 1)], 64)).toHaveLength(64);
    expect(limitTypos("shrit", false, [...far, typo("shirt", 1, 1)], 64)[0]).toMatchObject({
      term: "shirt",
      typos: 1,
    });
  });

  it("give a rare, less likely term no more weight than the likelier ones", () => {
    const near = likely(limitTypos("shrit", false, [typo("shirt", 1, 400), typo("sprit", 1, 1)], 64));
    const typos = new Map([[0, near]]);
    const misspelt = { ...word, terms: ["shrit"] };
    const [found] = searched([misspelt], [{ exact: 1, literal: 1 }], { typos }, 1_000) as [SearchWord];
    const [, first, second] = found.alternatives.map((one) => one.boost) as [number, number, number];
    expect(found.alternatives[1]?.terms).toEqual([{ term: "shirt", prefix: false }]);
    expect(second).toBeLessThan(first);
  });
});

describe("sums over shards", () => {
  it("add counts, join listed terms and drop long lists", () => {
    const shard = (terms: string[] | null, df: number, typos: TypoExpansion[]): ExpandResult => ({
      liveRows: 10,
      slots: [{ totalLength: 40, documents: 8 }],
      words: [
        {
          exact: [df],
          prefix: { termCount: terms?.length ?? 65, frequencies: [df], terms },
          typos,
          infixes: null,
        },
      ],
      suspects: [],
    });
    const sum = sumExpansions([
      shard(["b", "a"], 1, [typo("x", 1, 1)]),
      shard(["c", "a"], 2, [typo("x", 1, 4), typo("y", 2, 1)]),
    ]);
    expect(sum).toEqual({
      liveRows: 20,
      slots: [{ totalLength: 80, documents: 16 }],
      words: [
        {
          exact: [3],
          prefix: { termCount: 3, frequencies: [3], terms: ["a", "b", "c"] },
          typos: [typo("x", 1, 5), typo("y", 2, 1)],
          infixes: null,
        },
      ],
      suspects: [],
    });
    const long = (from: number): string[] => Array.from({ length: 40 }, (_, i) => `t${from + i}`);
    expect(sumExpansions([shard(long(0), 1, []), shard(long(40), 1, [])]).words[0]?.prefix).toMatchObject({
      termCount: 65,
      terms: null,
    });
    expect(sumExpansions([shard(long(0), 1, []), shard(null, 1, [])]).words[0]?.prefix?.terms).toBeNull();
  });
});
