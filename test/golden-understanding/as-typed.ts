// Queries that must stay as typed: titles, idioms, model numbers and brands whose words look like ranges,
// units, negations or requests, in four languages. Knows nothing of the catalogues.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { expectStatus, type TestServer } from "../e2e/world/harness.js";
import type { AiContext } from "./judged.js";

interface AsTyped {
  readonly q: string;
  readonly language: "en" | "de" | "fr" | "es";
  readonly kind: "title" | "idiom" | "model" | "brand";
}

/** Maximum share of the queries that may be rewritten in a catalogue. */
const REWRITTEN_SHARE_MAX = 0.01;

const QUERIES: readonly AsTyped[] = readFileSync(join(import.meta.dirname, "as-typed.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as AsTyped);

/** Number of queries in a request. */
const QUERIES_A_REQUEST = 50;

/** Asks an index for all of the queries, prints those that were rewritten, and expects them to be few. */
export async function expectAsTyped(server: TestServer, index: string): Promise<void> {
  const rewritten: string[] = [];
  for (let from = 0; from < QUERIES.length; from += QUERIES_A_REQUEST) {
    const asked = QUERIES.slice(from, from + QUERIES_A_REQUEST);
    const searches = asked.map(({ q }) => ({ index, q, per_page: 1 }));
    const reply = await server.post("/v1/multi-search", { searches });
    expectStatus(reply, 200);
    const results = reply.json.data.results as { ai_context: AiContext | null }[];
    expect(results).toHaveLength(asked.length);
    rewritten.push(...asked.flatMap((query, i) => toldOf(query, results[i]!.ai_context)));
  }
  console.info(`${index}: ${rewritten.length} of ${QUERIES.length} rewritten\n  ${rewritten.join("\n  ")}`);
  expect(rewritten.length / QUERIES.length).toBeLessThanOrEqual(REWRITTEN_SHARE_MAX);
}

function toldOf({ q, language, kind }: AsTyped, context: AiContext | null): string[] {
  if (context === null) return [];
  const { filter_by, sort_by, avoided } = context.applied_filters;
  const read = [filter_by, sort_by, ...avoided.map((word) => `not:${word}`)].filter((one) => one !== null);
  return [`${q} (${language}, ${kind}): ${[context.rewritten_query, ...read].join(", ")}`];
}
