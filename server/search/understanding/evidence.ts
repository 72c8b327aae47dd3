// Asks an index whether its documents contradict a reading of a query. Decides only about one reading at a
// time; meaning.ts combines those that remain.
import { type FilterProgram, NO_FILTER } from "../../../engine-wasm/host/programs/filter-program.js";
import type { Work } from "../../ground/jobs/work.js";
import { both } from "../../question/filter/filter-compile.js";
import type { QueryRequest } from "../../question/request/query-request.js";
import { type IndexFacts, type NamedValue, singular } from "./facts.js";
import { LANGUAGES } from "./languages/all.js";
import { ARTICLE, CONNECTIVE, cuesOf } from "./languages/cues.js";
import type { ReadText } from "./read.js";
import { filled, keptText, type Reading, spanText, valueFilter } from "./reading.js";
import { type TextPiece, tokensOf, valueKeys } from "./tokens.js";

/** Counts documents of an index. */
export interface Counting {
  /** Compiles a filter expression under the index's schema. */
  filter(filterBy: string): FilterProgram;
  /**
   * Returns the number of documents that contain all of a request's words and pass its filter. If phrases are
   * given, counts only documents that contain at least one of them.
   */
  count(request: QueryRequest, phrases?: readonly string[]): Work<number>;
}

/** Counts documents for one query, a limited number of times. Then all counts are null. */
export class Trials {
  readonly #counting: Counting;
  #left: number;

  constructor(counting: Counting, max: number) {
    this.#counting = counting;
    this.#left = max;
  }

  filter(filterBy: string): FilterProgram {
    return this.#counting.filter(filterBy);
  }

  *count(request: QueryRequest, phrases?: readonly string[]): Work<number | null> {
    return this.#left-- > 0 ? yield* this.#counting.count(request, phrases) : null;
  }
}

/** If fewer documents than this contain the words, the words alone prove nothing. */
export const FEW_MATCHES = 3;
/** A filter is accepted if it keeps at least this share of the documents that contain its words. */
export const SHARE_MIN = 0.5;
/** A thing is usual for a product if at least this share of the product's documents mention it. */
const USUAL_SHARE_MIN = 0.05;
/** A thing is often lacking if at least this share of the documents that mention it say so. */
const LACKING_SHARE_MIN = 0.2;

/** The evidence about one query. */
export class Evidence {
  readonly #trials: Trials;
  readonly #request: QueryRequest;
  readonly #read: ReadText;

  constructor(trials: Trials, request: QueryRequest, read: ReadText) {
    this.#trials = trials;
    this.#request = request;
    this.#read = read;
  }

