// Decides which words to search for: the words as typed, and near terms of those that look misspelt. Uses the
// sums of all shards' dictionary answers, so the decisions do not depend on the number of shards.
import type { ExpandWord } from "../../../engine-wasm/host/programs/expand-program.js";
import type { SearchWord } from "../../../engine-wasm/host/programs/search-program.js";
import { settled, together, type Work } from "../../ground/jobs/work.js";
import { type FoundWord, isMissing, searchWords } from "../../question/words/alternatives.js";
import type { AverageLengths } from "../../question/words/average-lengths.js";
import type { Dictionaries } from "../../question/words/dictionaries.js";
import type { QueryWord } from "../../question/words/query-text.js";
import type { LikelyTypo } from "../../question/words/typos/noisy-channel.js";
import { largest, type RankedTypo } from "../../question/words/typos/ranked-typos.js";
import { stemTerms } from "../../question/words/variants.js";
import { judgeWords } from "./judged-words.js";
import { type FoundSplits, type Literal, lookedUpWords, NO_SPLITS, recalledWords } from "./literal-words.js";
import type { QueryPlan } from "./plan.js";

/** The words to search for, with what the dictionaries contain for them. */
export interface ExpandedWords {
  readonly words: readonly SearchWord[];
  readonly lengths: AverageLengths;
  /** Near terms to search, by word number. */
  readonly typos: LikelyTypos;
  /**
   * For each word, the number of documents with it or with a form that is as good; see `knownFrequency`.
   */
  readonly frequencies: readonly number[];
  /** The best spelling of each apparently misspelt word, by word number. */
  readonly corrections: ReadonlyMap<number, string>;
}

type LikelyTypos = ReadonlyMap<number, readonly LikelyTypo[]>;
type Typos = ReadonlyMap<number, readonly RankedTypo[]>;

const NO_TYPOS: LikelyTypos = new Map();
const NO_TYPOS_FOUND: Typos = new Map();
const NO_CORRECTIONS: ReadonlyMap<number, string> = new Map();

type Asked = Pick<Dictionaries, "lookUp" | "company" | "memory" | "memoryFor">;

const ALL_DOCUMENTS = 2 ** 32 - 1;
/**
 * If a query's only word occurs in at most FEW_ALONE documents and at most FEW_SHARE of all documents, its
 * near terms are searched for too. Hits for near terms always rank below hits for the word itself.
 */
const FEW_ALONE = 2;
const FEW_SHARE = 1 / 1000;
/**
 * A word that occurs in the index is suspected of being a typo only if at most this share of the documents
 * contains it. Frequent words are rarely typing errors.
 */
const DOUBTED_SHARE = 1 / 100;
/** Maximum edit distance between a known word and the near terms that could replace it. */
const DOUBTED_TYPOS = 1;
/**
 * A near term can replace a known word if its cost exceeds the word's cost by at most this much, which means
 * that it is at most 64 times less likely.
 */
const DOUBT_MAX = 30;

/** Looks up one query's words in all shards, in one snapshot. Retains nothing between queries. */
export class WordExpander {
  readonly #plan: QueryPlan;
  readonly #dictionaries: Asked;
  #literal: Literal | null = null;

  constructor(plan: QueryPlan, dictionaries: Asked) {
    this.#plan = plan;
    this.#dictionaries = dictionaries;
  }

  /**
   * Returns the result of `asWritten` if it is remembered: if no word has to be looked up and none is so rare
   * that it gets near terms. Otherwise returns null.
   */
  remembered(): ExpandedWords | null {
    const literal = recalledWords(this.#plan, this.#dictionaries);
    if (literal === null) return null;
    this.#literal = literal;
    return this.#isFrequent(literal) ? this.#choose(literal, NO_TYPOS, NO_SPLITS) : null;
  }

  /**
   * Returns the words as typed, plus near terms for words that occur in few or no documents. With the typo
   * policy "always", every word gets near terms.
   */
  *asWritten(): Work<ExpandedWords> {
    const literal = yield* this.#lookUp();
    if (this.#isFrequent(literal)) return this.#choose(literal, NO_TYPOS, yield* settled(literal.splits));
    const [likely, splits] = yield* together(this.#likelyTypos(literal), settled(literal.splits));
    return this.#choose(literal, likely, splits);
  }

  /** True if no word is so rare that its near terms are searched for. */
  #isFrequent({ known, liveRows }: Literal): boolean {
    const few = this.#fewMax(liveRows);
    for (const frequency of known) if (frequency <= few) return false;
    return true;
  }

  /** Returns near terms for rare words. */
  *#likelyTypos(literal: Literal): Work<LikelyTypos> {
    const few = this.#fewMax(literal.liveRows);
    const found = yield* this.#lookUpTypos((word, i) =>
      (literal.known[i] as number) <= few ? word.typosMax : 0,
    );
    return yield* this.#judge(literal, yield* this.#atLast(literal, found), Number.POSITIVE_INFINITY);
  }

