// Which requests a query that uses vectors sends to the shards.

import { describe, expect, it } from "vitest";
import { VECTOR_BYTES, VECTOR_SIZE } from "../../../../../engine-wasm/assembly/layout.js";
import { NO_FILTER } from "../../../../../engine-wasm/host/programs/filter-program.js";
import type { SearchProgram } from "../../../../../engine-wasm/host/programs/search-program.js";
import type { IndexSnapshot } from "../../../../../server/fleet/reads/index-snapshot.js";
import { settled } from "../../../../../server/ground/jobs/work.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { readQueryRequest } from "../../../../../server/question/request/query-request.js";
import type { Matched } from "../../../../../server/search/matching/match.js";
import { planQuery, programOf, type QueryPlan } from "../../../../../server/search/matching/plan.js";
import type { GivenVectors } from "../../../../../server/search/semantic/given-vectors.js";
import { searchByVectors } from "../../../../../server/search/semantic/semantic-search.js";
import { makeRecord, queried } from "../../record.js";
import { answerOf, PLAIN_ROW } from "../encoded-result.js";

const RECORD = makeRecord();
const INDEX = queried(RECORD);
const LENGTHS = { present: [4], all: [4] };
const WORD = {
  weight: 1,
  alternatives: [{ kind: 0, terms: [] }],
} as unknown as SearchProgram["words"][number];
const BURY = { effect: "bury", weight: 0, filter: NO_FILTER } as const;

/** Returns a result that has these rows and reports this number of documents found. */
const resultOf = (found: number, ...seqs: number[]) =>
  answerOf(
    { found, rows: seqs.map((seq) => ({ ...PLAIN_ROW, seq, textMatch: 2 ** 24, keys: [1n] })) },
    { sort: [{ by: "relevance", descending: true }] },
  );

/**
 * Runs a query that has no full matches, with or without `vector`. Returns the searches that it sends, and
 * their modes.
 */
async function asked(vector: boolean, change: Partial<QueryPlan> = {}) {
  const request = readQueryRequest({ q: "red shoes" }, INDEX, DEFAULT_LIMITS);
  const scale = { shards: 1, documents: 1_000, documentsMax: 1_000 };
  const plan = { ...planQuery(request, INDEX, scale), ...change };
  const searches: string[] = [];
  const words = { words: [WORD], lengths: LENGTHS, corrections: new Map() };
  const matched = (mode: SearchProgram["mode"], found: number, relaxation: object | null): Matched =>
    ({
      program: programOf(plan, mode, words.words, LENGTHS),
      results: [resultOf(found)],
      documents: new Map(),
      words,
      fullMatches: 0,
      relaxation,
    }) as unknown as Matched;
  const byWords = matched("all", 0, {
    matched: () => {
      searches.push("relaxed");
      return matched("any", 8, null);
    },
  });
  const snapshot = {
    shards: 1,
    search: async () => {
      searches.push("candidates");
      return [resultOf(7, 1, 2)];
    },
    searchPage: async ({ mode }: SearchProgram) => {
      searches.push(`page ${mode}`);
      return { results: [resultOf(9, 1, 2)], documents: new Map() };
    },
    embed: async (_shard: number, _terms: unknown, seqs: number[]) => ({
      query: vector ? new Float32Array(VECTOR_SIZE).fill(VECTOR_SIZE ** -0.5) : null,
      vectors: new Uint8Array(seqs.length * VECTOR_BYTES),
    }),
    nearest: async () => [
      {
        compared: 1,
        seqs: Float64Array.of(3),
        distances: Uint16Array.of(1),
        estimates: Float32Array.of(0.5),
      },
    ],
    similarities: async (_shard: number, _query: unknown, seqs: number[]) =>
      Float32Array.from(seqs, (seq) => 1 / seq),
  } as unknown as IndexSnapshot;
  const givenVectors = {
    of: () => settled({ vector: null, failed: false }),
  } as unknown as GivenVectors;
  const question = { request, index: INDEX, plan, byWords, snapshot, givenVectors };
  const page = { offset: 0, count: 10, options: {} };
  const searched = await searchByVectors(question, { page: () => page });
  const neighbours = searched.matched.program.neighbours?.rows.map(({ seq }) => seq) ?? [];
  return { searches, mode: searched.mode, found: searched.foundByWords, neighbours: neighbours.sort() };
}

describe("a query that no document matches with all words", () => {
  it("is answered with neighbours instead of being relaxed", async () => {
    expect(await asked(true)).toEqual({
      searches: ["candidates", "page any"],
      mode: "hybrid",
      found: 7,
      neighbours: [1, 2, 3],
    });
  });

  it("is relaxed when it has no vector", async () => {
    expect(await asked(false)).toEqual({
      searches: ["candidates", "relaxed"],
      mode: "keyword",
      found: 8,
      neighbours: [],
    });
  });

  it("is relaxed, too, if the candidates do not show how many documents the words find", async () => {
    const buried = await asked(true, { relaxedRules: [BURY] });
    expect(buried).toMatchObject({ searches: ["candidates", "page any", "relaxed"], found: 8 });
  });
});
