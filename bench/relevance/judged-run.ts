// Runs a judged set against a server: sends every query in its original form and in its variants
// (query-variants.ts) and measures each ranking.

import type { ApiClient } from "../../server/cli/api.js";
import { type JudgedQuery, type JudgedSet, readDocuments, readQueries } from "./judged-sets.js";
import { type Measures, mean, meanOf, measure } from "./measures.js";
import { type Variant, variantTexts } from "./query-variants.js";
import { type Asking, type Mode, RankedIndex } from "./ranked-index.js";
import { ERROR_KINDS, hitsWordOf } from "./typing-error.js";

/** Number of rows requested if MAP is reported: trec_eval and the baselines compute MAP over 1,000 rows. */
const MAP_DEPTH = 1000;
/** Number of rows requested if MAP is not reported. */
const PAGE_DEPTH = 100;
/** The default of min_len_1typo: in shorter words the engine tolerates no typo. */
const FORGIVEN_LETTERS_MIN = 4;

export const WITHOUT_UNDERSTANDING = "clean, without understanding";

export interface JudgedResult extends ModeResult {
  readonly set: string;
  readonly documents: number;
  readonly queries: number;
  /** Results of all modes but the first. */
  readonly modes: readonly ModeResult[];
}

/**
 * nDCG@10 by query form: clean, and one form per kind of typing error. The first mode adds the forms short
 * and natural and, if it is keyword, WITHOUT_UNDERSTANDING.
 */
export type FiguresByForm = Readonly<Record<string, number>>;

export interface ModeResult {
  readonly mode: Mode;
  readonly clean: Measures;
  /** Mean over the four kinds of typing error. */
  readonly mistyped: Measures;
  readonly ndcg10: FiguresByForm;
  /** nDCG@10 over the queries whose misspelt word is long enough for typo tolerance. */
  readonly forgivable: { readonly queries: number; readonly clean: number; readonly mistyped: number };
  /** Used to compare two rankings query by query. */
  readonly perQuery: readonly {
    readonly id: string;
    readonly text: string;
    readonly ndcg10: FiguresByForm;
  }[];
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
  const queries = askedQueries(data, set);
  const result = await runMode(index, queries, seed, first, furtherForms(first));
  const modes: ModeResult[] = [];
  for (const mode of others) modes.push(await runMode(index, queries, seed, mode, []));
  await index.drop();
  return { set: set.name, documents: index.documents, queries: queries.length, ...result, modes };
}

/** The judged queries, without operators, as sent to the server. */
function askedQueries(data: string, set: JudgedSet): JudgedQuery[] {
  return readQueries(data, set).map((query) => ({ ...query, text: withoutOperators(query.text) }));
}

/** Sends all queries in one form and measures every ranking. The results are in query order. */
async function askAll(
  index: RankedIndex,
  queries: readonly JudgedQuery[],
  variant: Variant,
  seed: number,
  asking: Asking,
): Promise<Measures[]> {
  const texts = queries.map((query) => query.text);
  const rankings = await index.rankAll(variantTexts(texts, variant, seed), asking);
  return queries.map((query, i) => measure(rankings[i]!, query.judgments));
}

interface Form {
  readonly name: string;
  readonly variant: Variant;
  readonly ai?: boolean;
}

/**
 * Returns the forms used only in the first mode. One of them turns query understanding off, to show its
 * effect on keyword queries.
 */
function furtherForms(mode: Mode): Form[] {
  const forms: Form[] = [
    { name: "short", variant: "short" },
    { name: "natural", variant: "natural" },
  ];
  if (mode === "keyword") forms.unshift({ name: WITHOUT_UNDERSTANDING, variant: "clean", ai: false });
  return forms;
}

async function runMode(
  index: RankedIndex,
  queries: readonly JudgedQuery[],
  seed: number,
  mode: Mode,
  further: readonly Form[],
): Promise<ModeResult> {
  const asked = { mode, depth: MAP_DEPTH };
  const clean = await askAll(index, queries, "clean", seed, asked);
  const byForm: Record<string, Measures[]> = { clean };
  for (const { name, variant, ai } of further)
    byForm[name] = await askAll(index, queries, variant, seed, { mode, depth: PAGE_DEPTH, ai });
  const mistyped: Measures[][] = [];
  for (const kind of ERROR_KINDS) {
    const measured = await askAll(index, queries, kind, seed, asked);
    byForm[kind] = measured;
    mistyped.push(measured);
  }
  const figures = (of: (all: Measures[]) => number): FiguresByForm =>
    Object.fromEntries(Object.entries(byForm).map(([form, all]) => [form, of(all)]));
  const forgivable = queries.flatMap(({ text }, i) => (hitsWordOf(FORGIVEN_LETTERS_MIN, text) ? [i] : []));
  return {
    mode,
    clean: meanOf(clean),
    mistyped: meanOf(mistyped.flat()),
    ndcg10: figures((all) => meanOf(all).ndcg10),
    forgivable: {
      queries: forgivable.length,
      clean: mean(forgivable.map((i) => clean[i]!.ndcg10)),
      mistyped: mean(forgivable.flatMap((i) => mistyped.map((kind) => kind[i]!.ndcg10))),
    },
    perQuery: queries.map(({ id, text }, i) => ({ id, text, ndcg10: figures((all) => all[i]!.ndcg10) })),
  };
}

/**
 * Removes operators. The judged texts predate query languages, so a quote or a dash before a word is
 * punctuation: taken literally, cranfield's "-dash" would exclude documents.
 */
export function withoutOperators(text: string): string {
  return text.replace(/"/g, " ").replace(/(^|\s)-+/g, "$1");
}
