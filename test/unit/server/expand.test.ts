// Choosing how words may match, from global counts only: sums over shards, suspicion of typos, weights.
import { describe, expect, it } from "vitest";
import { ALT_EXACT, ALT_JOINED, ALT_PREFIX, ALT_TYPO } from "../../../engine-wasm/assembly/layout.js";
import type { ExpandProgram } from "../../../engine-wasm/host/expand-program.js";
import type { ExpandResult, TypoExpansion } from "../../../engine-wasm/host/expand-result.js";
import type { SearchWord } from "../../../engine-wasm/host/search-program.js";
import { inverseFrequency, limitTypos, searchWords } from "../../../server/coordinator/alternatives.js";
import { WordExpander } from "../../../server/coordinator/expand.js";
import type { Plan } from "../../../server/coordinator/plan.js";
import { sumExpansions } from "../../../server/coordinator/sum-expansions.js";
import type { Variant } from "../../../server/coordinator/variants.js";

const typo = (term: string, distance: number, df: number, isPrefix = false): TypoExpansion => ({
  term,
  distance,
  isPrefix,
  frequencies: [df],
});

/** A dictionary of one field: document frequencies by term, neighbours by word. */
class Dictionary {
  readonly asked: ExpandProgram[] = [];
  constructor(
    readonly documents: number,
    readonly frequencies: Record<string, number>,
    readonly neighbours: Record<string, TypoExpansion[]> = {},
  ) {}

  ask = async (program: ExpandProgram): Promise<ExpandResult> => {
    this.asked.push(program);
    return {
      liveRows: this.documents,
      slots: program.slots.map(() => ({ totalLength: this.documents * 4, documents: this.documents })),
      words: program.words.map((word) => ({
        exact: word.exact ? [this.frequencies[word.term] ?? 0] : null,
        prefix: null,
        typos:
          word.maxTypos > 0
            ? (this.neighbours[word.term] ?? []).filter((one) => one.distance <= word.maxTypos)
            : null,
      })),
    };
  };
}

function expander(
  dictionary: Dictionary,
  typoPolicy: Plan["typoPolicy"],
  ...terms: [string, number][]
): WordExpander {
  const plan = {
    text: {
      words: terms.map(([term, typosMax]) => ({ terms: [term], prefix: false, typosMax, count: 1 })),
    },
    variants: [],
    languages: [],
    slots: [0],
    typoPolicy,
    typosPerWordMax: 64,
  } as unknown as Plan;
  return new WordExpander(plan, dictionary.ask);
}
const kinds = (words: {
  words: readonly { alternatives: readonly { kind: number; typos: number }[] }[];
}): number[][] => words.words.map((word) => word.alternatives.map((one) => one.typos));

describe("suspicion", () => {
  it("leaves a common word alone and asks for no typos", async () => {
    const dictionary = new Dictionary(10_000, { shirts: 500 }, { shirts: [typo("skirts", 1, 9_000)] });
    expect(kinds(await expander(dictionary, "auto", ["shirts", 1]).asWritten())).toEqual([[0]]);
    expect(dictionary.asked).toHaveLength(1);
  });

  it("takes all typos of a missing word", async () => {
    const dictionary = new Dictionary(100, {}, { iphnoe: [typo("iphone", 1, 3), typo("ihone", 2, 1)] });
    const words = await expander(dictionary, "auto", ["iphnoe", 2]).asWritten();
    expect(kinds(words)).toEqual([[1, 2]]);
    expect(words.exhausted).toBe(true);
  });

  it("suspects a rare word only beside a far more frequent neighbour", async () => {
    const near = new Dictionary(
      100_000,
      { recieve: 10 },
      { recieve: [typo("receive", 1, 500), typo("relieve", 2, 9)] },
    );
    expect(kinds(await expander(near, "auto", ["recieve", 2]).asWritten())).toEqual([[0, 1, 2]]);
    expect(near.asked).toHaveLength(3);
    const far = new Dictionary(100_000, { recieve: 10 }, { recieve: [typo("receive", 1, 499)] });
    const words = await expander(far, "auto", ["recieve", 2]).asWritten();
    expect(kinds(words)).toEqual([[0]]);
    expect(words.exhausted).toBe(false);
  });

  it("follows the policy", async () => {
    const make = (): Dictionary =>
      new Dictionary(50, { a: 1 }, { a: [typo("ab", 1, 40)], c: [typo("cd", 1, 1)] });
    expect(kinds(await expander(make(), "always", ["a", 1], ["c", 1]).asWritten())).toEqual([[0, 1], [1]]);
    expect(kinds(await expander(make(), "missing", ["a", 1], ["c", 1]).asWritten())).toEqual([[0], [1]]);
    expect(kinds(await expander(make(), "auto", ["a", 1], ["c", 1]).asWritten())).toEqual([[0], [1]]);
    expect(kinds(await expander(make(), "auto", ["a", 1], ["c", 1]).withAllTypos())).toEqual([[0, 1], [1]]);
    expect(kinds(await expander(make(), "always", ["a", 0], ["c", 0]).asWritten())).toEqual([[0], []]);
  });
});

