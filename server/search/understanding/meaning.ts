// Decides what a query means. Every reading is tried on the index before it is used. It is rejected if its
// filter finds nothing, if documents contradict it (evidence.ts), or if it is a facet value that most of the
// documents with its words do not have. A query without readings runs once, as typed. Searching and counting
// are passed in, so this file can be tested without an index.
import type { Work } from "../../ground/jobs/work.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import { both } from "../../question/filter/filter-compile.js";
import type { QueryRequest } from "../../question/request/query-request.js";
import type { AiContext } from "../found.js";
import {
  asSpelled,
  type Counting,
  Evidence,
  FEW_MATCHES,
  namesProduct,
  SHARE_MIN,
  Trials,
} from "./evidence.js";
import type { IndexFacts } from "./facts.js";
import { LANGUAGES } from "./languages/all.js";
import { AND, CONNECTIVE, cuesOf, GOES_WITH } from "./languages/cues.js";
import { contextOf } from "./message.js";
import { isPronoun } from "./negations.js";
import { type ReadText, readText } from "./read.js";
import { type Reading, type Rewritten, rewritten } from "./reading.js";

/** Access to an index. `A` is the type of an attempt to answer a query. */
export interface Asking<A> extends Counting {
  attempt(request: QueryRequest): Work<A>;
  /**
   * Returns the number of documents that an attempt finds. If few of them contain all words, those that
   * contain some of the words count as well.
   */
  found(attempt: A): Work<number>;
  /** Returns the number of documents in an attempt that contain all of its words. */
  full(attempt: A): number;
}

export interface Understood<A> {
  readonly attempt: A;
  /** Null if the query ran as typed. */
  readonly context: AiContext | null;
}

export interface MeaningLimits {
  readonly understandingTrialsMax: number;
}

/** True if so few documents contain all words that guessing is justified. */
export function isPoor(fullMatches: number): boolean {
  return fullMatches < FEW_MATCHES;
}

export class Meaning<A> {
  readonly #asking: Asking<A>;
  readonly #trials: Trials;

  constructor(asking: Asking<A>, limits: MeaningLimits) {
    this.#asking = asking;
    this.#trials = new Trials(asking, limits.understandingTrialsMax);
  }