  /** True if documents contradict the reading, or if the index has been asked too often. */
  *contradicts(reading: Reading, facts: IndexFacts): Work<boolean> {
    switch (reading.doubt) {
      case "words":
        return this.#isAlone(reading) || (yield* this.#isLiteral(reading));
      case "lacking":
        return yield* this.#isNoNegation(reading, facts);
      case "all":
        return (
          (yield* this.#trials.count(this.#request)) !== 0 || (yield* this.#isNoNegation(reading, facts))
        );
      case "unit":
        return (yield* this.#isPartOfValue(reading, facts)) || (yield* this.#isNoMeasure(reading));
      default:
        return reading.kind === "sort" && this.#isTitle(facts);
    }
  }

  /** True if a document contains the whole query as a phrase, such as a title. */
  *isPhrase(): Work<boolean> {
    return (yield* this.#matching(inQuotes(this.#request.q))) !== 0;
  }

  /** True if no document contains the words as typed, so they are probably misspelt. */
  *isUnknown({ from, to }: Reading): Work<boolean> {
    const q = spanText(this.#read.text, this.#read.tokens, from, to);
    return (yield* this.#trials.count(this.#everywhere(q))) === 0;
  }

  /** True if the index gives no reason to avoid one of the words. */
  *#isNoNegation(reading: Reading, facts: IndexFacts): Work<boolean> {
    const isClear = reading.doubt !== "all" && namesProduct(tokensOf(this.#rest()), facts);
    for (const thing of reading.avoided ?? []) {
      if (areAlternatives(this.#rest(), thing, facts)) return true;
      if (!(yield* this.#isUsual(thing, isClear)) || (yield* this.#isLacking(thing, reading))) return true;
    }
    return false;
  }

  /**
   * True if a notable share of the documents with the rest of the query have the thing, as many belts have a
   * buckle. Otherwise there is little to avoid, and the query is more likely a title: `life without limits`.
   * A thing that no document has at all is useless as a word, so it may be left out if the query `isClear`.
   */
  *#isUsual(thing: string, isClear: boolean): Work<boolean> {
    const rest = this.#rest();
    const documents = yield* this.#trials.count(asSpelled(this.#request, rest));
    if (!documents) return false;
    const having = yield* this.#trials.count(asSpelled(this.#request, `${rest} ${inQuotes(thing)}`));
    if (having === 0) return isClear && (yield* this.#trials.count(this.#everywhere(inQuotes(thing)))) === 0;
    return having !== null && having >= documents * USUAL_SHARE_MIN;
  }

  /**
   * True if documents say that they lack the thing, as food is called grain-free: at least one that has the
   * rest of the query, or a notable share of all that have the word. Avoiding the word would bury them.
   */
  *#isLacking(thing: string, { from, to }: Reading): Work<boolean> {
    const phrases = phrasesOfLacking(thing);
    const typed = spanText(this.#read.text, this.#read.tokens, from, to);
    const rest = { ...this.#request, q: this.#rest(), browse: false };
    if ((yield* this.#trials.count(rest, [...phrases, typed])) !== 0) return true;
    const all = { ...this.#everywhere("*"), browse: true };
    const lacking = yield* this.#trials.count(all, phrases);
    if (lacking === 0) return false;
    const having = yield* this.#trials.count(this.#everywhere(inQuotes(thing)));
    return lacking === null || having === null || lacking >= having * LACKING_SHARE_MIN;
  }

  /** True if a document contains the reading's words in this order, along with the rest of the query. */
  *#isLiteral({ from, to }: Reading): Work<boolean> {
    return (yield* this.#matching(`${this.#rest()} ${this.#quoted(from, to)}`)) !== 0;
  }

  /**
   * True if the words are part of a facet value, such as the brand 3M, which documents with the rest of the
   * query have.
   */
  *#isPartOfValue(reading: Reading, facts: IndexFacts): Work<boolean> {
    const [start, end] = [this.#coreOf(reading), reading.to];
    const { length } = this.#read.tokens;
    for (let from = Math.max(0, end - facts.wordsMax); from <= start; from++) {
      for (let to = end; to <= length && to - from <= facts.wordsMax; to++) {
        for (const value of this.#valuesAt(from, to, facts)) {
          const { field, spellings, subject } = value;
          const filter = this.#trials.filter(valueFilter(field, spellings, subject === "colour"));
          if ((yield* this.#matching(this.#rest({ ...reading, from, to }), filter)) !== 0) return true;
        }
      }
    }
    return false;
  }

  #valuesAt(from: number, to: number, facts: IndexFacts): readonly NamedValue[] {
    const span = this.#read.tokens.slice(from, to);
    const isWhole = span[0]!.opens && span.at(-1)!.closes && span.every(({ kind }) => kind !== "sealed");
    return isWhole ? facts.values(span.flatMap(({ kind, key }) => (kind === "symbol" ? [] : key))) : [];
  }

  /**
   * True if the number and its unit do not measure what the field holds: no document passes the filter, or
   * most documents that contain the words in this order fail it, as `19 inch rack` is not about screens. A
   * query that says nothing else is read only if such documents exist.
   */
  *#isNoMeasure(reading: Reading): Work<boolean> {
    const filter = this.#trials.filter(reading.filter as string);
    const passing = yield* this.#matching(this.#rest(), filter);
    if (!passing) return true;
    const isSymbol = this.#read.tokens[reading.to - 1]!.kind === "symbol"; // not indexed: 17" is only 17
    const words = `${this.#rest()} ${this.#quoted(this.#coreOf(reading), reading.to)}`;
    const worded = isSymbol ? 0 : yield* this.#matching(words);
    if (worded === null) return true;
    if (worded === 0) return this.#isAlone(reading);
    const agreeing = yield* this.#matching(words, filter);
    if (agreeing === null) return true;
    return worded < FEW_MATCHES && !this.#isAlone(reading)
      ? passing <= worded - agreeing
      : agreeing < worded * SHARE_MIN;
  }

  /** True if the query says nothing besides the reading: such a query is more likely a title or a name. */
  #isAlone(reading: Reading): boolean {
    const { named, fillers } = this.#read;
    return this.#rest() === "" && fillers.length === 0 && named.every((other) => other === reading);
  }

  /**
   * True if the query begins with an article and is otherwise a superlative with a single word that need not
   * be a product: `the latest craze`.
   */
  #isTitle(facts: IndexFacts): boolean {
    const isArticle = ({ key }: TextPiece): boolean => (cuesOf(key) & ARTICLE) !== 0;
    const rest = tokensOf(this.#rest());
    if (rest.length === 0 || !isArticle(this.#read.tokens[0]!)) return false;
    return rest.every(isArticle) || !namesProduct(rest, facts);
  }

  /** Returns the first position of the reading after words such as `with` or `for`. */
  #coreOf({ from, to }: Reading): number {
    const isConnective = (place: number): boolean =>
      (cuesOf(this.#read.tokens[place]!.key) & CONNECTIVE) !== 0;
    let at = from;
    while (at < to - 1 && isConnective(at)) at++;
    return at;
  }

  /** Returns the query's words that no reading uses. `other` replaces the readings that it overlaps. */
  #rest(other?: Reading): string {
    const { text, tokens, named, fillers } = this.#read;
    const taken = [...named.filter((reading) => other === undefined || !overlap(reading, other)), ...fillers];
    return keptText(text, tokens, other === undefined ? taken : [...taken, other]);
  }

  #quoted(from: number, to: number): string {
    return inQuotes(spanText(this.#read.text, this.#read.tokens, from, to));
  }

  #matching(q: string, filter: FilterProgram = NO_FILTER): Work<number | null> {
    const request = this.#request;
    return this.#trials.count({
      ...request,
      q: q.trim() || "*",
      browse: q.trim() === "",
      filter: both(request.filter, filter),
    });
  }

  /** Returns a request for the words as spelled, over all documents that the caller may see. */
  #everywhere(q: string): QueryRequest {
    return { ...asSpelled(this.#request, q), filter: this.#request.shape.within?.filter ?? NO_FILTER };
  }
}

/** True for several words, or for a facet value. A single other word can be anything. */
export function namesProduct(words: readonly TextPiece[], facts: IndexFacts): boolean {
  return words.length > 1 || (words.length === 1 && facts.values([words[0]!.key]).length > 0);
}

/** True for two values of one facet, such as men and women: neither is a part of the other. */
function areAlternatives(a: string, b: string, facts: IndexFacts): boolean {
  const fields = new Set(facts.values(valueKeys(a)).map(({ field }) => field));
  return facts.values(valueKeys(b)).some(({ field }) => fields.has(field));
}

/** Returns a request for the words exactly as spelled. */
export function asSpelled(request: QueryRequest, q: string): QueryRequest {
  return { ...request, q, numTypos: 0, prefix: false, browse: false };
}

/** Returns what documents say, in any language, if they lack a thing: `grain free`, `ohne Zucker`. */
function phrasesOfLacking(thing: string): string[] {
  const forms = new Set([thing, singular(thing)]);
  return LANGUAGES.flatMap(({ lacking }) =>
    lacking.flatMap((phrase) => [...forms].map((n) => filled(phrase, { n }))),
  );
}

function inQuotes(text: string): string {
  return `"${text.replaceAll('"', " ").trim()}"`;
}

function overlap(a: Reading, b: Reading): boolean {
  return a.from < b.to && b.from < a.to;
}
