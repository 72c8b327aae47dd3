// Random stories for an index with pushed vectors: the usual stories, with vectors added to documents and
// queries. The vectors come from a small pool, so that many are equal, some are close and some are opposite.
import fc from "fast-check";
import { Random } from "../../bench/random.js";
import type { Query } from "../oracle/query.js";
import type { Document, Json } from "../oracle/segments/values.js";
import type { Settings } from "../oracle/settings.js";
import { type Story, story, type Write } from "./generators.js";

const NUMBERS = 512;
const DIRECTIONS = 3;
const MIXTURES = 12;

function randomPool(): number[][] {
  const random = new Random(12);
  const rounded = (value: number): number => Math.round(value * 1000) / 1000;
  const directions = Array.from({ length: DIRECTIONS }, () =>
    Array.from({ length: NUMBERS }, () => rounded(random.next() - 0.5)),
  );
  const mixtures = Array.from({ length: MIXTURES }, () =>
    directions.map(() => Math.round(4 * random.next()) - 1),
  );
  const mixed = mixtures
    .filter((shares) => shares.some((share) => share !== 0))
    .map((shares) =>
      Array.from({ length: NUMBERS }, (_, i) =>
        rounded(shares.reduce((sum, share, one) => sum + share * directions[one]![i]!, 0)),
      ),
    );
  return [
    ...directions,
    ...mixed,
    directions[0]!.map((value) => -value),
    new Array(NUMBERS).fill(0).with(7, 1),
  ];
}

const POOL = randomPool();
/** Invalid vectors. */
const WRONG: Json[] = [
  POOL[0]!.slice(1),
  new Array(NUMBERS).fill(0),
  [...POOL[0]!, 1],
  "0.1",
  POOL[1]!.map(String),
];

/** A position in the pool; -1 for no vector, -2 for null, lower for an invalid vector. */
const pick = fc.oneof(
  { weight: 12, arbitrary: fc.nat(POOL.length - 1) },
  { weight: 3, arbitrary: fc.constant(-1) },
  { weight: 1, arbitrary: fc.integer({ min: -2 - WRONG.length, max: -2 }) },
);

function embeddingOf(number: number): { embedding?: Json } {
  if (number === -1) return {};
  return { embedding: number === -2 ? null : number >= 0 ? POOL[number]! : WRONG[-number - 3]! };
}

const semantic: fc.Arbitrary<Settings["semantic"]> = fc.record({
  auto_max_full_matches: fc.constantFrom(0, 1, 3, 10, 1000),
  min_similarity: fc.constantFrom(0, 0.3, 0.6, 0.95, 1),
  // With few candidates, estimates decide which documents are compared exactly, and the query's vector is
  // drawn towards more documents than there are candidates.
  candidates: fc.constantFrom(1, 2, 4, 20, 200),
});

/** A story that refers to vectors by their position in the pool, to keep failures readable. */
export interface VectorStory extends Story {
  semantic: Settings["semantic"];
  picks: number[];
  asked: { mode: string | undefined; vector: number }[];
}

export function vectorStory(
  writesMax: number,
  changesMax: number,
  queriesMax: number,
): fc.Arbitrary<VectorStory> {
  const mode = fc.constantFrom("semantic", "hybrid", "hybrid", "auto", "keyword", undefined);
  const vector = fc.oneof(
    { weight: 6, arbitrary: fc.nat(POOL.length - 1) },
    { weight: 1, arbitrary: fc.constant(-1) },
  );
  return fc
    .record({
      told: story(writesMax, changesMax, queriesMax),
      semantic,
      picks: fc.array(pick, { minLength: 40, maxLength: 40 }),
      asked: fc.array(fc.record({ mode, vector }), { minLength: queriesMax, maxLength: queriesMax }),
    })
    .map(({ told, ...rest }) => ({ ...told, ...rest }));
}

export function settingsOf({ settings, semantic: chosen }: VectorStory): Partial<Settings> {
  return { ...settings, embedder: { source: "pushed" }, semantic: chosen };
}

/** The story's writes, with the vectors added to their documents. */
export function writesOf({ writes, picks }: VectorStory): Write[] {
  let next = 0;
  const embedding = () => embeddingOf(picks[next++ % picks.length]!);
  return writes.map((write): Write => {
    if (write.kind === "patch") return { ...write, changes: { ...write.changes, ...embedding() } };
    if (write.kind !== "batch" || write.action === "delete") return write;
    return { ...write, documents: write.documents.map((one): Document => ({ ...one, ...embedding() })) };
  });
}

export function queriesOf({ queries, asked }: VectorStory): Query[] {
  return queries.map((query, i) => {
    const { mode, vector } = asked[i]!;
    return {
      ...query,
      ...(mode === undefined ? {} : { search_mode: mode }),
      ...(vector < 0 ? {} : { vector: POOL[vector]! }),
    };
  });
}