  /**
   * Answers the query by what it says explicitly (`read.named`), plus the facet values that fit. Returns null
   * if no explicit reading is accepted.
   */
  *named(request: QueryRequest, facts: IndexFacts): Work<Understood<A> | null> {
    const read = readText(request.q, facts, FIXED_LIMITS.understandingTokensMax);
    if (read === null || read.named.length === 0) return null;
    const evidence = new Evidence(this.#trials, request, read);
    if (read.named.some(isTitleLike) && (yield* evidence.isPhrase())) return null;
    const certain: Reading[] = [];
    for (const reading of read.named) {
      if (reading.doubt === "share" || (yield* evidence.contradicts(reading, facts))) continue;
      certain.push(reading);
    }
    const doubtful = read.named.filter(({ doubt }) => doubt === "share");
    const first = yield* this.#shared(request, read, [...read.fillers, ...certain], doubtful);
    if (!first.some(({ kind }) => kind !== "filler")) return null;
    const readings = yield* this.#shared(request, read, first, read.values);
    if (!isSettled(rewrittenFor(request, read, readings), facts, read)) return null;
    return yield* this.#tried(request, read, readings);
  }

  /**
   * Tries the query with fewer words if `attempt` found few documents that contain all of them. Drops fillers
   * such as "show me". If no document contains all words, also turns one facet value into a filter. Returns
   * null unless more documents then contain all remaining words.
   */
  *guessed(request: QueryRequest, facts: IndexFacts, attempt: A): Work<Understood<A> | null> {
    const read = readText(request.q, facts, FIXED_LIMITS.understandingTokensMax);
    if (read === null) return null;
    const before = this.#asking.full(attempt);
    const values = before === 0 ? read.values.filter(({ corrected }) => corrected === undefined) : [];
    const candidates = [
      ...(asksForSomething(read, facts) ? [read.fillers] : []),
      ...values.map((value) => [...read.fillers, value]),
    ];
    if (candidates.length === 0) return null;
    const evidence = new Evidence(this.#trials, request, read);
    if (before > 0 && (yield* evidence.isPhrase())) return null;
    let best = before;
    let readings: readonly Reading[] = [];
    for (const candidate of candidates) {
      const asked = candidate === read.fillers ? asSpelled(request, request.q) : request;
      const documents = yield* this.#count(asked, read, candidate);
      if (documents === null || documents <= best) continue;
      [best, readings] = [documents, candidate];
    }
    if (readings.length === 0) return null;
    const meant = rewrittenFor(request, read, readings);
    if (!isSettled(meant, facts, read)) return null;
    const better = yield* this.#asking.attempt(this.#requestOf(request, read, meant));
    if (this.#asking.full(better) <= before) return null;
    return { attempt: better, context: this.#context(meant, read, true) };
  }

  /**
   * Tries a language model's claim on the index. If no document contains all of the claim's words, the query
   * is answered as typed in three cases: if some document contains all words as typed, if the claim sorts, or
   * if the claim finds nothing.
   */
  *claimed(request: QueryRequest, meant: Rewritten): Work<Understood<A> | null> {
    const used = request.shape.sort === null ? meant : { ...meant, sort: null };
    const attempt = yield* this.#asking.attempt(this.#requestFor(request, used, true));
    if (this.#asking.full(attempt) === 0) {
      const asTyped = yield* this.#asking.attempt(request);
      if (used.sort !== null || this.#asking.full(asTyped) > 0 || (yield* this.#asking.found(attempt)) === 0)
        return { attempt: asTyped, context: null };
    }
    const told = { text: request.q, tokens: [], language: LANGUAGES[0], guessed: true, unused: [] };
    return { attempt, context: contextOf(used, told) };
  }

  /**
   * Returns `base`, plus each candidate whose filter keeps most of the documents that contain the candidate's
   * words. A candidate that corrects a misspelling is skipped if documents contain the word as typed.
   */
  *#shared(
    request: QueryRequest,
    read: ReadText,
    base: readonly Reading[],
    candidates: readonly Reading[],
  ): Work<readonly Reading[]> {
    if (candidates.length === 0) return base;
    const evidence = new Evidence(this.#trials, request, read);
    let kept = base;
    let before = yield* this.#count(request, read, kept);
    for (const candidate of candidates) {
      if (before === null) break;
      if (candidate.corrected !== undefined && !(yield* evidence.isUnknown(candidate))) continue;
      const documents = yield* this.#count(request, read, [...kept, candidate]);
      if (documents === null) break;
      if (documents === 0 || documents < before * SHARE_MIN) continue;
      [kept, before] = [[...kept, candidate], documents];
    }
    return kept;
  }

  *#tried(request: QueryRequest, read: ReadText, readings: readonly Reading[]): Work<Understood<A> | null> {
    const meant = rewrittenFor(request, read, readings);
    const attempt = yield* this.#asking.attempt(this.#requestOf(request, read, meant));
    if (this.#asking.full(attempt) > 0) return { attempt, context: this.#context(meant, read, false) };
    const asTyped = yield* this.#asking.attempt(request);
    const typed = { attempt: asTyped, context: null };
    if (this.#asking.full(asTyped) > 0) return typed;
    // A sort applies only if documents contain all words. If it also applied to documents with some of the
    // words, sorting by price would list anything cheap.
    const unsorted = readings.filter(({ kind }) => kind !== "sort");
    if (!unsorted.some(({ kind }) => kind !== "filler")) return typed;
    if (unsorted.length === readings.length)
      return (yield* this.#asking.found(attempt)) === 0
        ? typed
        : { attempt, context: this.#context(meant, read, false) };
    const less = rewrittenFor(request, read, unsorted);
    const again = yield* this.#asking.attempt(this.#requestOf(request, read, less));
    if ((yield* this.#asking.found(again)) === 0) return typed;
    return { attempt: again, context: this.#context(less, read, false) };
  }

  #count(request: QueryRequest, read: ReadText, readings: readonly Reading[]): Work<number | null> {
    const meant = rewrittenFor(request, read, readings);
    return this.#trials.count(this.#requestOf(request, read, meant));
  }

  #requestOf(request: QueryRequest, read: ReadText, meant: Rewritten): QueryRequest {
    const last = read.tokens.length;
    const isLastRead = meant.readings.some(({ to }) => to === last);
    return this.#requestFor(request, meant, isLastRead);
  }

  /**
   * Returns the request for the rewritten query. The request's own filter still applies, and its own sort
   * takes precedence.
   */
  #requestFor(
    request: QueryRequest,
    { text, filterBy, sort, avoided }: Rewritten,
    isLastRead: boolean,
  ): QueryRequest {
    const { shape } = request;
    return {
      ...request,
      q: text,
      avoided,
      browse: text === "*",
      shape: sort === null || shape.sort !== null ? shape : { ...shape, sort: [sort] },
      filter: filterBy === null ? request.filter : both(request.filter, this.#asking.filter(filterBy)),
      // If a reading used the word still being typed, the last word that remains has been typed completely.
      prefix: request.prefix && !isLastRead,
    };
  }

  #context(meant: Rewritten, read: ReadText, guessed: boolean): AiContext {
    const unused = read.values.filter((value) => !meant.readings.includes(value));
    const { text, tokens, language } = read;
    return contextOf(meant, { text, tokens, language, guessed, unused });
  }
}

/**
 * Returns the query rewritten according to the readings. If the request has its own sort, a sort in the text
 * is ignored.
 */
function rewrittenFor(
  { shape: { sort } }: QueryRequest,
  { text, tokens }: ReadText,
  readings: readonly Reading[],
): Rewritten {
  const meant = rewritten(text, tokens, readings);
  return sort === null ? meant : { ...meant, sort: null };
}

/**
 * True if the rewritten text contains no further explicit readings besides those that were rejected, so that
 * sending it as a query gives the same result.
 */
function isSettled({ text, readings }: Rewritten, facts: IndexFacts, { named }: ReadText): boolean {
  const again = readText(text, facts, FIXED_LIMITS.understandingTokensMax)?.named ?? [];
  const rejected = named.filter((reading) => !readings.includes(reading));
  return text === "*" || again.every((reading) => rejected.some((other) => saysSame(reading, other)));
}

function saysSame(a: Reading, b: Reading): boolean {
  return (
    a.filter === b.filter &&
    a.sort?.field === b.sort?.field &&
    (a.avoided ?? []).join() === (b.avoided ?? []).join()
  );
}

/**
 * True if the words without fillers can be what somebody asks for: `looking for a wireless charger`, but not
 * `thanks for everything` or `i want you`. A single word must be a facet value, because in a title it may be
 * anything: `looking for alaska`.
 */
function asksForSomething({ tokens, fillers }: ReadText, facts: IndexFacts): boolean {
  const rest = tokens.filter((_, place) => !fillers.some(({ from, to }) => from <= place && place < to));
  const [first] = rest;
  if (fillers.length === 0 || first === undefined) return false;
  const joins = (cuesOf(first.key) & (CONNECTIVE | GOES_WITH | AND)) !== 0;
  return !joins && !isPronoun(rest.at(-1)!.key) && namesProduct(rest, facts);
}

/** True for a sort and for a value with its field's name, which also occur in titles. */
function isTitleLike({ kind }: Reading): boolean {
  return kind === "sort" || kind === "value";
}