describe("alternatives", () => {
  const word = { terms: ["shoe"], prefix: true, typosMax: 2, count: 1 };
  it("weighs the word, its prefixes and its typos in this order", () => {
    const typos = [typo("shop", 1, 1), typo("shone", 1, 2), typo("shovel", 1, 2, true), typo("ship", 2, 1)];
    const findings = {
      exact: 10,
      literal: 40,
      prefix: { termCount: 2, frequencies: [30, 0], terms: ["shoes", "shoelace"] },
      typos: limitTypos("shoe", typos, 64),
    };
    const [{ weight, alternatives }] = searchWords([word], [findings], [], [], 1_000) as [SearchWord];
    expect(
      alternatives.map((one) => [one.kind, one.typos, one.terms.map((term) => term.term).join()]),
    ).toEqual([
      [ALT_EXACT, 0, "shoe"],
      [ALT_PREFIX, 0, "shoe"],
      [ALT_TYPO, 1, "shone,shop"],
      [ALT_TYPO, 1, "shovel"],
      [ALT_TYPO, 2, "ship"],
    ]);
    const idf = inverseFrequency(10, 1_000);
    expect(weight).toBe(idf);
    expect(alternatives.map((one) => one.boost)).toEqual([
      idf,
      inverseFrequency(40, 1_000) * 0.8,
      idf * 0.6,
      idf * (0.6 * 0.8),
      idf * 0.4,
    ]);
    expect(alternatives[1]).toMatchObject({ useForProximity: true, terms: [{ prefix: true }] });
  });

  it("has none for a word that is nowhere", () => {
    const nothing = { exact: 0, literal: 0, prefix: { termCount: 0, frequencies: [0], terms: [] }, typos: [] };
    expect(searchWords([word], [nothing], [], [], 10)[0]?.alternatives).toEqual([]);
  });

  it("counts a variant of several words for the first and lets it match the others", () => {
    const variant: Variant = {
      covers: [0, 1],
      kind: ALT_JOINED,
      terms: ["wifi"],
      sequence: false,
      prefix: false,
      exact: true,
      factor: 0.95,
    };
    const words = ["wi", "fi"].map((term) => ({ terms: [term], prefix: false, typosMax: 0, count: 1 }));
    const findings = { exact: 0, literal: 0, prefix: null, typos: [] };
    const [first, second] = searchWords(words, [findings, findings], [{ variant, frequency: 4 }], [], 100) as [
      SearchWord,
      SearchWord,
    ];
    expect(first.alternatives).toMatchObject([{ boost: inverseFrequency(4, 100) * 0.95, exact: true }]);
    expect(second.alternatives).toMatchObject([{ boost: 0, terms: [{ term: "wifi" }] }]);
  });

  it("keeps the nearest and most frequent typos; another first letter costs one more", () => {
    const all = [typo("wd", 2, 99), typo("wc", 1, 5, true), typo("wb", 1, 1), typo("we", 1, 9), typo("wa", 1, 1)];
    expect(limitTypos("w", all, 4).map((one) => one.term)).toEqual(["we", "wa", "wb", "wc"]);
    const ranked = limitTypos("hat", [typo("cat", 1, 99), typo("hut", 1, 1)], 4);
    expect(ranked.map((one) => [one.term, one.typos])).toEqual([
      ["hut", 1],
      ["cat", 2],
    ]);
  });
});

describe("sums over shards", () => {
  it("adds counts, joins listed terms and forgets long lists", () => {
    const shard = (terms: string[] | null, df: number, typos: TypoExpansion[]): ExpandResult => ({
      liveRows: 10,
      slots: [{ totalLength: 40, documents: 8 }],
      words: [{ exact: [df], prefix: { termCount: terms?.length ?? 65, frequencies: [df], terms }, typos }],
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
        },
      ],
    });
    const long = (from: number): string[] => Array.from({ length: 40 }, (_, i) => `t${from + i}`);
    expect(sumExpansions([shard(long(0), 1, []), shard(long(40), 1, [])]).words[0]?.prefix).toMatchObject({
      termCount: 65,
      terms: null,
    });
    expect(sumExpansions([shard(long(0), 1, []), shard(null, 1, [])]).words[0]?.prefix?.terms).toBeNull();
  });
});
