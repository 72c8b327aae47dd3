// Finds a query's documents, first with the query as written, then with likely corrections, then relaxed to
// "any word". Each step runs only if the previous step found too few documents, judged by the sum over all
// shards. The last step runs only on demand, because vector search may replace it.
import { ALT_EXACT } from "../../../engine-wasm/assembly/layout.js";
import { NO_VALUES } from "../../../engine-wasm/host/programs/encoded-facet.js";
import type {
  SearchAlternative,
  SearchProgram,
  SearchWord,
} from "../../../engine-wasm/host/programs/search-program.js";
import { NO_ROWS, type SearchResult } from "../../../engine-wasm/host/programs/search-result.js";
import type { FetchedDocument } from "../../../shards/protocol/fetch.js";
import type { FoundPage, IndexSnapshot } from "../../fleet/reads/index-snapshot.js";
import type { PageOf } from "../../fleet/reads/likely-rows.js";
import { run, settled, type Work } from "../../ground/jobs/work.js";
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
   * Finds the documents that contain any of the words. Null if enough documents were found, if the query has
   * fewer than two words, or if it is already relaxed.
   */
  readonly relaxation: Relaxation | null;
}

type Ran = Omit<Matched, "fullMatches" | "relaxation">;

/** A page without rows. */
const NO_PAGE: PageOf = { page: () => ({ offset: 0, count: 0, options: {} }) };

/**
 * Finds the documents that contain all words. If there are too few, finds those that contain any of the
 * words.
 */
export function* matchQuery(plan: QueryPlan, snapshot: IndexSnapshot, pageOf: PageOf): Work<Matched> {
  return yield* settled(relaxed(yield* settled(matchAllWords(plan, snapshot, pageOf))));
}

/** Relaxes the search to "any word" if too few documents contain all words. */
export function relaxed(matched: Matched): Matched | Promise<Matched> {
  return matched.relaxation === null ? matched : matched.relaxation.matched();
}

/** Finds the documents that contain all words, as written or else with likely corrections. */
export function matchAllWords(
  plan: QueryPlan,
  snapshot: IndexSnapshot,
  pageOf: PageOf,
): Matched | Promise<Matched> {
  if (plan.text.words.length === 0) {
    const ran = runProgram(plan.program, null, snapshot, pageOf);
    return ran instanceof Promise ? ran.then(counted) : counted(ran);
  }
  const expander = new WordExpander(plan, new Dictionaries(snapshot, plan.typosPerWordMax));
  const words = expander.remembered();
  if (words === null) return run(matching(plan, expander, null, null, snapshot, pageOf));
  const ran = runWords(plan, "all", words, snapshot, pageOf);
  return ran instanceof Promise || isDoubtful(plan, words, ran)
    ? run(matching(plan, expander, words, ran, snapshot, pageOf))
    : matchedAll(plan, words, ran, snapshot, pageOf);
}

/** `known` and `ran` are the words and their search; null if not available yet. */
function* matching(
  plan: QueryPlan,
  expander: WordExpander,
  known: ExpandedWords | null,
  ran: Ran | Promise<Ran> | null,
  snapshot: IndexSnapshot,
  pageOf: PageOf,
): Work<Matched> {
  let words = known ?? (yield* expander.asWritten());
  let best = yield* settled(ran ?? runWords(plan, "all", words, snapshot, pageOf));
  if (isDoubtful(plan, words, best)) {
    const doubted = yield* expander.withDoubts(words);
    if (doubted !== null) {
      const corrected = yield* settled(runWords(plan, "all", doubted, snapshot, pageOf));
      if (matches(corrected) > 0) [words, best] = [doubted, corrected];
    }
  }
  return matchedAll(plan, words, best, snapshot, pageOf);
}

/** True if some of several words may have been mistyped, because no document contains all of them. */
function isDoubtful({ typoPolicy }: QueryPlan, { words }: ExpandedWords, ran: Ran): boolean {
  return typoPolicy === "auto" && words.length > 1 && matches(ran) === 0;
}

function matchedAll(
  plan: QueryPlan,
  words: ExpandedWords,
  ran: Ran,
  snapshot: IndexSnapshot,
  pageOf: PageOf,
): Matched {
  const fullMatches = matches(ran);
  if (fullMatches >= plan.dropThreshold || words.words.length === 1) return counted(ran);
  const { program, results, documents } = ran;
  const relaxation = new Relaxation(plan, words, fullMatches, snapshot, pageOf);
  return { program, words: ran.words, results, documents, fullMatches, relaxation };
}

