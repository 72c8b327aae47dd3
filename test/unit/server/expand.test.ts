// Choosing how words may match, from global counts only: sums over shards, suspicion of typos, weights.
import { describe, expect, it } from "vitest";
import { ALT_EXACT, ALT_PREFIX, ALT_TYPO } from "../../../engine-wasm/assembly/layout.js";
import type { ExpandProgram } from "../../../engine-wasm/host/expand-program.js";
import type { ExpandResult, TypoExpansion } from "../../../engine-wasm/host/expand-result.js";
import { alternativesOf, inverseFrequency, limitTypos } from "../../../server/coordinator/alternatives.js";
import { sumExpansions, WordExpander } from "../../../server/coordinator/expand.js";
import type { Plan } from "../../../server/coordinator/plan.js";

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
      words: terms.map(([term, typosMax]) => ({ term, prefix: false, typosMax })),
      phrases: [],
      excludes: [],
    },
    program: { slots: [{ slot: 0, weight: 1, averageLength: 0 }] },
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
      new Dictionary(50, { a: 1 }, { a: [typo("b", 1, 40)], c: [typo("d", 1, 1)] });
    expect(kinds(await expander(make(), "always", ["a", 1], ["c", 1]).asWritten())).toEqual([[0, 1], [1]]);
    expect(kinds(await expander(make(), "missing", ["a", 1], ["c", 1]).asWritten())).toEqual([[0], [1]]);
    expect(kinds(await expander(make(), "auto", ["a", 1], ["c", 1]).asWritten())).toEqual([[0], [1]]);
    expect(kinds(await expander(make(), "auto", ["a", 1], ["c", 1]).withAllTypos())).toEqual([[0, 1], [1]]);
    expect(kinds(await expander(make(), "always", ["a", 0], ["c", 0]).asWritten())).toEqual([[0], []]);
  });
});

describe("alternatives", () => {
  const word = { term: "shoe", prefix: true, typosMax: 2 };
  it("weighs the word, its prefixes and its typos in this order", () => {
    const expansion = {
      exact: [10, 4],
      prefix: { termCount: 2, frequencies: [30, 0], terms: ["shoes", "shoelace"] },
      typos: null,
    };
    const typos = [typo("shop", 1, 1), typo("shone", 1, 2), typo("shovel", 1, 2, true), typo("ship", 2, 1)];
    const { weight, alternatives } = alternativesOf(word, expansion, typos, 1_000);
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
    const nothing = { exact: [0], prefix: { termCount: 0, frequencies: [0], terms: [] }, typos: null };
    expect(alternativesOf(word, nothing, [], 10).alternatives).toEqual([]);
  });

  it("keeps the nearest and most frequent typos", () => {
    const all = [typo("d", 2, 99), typo("c", 1, 5, true), typo("b", 1, 1), typo("e", 1, 9), typo("a", 1, 1)];
    expect(limitTypos(all, 4).map((one) => one.term)).toEqual(["e", "a", "b", "c"]);
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