  /**
   * Returns `words`, the result of asWritten, with added near terms for rare words that may have been
   * mistyped. Returns null if there are no such terms.
   */
  *withDoubts(words: ExpandedWords): Work<ExpandedWords | null> {
    const literal = yield* this.#lookUp();
    const found = yield* this.#lookUpTypos((word, i) =>
      this.#isDoubtful(literal, i) ? Math.min(DOUBTED_TYPOS, word.typosMax) : 0,
    );
    if (found.size === 0) return null;
    const likely = yield* this.#judge(literal, found, DOUBT_MAX);
    if ([...likely.values()].every((typos) => typos.length === 0)) return null;
    return this.#choose(literal, new Map([...words.typos, ...likely]), yield* settled(literal.splits));
  }

  /** A word's near terms are searched for if it occurs in at most this many documents. */
  #fewMax(documents: number): number {
    const { typoPolicy, text } = this.#plan;
    if (typoPolicy === "always") return ALL_DOCUMENTS;
    const isAlone = typoPolicy === "auto" && text.words.length === 1;
    return isAlone ? Math.min(FEW_ALONE, Math.floor(documents * FEW_SHARE)) : 0;
  }

  /**
   * True if the word occurs in some documents, as typed or as the beginning of a longer word, but in so few
   * that it may be a typo.
   */
  #isDoubtful({ liveRows, known, words }: Literal, i: number): boolean {
    const frequency = known[i] as number;
    const { prefix, literal, infixes } = words[i] as FoundWord;
    const isListed = prefix === null || prefix.terms !== null;
    return literal > 0 && frequency <= liveRows * DOUBTED_SHARE && isListed && infixes.length === 0;
  }

  /**
   * Selects the near terms that the user may have meant. Their cost exceeds the typed word's cost by at most
   * `doubt`.
   */
  *#judge(literal: Literal, typos: Typos, doubt: number): Work<LikelyTypos> {
    if (typos.size === 0) return NO_TYPOS;
    const { text, popularity } = this.#plan;
    const { slots, languages } = this.#plan.fields;
    const terms = ({ terms }: QueryWord): string[] =>
      terms.length > 1 ? [] : [...terms, ...stemTerms(terms[0] as string, languages)];
    const context = text.words.flatMap((word, i) => {
      const { exact } = literal.words[i] as FoundWord;
      return exact > 0 && word.terms.length === 1 ? [{ i, terms: terms(word), frequency: exact }] : [];
    });
    const judged = [...typos].map(([i, found]) => {
      const { prefix } = literal.words[i] as FoundWord;
      const begun = prefix === null ? [] : prefix.terms;
      return {
        i,
        terms: begun === null ? null : [...terms(text.words[i] as QueryWord), ...begun],
        frequency: literal.known[i] as number,
        typos: found,
      };
    });
    const formsOf = ({ term, isPrefix }: RankedTypo): string[] =>
      isPrefix ? [term] : [term, ...stemTerms(term, languages)];
    const searchesOf = (term: string): number => popularity.searchesOf(term);
    const { liveRows } = literal;
    return yield* judgeWords(
      { slots, judged, context, doubt, formsOf, liveRows, searchesOf },
      this.#dictionaries,
    );
  }

  *#lookUp(): Work<Literal> {
    if (this.#literal === null) {
      const few = this.#fewMax(this.#plan.scale.documents);
      this.#literal =
        recalledWords(this.#plan, this.#dictionaries) ??
        (yield* lookedUpWords(this.#plan, this.#dictionaries, few));
    }
    return this.#literal;
  }

  /**
   * Last resort for words that no document contains in any form and that have no near term within the usual
   * edit distance: looks them up at a larger distance.
   */
  *#atLast(literal: Literal, typos: Typos): Work<Typos> {
    const isLost = (word: QueryWord, i: number): boolean =>
      isMissing(literal.known[i] as number) && typos.get(i)?.length === 0 && word.typosAtLast > word.typosMax;
    const more = yield* this.#lookUpTypos((word, i) => (isLost(word, i) ? word.typosAtLast : 0));
    return more.size === 0 ? typos : new Map([...typos, ...more]);
  }

  /**
   * Looks up near terms within `typosOf` edits of each word. Skips words for which `typosOf` returns 0, and
   * asks no shard if no word remains.
   */
  *#lookUpTypos(typosOf: (word: QueryWord, i: number) => number): Work<Typos> {
    const wanted: { word: QueryWord; i: number; maxTypos: number }[] = [];
    for (const [i, word] of this.#plan.text.words.entries()) {
      const maxTypos = typosOf(word, i);
      if (maxTypos > 0) wanted.push({ word, i, maxTypos });
    }
    if (wanted.length === 0) return NO_TYPOS_FOUND;
    const words = wanted.map(
      ({ word, maxTypos }): ExpandWord => ({
        term: word.terms[0] as string,
        exact: false,
        prefix: false,
        typoPrefix: word.prefix,
        maxTypos,
      }),
    );
    const result = yield* this.#dictionaries.lookUp({ slots: this.#plan.fields.slots, words });
    return new Map(wanted.map(({ i }, at) => [i, result.words[at]?.typos ?? []]));
  }

  #choose(literal: Literal, typos: LikelyTypos, splits: FoundSplits): ExpandedWords {
    const { text, fields } = this.#plan;
    const { liveRows: documents, lengths, words, shared, known } = literal;
    const weighing = { documents, languages: fields.languages };
    return {
      words: searchWords(text.words, words, { shared, splits, typos }, weighing),
      lengths,
      typos,
      frequencies: known,
      corrections: typos.size === 0 ? NO_CORRECTIONS : correctionsOf(typos, known),
    };
  }
}

function correctionsOf(typos: LikelyTypos, known: readonly number[]): ReadonlyMap<number, string> {
  const corrections = new Map<number, string>();
  for (const [i, frequency] of known.entries()) {
    const best = typos.get(i)?.[0];
    if (best !== undefined && largest(best.frequencies) > frequency) corrections.set(i, best.term);
  }
  return corrections;
}