/** A search relaxed to "any word". It runs only on demand, and only once. */
class Relaxation {
  readonly #plan: QueryPlan;
  readonly #words: ExpandedWords;
  readonly #fullMatches: number;
  readonly #snapshot: IndexSnapshot;
  readonly #pageOf: PageOf;
  #matched: Matched | Promise<Matched> | null = null;

  constructor(
    plan: QueryPlan,
    words: ExpandedWords,
    fullMatches: number,
    snapshot: IndexSnapshot,
    pageOf: PageOf,
  ) {
    this.#plan = plan;
    this.#words = words;
    this.#fullMatches = fullMatches;
    this.#snapshot = snapshot;
    this.#pageOf = pageOf;
  }

  matched(): Matched | Promise<Matched> {
    this.#matched ??= this.#run();
    return this.#matched;
  }

  #run(): Matched | Promise<Matched> {
    const plan = this.#plan;
    const ran = runWords(plan, plan.relaxedMode, this.#words, this.#snapshot, this.#pageOf);
    return ran instanceof Promise ? ran.then((any) => this.#found(any)) : this.#found(ran);
  }

  #found(any: Ran): Matched {
    return { ...any, fullMatches: this.#fullMatches, relaxation: null };
  }
}

/** Runs the query with these words. Does not ask the shards if it cannot find anything. */
function runWords(
  plan: QueryPlan,
  mode: SearchProgram["mode"],
  words: ExpandedWords,
  snapshot: IndexSnapshot,
  pageOf: PageOf,
): Ran | Promise<Ran> {
  const program = programOf(plan, mode, words.words, words.lengths);
  const isHopeless = plan.program.pins.length === 0 && !canMatch(mode, words.words);
  return isHopeless ? nothing(program, words, snapshot) : runProgram(program, words, snapshot, pageOf);
}

/** True if some document may contain as many of the words as the mode demands. */
function canMatch(mode: SearchProgram["mode"], words: readonly SearchWord[]): boolean {
  const isLive = ({ alternatives }: SearchWord): boolean => alternatives.length > 0;
  return mode === "all" ? words.every(isLive) : words.some(isLive);
}

function counted({ program, words, results, documents }: Ran): Matched {
  return { program, words, results, documents, fullMatches: matches({ results }), relaxation: null };
}

/**
 * Returns the number of documents that match all words. Fetches no documents. The plan must request a page
 * without rows.
 */
export function* countFull(plan: QueryPlan, snapshot: IndexSnapshot): Work<number> {
  return (yield* settled(matchAllWords(plan, snapshot, NO_PAGE))).fullMatches;
}

/**
 * Returns the number of documents that match all words and contain at least one of the phrases, given as
 * terms.
 */
export function* countSaying(
  plan: QueryPlan,
  phrases: readonly (readonly string[])[],
  snapshot: IndexSnapshot,
): Work<number> {
  const expander = new WordExpander(plan, new Dictionaries(snapshot, plan.typosPerWordMax));
  const { words, lengths } = yield* expander.asWritten();
  const alternatives = phrases.map(phraseAlternative);
  const program = programOf(plan, "all", [...words, { weight: 0, alternatives }], lengths);
  return matches(yield* settled(runProgram(program, null, snapshot, NO_PAGE)));
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
  let sum = 0;
  for (const { found, pinnedOnly } of results) sum += found - pinnedOnly;
  return sum;
}

/** Runs a program whose words have already been expanded. */
export function runProgram(
  program: SearchProgram,
  words: ExpandedWords | null,
  snapshot: IndexSnapshot,
  pageOf: PageOf,
): Ran | Promise<Ran> {
  const asked = withShares(program, snapshot.shards);
  const found = snapshot.searchPage(asked, pageOf);
  return found instanceof Promise
    ? found.then((page) => ranProgram(asked, words, page))
    : ranProgram(asked, words, found);
}

function ranProgram(
  program: SearchProgram,
  words: ExpandedWords | null,
  { results, documents }: FoundPage,
): Ran {
  return { program, words, results, documents };
}

function nothing(program: SearchProgram, words: ExpandedWords, snapshot: IndexSnapshot): Ran {
  const result: SearchResult = {
    found: 0,
    pinnedOnly: 0,
    rows: NO_ROWS,
    facets: program.facets.map(() => NO_VALUES),
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
