// Runs a judged set against a server: every query as it stands, then with one typing error of every kind, and
// what each ranking is worth.

import type { ApiClient } from "../../server/cli/api.js";
import { Random } from "../random.js";
import { type JudgedQuery, type JudgedSet, readDocuments, readQueries } from "./judged-sets.js";
import { type Measures, meanOf, measure } from "./measures.js";
import { type Mode, RankedIndex } from "./ranked-index.js";
import { ERROR_KINDS, type ErrorKind, mistype } from "./typing-error.js";

/** Rows asked for per query. MAP is taken over them, as trec_eval and the baselines do. */
const DEPTH = 1000;

export interface JudgedResult extends ModeResult {
  readonly set: string;
  readonly documents: number;
  readonly queries: number;
  /** The other modes that were asked for. */
  readonly modes: readonly ModeResult[];
}

export interface ModeResult {
  readonly mode: Mode;
  readonly clean: Measures;
  /** The mean over the four kinds of errors. */
  readonly mistyped: Measures;
  /** nDCG@10 by kind of error. */
  readonly mistypedNdcg10: Readonly<Record<ErrorKind, number>>;
  /** nDCG@10 of every query, clean and mean of mistyped, to compare two rankings query by query. */
  readonly perQuery: readonly { id: string; text: string; ndcg10: number; mistypedNdcg10: number }[];
}

export async function runJudged(
  client: ApiClient,
  data: string,
  set: JudgedSet,
  settings: Readonly<Record<string, unknown>>,
  seed: number,
  [first, ...others]: readonly [Mode, ...Mode[]],
): Promise<JudgedResult> {
  const index = await RankedIndex.fill(client, set.name, set.fields, settings, readDocuments(data, set));
  const queries = readQueries(data, set).map((query) => ({ ...query, text: withoutOperators(query.text) }));
  const result = await runMode(index, queries, seed, first);
  const modes: ModeResult[] = [];
  for (const mode of others) modes.push(await runMode(index, queries, seed, mode));
  await index.drop();
  return { set: set.name, documents: index.documents, queries: queries.length, ...result, modes };
}

async function runMode(
  index: RankedIndex,
  queries: readonly JudgedQuery[],
  seed: number,
  mode: Mode,
): Promise<ModeResult> {
  const measured = async (texts: readonly string[]): Promise<Measures[]> => {
    const rankings = await index.rankAll(texts, DEPTH, mode);
    return queries.map((query, i) => measure(rankings[i]!, query.judgments));
  };
  const clean = await measured(queries.map((query) => query.text));
  const mistyped: Measures[][] = [];
  for (const kind of ERROR_KINDS) mistyped.push(await measured(mistypedTexts(queries, kind, seed)));
  return {
    mode,
    clean: meanOf(clean),
    mistyped: meanOf(mistyped.flat()),
    mistypedNdcg10: Object.fromEntries(
      ERROR_KINDS.map((kind, i) => [kind, meanOf(mistyped[i]!).ndcg10]),
    ) as Record<ErrorKind, number>,
    perQuery: queries.map(({ id, text }, i) => ({
      id,
      text,
      ndcg10: clean[i]!.ndcg10,
      mistypedNdcg10: meanOf(mistyped.map((kind) => kind[i]!)).ndcg10,
    })),
  };
}

/**
 * Judged texts are prose from before query languages: a quote or a dash at the start of a word is punctuation
 * there (cranfield's "-dash" would exclude documents).
 */
export function withoutOperators(text: string): string {
  return text.replace(/"/g, " ").replace(/(^|\s)-+/g, "$1");
}

/** Each query's errors depend on the seed, the kind and its place only, not on other sets. */
function mistypedTexts(queries: readonly JudgedQuery[], kind: ErrorKind, seed: number): string[] {
  const random = new Random(seed + ERROR_KINDS.indexOf(kind));
  return queries.map(({ text }) => mistype(text, kind, random) ?? text);
}
