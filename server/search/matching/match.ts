// Finds a query's documents, first with the query as written, then with likely corrections, then relaxed to
// "any word". Each step runs only if the previous step found too few documents, judged by the sum over all
// shards. The last step runs only on demand, because vector search may replace it.
import { ALT_EXACT } from "../../../engine-wasm/assembly/layout.js";
import type { SearchAlternative, SearchProgram } from "../../../engine-wasm/host/programs/search-program.js";
import type { SearchResult } from "../../../engine-wasm/host/programs/search-result.js";
import type { FetchedDocument } from "../../../shards/protocol/fetch.js";
import type { IndexSnapshot } from "../../fleet/reads/index-snapshot.js";
import type { PageWanted } from "../../fleet/reads/likely-rows.js";
import { Dictionaries } from "../../question/words/dictionaries.js";
import { type ExpandedWords, WordExpander } from "./expand.js";
import { withShares } from "./facets.js";
import { programOf, type QueryPlan } from "./plan.js";

export interface Matched {
  /** The program that ran, with the words that were actually searched for. */
  readonly program: SearchProgram;
  /** One result per shard, by shard number. */
  readonly results: readonly SearchResult[];
  /** Documents that the shards sent along with their rows, by sequence number. */
  readonly documents: ReadonlyMap<number, FetchedDocument>;
  /** Null for a query without words. */
  readonly words: ExpandedWords | null;
  /**
   * Number of documents that match all words. If the search was relaxed to any word, `results` contains more.
   */
  readonly fullMatches: number;
  /**
   * Finds the documents that contain any of the words. Repeated calls return the first call's result. Null if
   * enough documents were found, if the query has fewer than two words, or if it is already relaxed.
   */
  readonly relax: (() => Promise<Matched>) | null;
}

const NO_PAGE: PageWanted = { offset: 0, count: 0, options: {} };

type Attempt = Omit<Matched, "fullMatches" | "relax">;

/** Returns which rows of a program's result the page will show, and which parts of their documents. */
export type PageOf = (program: SearchProgram) => PageWanted;

/**
 * Finds the documents that contain all words. If there are too few, finds those that contain any of the
 * words.
 */
export async function matchQuery(plan: QueryPlan, snapshot: IndexSnapshot, pageOf: PageOf): Promise<Matched> {
  return relaxed(await matchAllWords(plan, snapshot, pageOf));
}

/** Relaxes the search to "any word" if too few documents contain all words. */
export async function relaxed(matched: Matched): Promise<Matched> {
  return matched.relax === null ? matched : matched.relax();
}

/** Finds the documents that contain all words, as written or else with likely corrections. */
export async function matchAllWords(
  plan: QueryPlan,
  snapshot: IndexSnapshot,
  pageOf: PageOf,
): Promise<Matched> {
  const attempt = (mode: SearchProgram["mode"], words: ExpandedWords): Promise<Attempt> => {
    const program = programOf(plan, mode, words.words, words.lengths);
    const live = words.words.filter((word) => word.alternatives.length > 0).length;
    const hopeless =
      plan.program.pins.length === 0 && (mode === "all" ? live < words.words.length : live === 0);
    return hopeless
      ? Promise.resolve(nothing(program, words, snapshot))
      : runProgram(program, words, snapshot, pageOf);
  };
  if (plan.text.words.length === 0) return counted(await runProgram(plan.program, null, snapshot, pageOf));
  const expander = new WordExpander(plan, new Dictionaries(snapshot, plan.typosPerWordMax));
  let words = await expander.asWritten();
  let best = await attempt("all", words);
  if (plan.typoPolicy === "auto" && words.words.length > 1 && matches(best) === 0) {
    const doubted = await expander.withDoubts(words);
    if (doubted !== null) {
      const corrected = await attempt("all", doubted);
      if (matches(corrected) > 0) [words, best] = [doubted, corrected];
    }
  }
  if (matches(best) >= plan.dropThreshold || words.words.length === 1) return counted(best);
  const fullMatches = matches(best);
  let relaxing: Promise<Matched> | null = null;
  const relax = (): Promise<Matched> => {
    relaxing ??= attempt(plan.relaxedMode, words).then((any) => ({ ...any, fullMatches, relax: null }));
    return relaxing;
  };
  return { ...best, fullMatches, relax };
}

function counted(attempt: Attempt): Matched {
  return { ...attempt, fullMatches: matches(attempt), relax: null };
}

/**
 * Returns the number of documents that match all words. Fetches no documents. The plan must request a page
 * without rows.
 */
export async function countFull(plan: QueryPlan, snapshot: IndexSnapshot): Promise<number> {
  return (await matchAllWords(plan, snapshot, () => NO_PAGE)).fullMatches;
}

/**
 * Returns the number of documents that match all words and contain at least one of the phrases, given as
 * terms.
 */
export async function countSaying(
  plan: QueryPlan,
  phrases: readonly (readonly string[])[],
  snapshot: IndexSnapshot,
): Promise<number> {
  const expander = new WordExpander(plan, new Dictionaries(snapshot, plan.typosPerWordMax));
  const { words, lengths } = await expander.asWritten();
  const alternatives = phrases.map(phraseAlternative);
  const program = programOf(plan, "all", [...words, { weight: 0, alternatives }], lengths);
  return matches(await runProgram(program, null, snapshot, () => NO_PAGE));
}

function phraseAlternative(terms: readonly string[]): SearchAlternative {
  return {
    kind: ALT_EXACT,
    typos: 0,
    exact: false,
    sequence: terms.length > 1,
    useForProximity: false,
    boost: 0,
    terms: terms.map((term) => ({ term, prefix: false })),
  };
}

/**
 * Number of documents that match the words, over all shards. Does not count documents that are in the results
 * only because they are pinned.
 */
export function matches({ results }: Pick<Matched, "results">): number {
  return results.reduce((sum, result) => sum + result.found - result.pinnedOnly, 0);
}

/** Runs a program whose words have already been expanded. */
export async function runProgram(
  program: SearchProgram,
  words: ExpandedWords | null,
  snapshot: IndexSnapshot,
  pageOf: PageOf,
): Promise<Attempt> {
  const asked = withShares(program, snapshot.shards);
  return { program: asked, words, ...(await snapshot.searchPage(asked, pageOf(asked))) };
}

function nothing(program: SearchProgram, words: ExpandedWords, snapshot: IndexSnapshot): Attempt {
  const result: SearchResult = {
    found: 0,
    pinnedOnly: 0,
    rows: [],
    facets: program.facets.map(() => []),
    facetBounds: program.facets.map(() => 0),
    applied: program.rules.map(() => false),
    pinsApplied: false,
  };
  return {
    program,
    words,
    results: Array.from({ length: snapshot.shards }, () => result),
    documents: new Map(),
  };
}
