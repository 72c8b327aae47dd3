// Looks up query words and their variants in all shards' dictionaries and adds up the shards' counts.
// Decisions about a word use these sums, so they do not depend on the number of shards.
import type { ExpandSuspect, ExpandWord } from "../../../engine-wasm/host/programs/expand-program.js";
import type { InfixExpansion } from "../../../engine-wasm/host/programs/expand-result.js";
import type { SearchWord } from "../../../engine-wasm/host/programs/search-program.js";
import { run, settled, together, type Work } from "../../ground/jobs/work.js";
import {
  type FoundVariant,
  isEvidence,
  isMissing,
  knownFrequency,
  searchWords,
  type WordFindings,
} from "../../question/words/alternatives.js";
import type { FoundCut } from "../../question/words/cuts-cache.js";
import type { Dictionaries } from "../../question/words/dictionaries.js";
import { infixQuestion } from "../../question/words/infixes.js";
import type { QueryWord } from "../../question/words/query-text.js";
import type { LikelyTypo } from "../../question/words/typos/noisy-channel.js";
import { type KnownWords, largest, type RankedTypo } from "../../question/words/typos/ranked-typos.js";
import {
  cutsOf,
  isCuttable,
  looseSplits,
  splitVariant,
  stemTerms,
  type Variant,
} from "../../question/words/variants.js";
import { type AverageLengths, averageLengths } from "./average-lengths.js";
import { judgeWords } from "./judged-words.js";
import type { QueryPlan } from "./plan.js";
import { WordTerms } from "./word-terms.js";

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

/** The words as typed, and what the dictionaries contain for them. Near terms have not been looked up yet. */
interface Literal {
  readonly liveRows: number;
  readonly lengths: AverageLengths;
  readonly words: readonly Omit<WordFindings, "typos">[];
  readonly variants: readonly FoundVariant[];
  /** For each word, the number of documents with it or with a form that is as good; see `knownFrequency`. */
  readonly known: readonly number[];
  /** Further variants: splits (`looseSplits`) of the words that no document contains. */
  readonly cuts: Promise<readonly FoundVariant[]> | readonly FoundVariant[];
}

/** The ways to split one query word into several words. */
interface WordCuts {
  readonly word: QueryWord;
  readonly i: number;
  /** Cached splits that occur in at least one document; null if they must be looked up. */
  readonly known: readonly FoundCut[] | null;
  /** Splits to look up; empty if `known` is set. */
  readonly open: readonly Variant[];
}

type LikelyTypos = ReadonlyMap<number, readonly LikelyTypo[]>;
type Typos = ReadonlyMap<number, readonly RankedTypo[]>;

const NO_TYPOS: LikelyTypos = new Map();
const NO_TYPOS_FOUND: Typos = new Map();
const NO_CUTS: readonly FoundVariant[] = [];
const NO_INFIXES: readonly InfixExpansion[] = [];
const NO_INFIXES_FOUND: ReadonlyMap<number, readonly InfixExpansion[]> = new Map();

type Asked = Pick<Dictionaries, "lookUp" | "company" | "cuts">;

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
   * Returns the words as typed, plus near terms for words that occur in few or no documents. With the typo
   * policy "always", every word gets near terms.
   */
  *asWritten(): Work<ExpandedWords> {
    const literal = yield* this.#lookUp();
    const few = this.#fewMax(literal.liveRows);
    if (literal.known.every((frequency) => frequency > few))
      return this.#choose(literal, NO_TYPOS, yield* settled(literal.cuts));
    const [likely, cuts] = yield* together(this.#likelyTypos(literal, few), settled(literal.cuts));
    return this.#choose(literal, likely, cuts);
  }

  /** Returns near terms for words that occur in at most `few` documents. */
  *#likelyTypos(literal: Literal, few: number): Work<LikelyTypos> {
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
    return this.#choose(literal, new Map([...words.typos, ...likely]), yield* settled(literal.cuts));
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
    const { prefix, literal, infixes } = words[i] as Literal["words"][number];
    const isListed = prefix === null || prefix.terms !== null;
    return literal > 0 && frequency <= liveRows * DOUBTED_SHARE && isListed && infixes.length === 0;
  }

  /**
   * Selects the near terms that the user may have meant. Their cost exceeds the typed word's cost by at most
   * `doubt`.
   */
  *#judge(literal: Literal, typos: Typos, doubt: number): Work<LikelyTypos> {
    if (typos.size === 0) return NO_TYPOS;
    const { text, slots, languages, popularity } = this.#plan;
    const terms = ({ terms }: QueryWord): string[] =>
      terms.length > 1 ? [] : [...terms, ...stemTerms(terms[0] as string, languages)];
    const context = text.words.flatMap((word, i) => {
      const { exact } = literal.words[i] as Literal["words"][number];
      return exact > 0 && word.terms.length === 1 ? [{ i, terms: terms(word), frequency: exact }] : [];
    });
    const judged = [...typos].map(([i, found]) => {
      const { prefix } = literal.words[i] as Literal["words"][number];
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
    this.#literal ??= yield* this.#lookUpLiteral();
    return this.#literal;
  }

  *#lookUpLiteral(): Work<Literal> {
    const { slots, text, variants: written } = this.#plan;
    const { words } = text;
    const cuts = this.#cutsOf(words);
    const found = new WordTerms(slots, words, [...written, ...cuts.flatMap(({ open }) => open)]);
    const answers = this.#dictionaries.lookUp(found.program, () => this.#suspects(found));
    const [answer, infixes] =
      this.#plan.infixSlots.length === 0
        ? [yield* answers, NO_INFIXES_FOUND]
        : yield* together(answers, this.#lookUpInfixes());
    const variants = [...found.variants(written, answer), ...this.#foundCuts(cuts, found, answer)];
    const literal = words.map((word, i) => found.word(word, answer, infixes.get(i) ?? NO_INFIXES));
    const known = literal.map((word, i) => knownFrequency(i, word, variants));
    return {
      liveRows: answer.liveRows,
      lengths: averageLengths(answer),
      words: literal,
      variants,
      known,
      cuts: known.some(isMissing) ? run(this.#lookUpCuts(known)) : NO_CUTS,
    };
  }

  /** Returns each word's splits, from the cache if they are cached. */
  #cutsOf(words: readonly QueryWord[]): WordCuts[] {
    const { slots } = this.#plan;
    return words.map((word, i) => {
      const known = isCuttable(word)
        ? (this.#dictionaries.cuts?.get(slots, word.terms[0] as string) ?? null)
        : [];
      const open = known === null ? cutsOf(word).map((terms) => splitVariant([i], terms)) : [];
      return { word, i, known, open };
    });
  }

  /** Returns the splits that occur in at least one document. Caches those that were looked up. */
  #foundCuts(cuts: readonly WordCuts[], asked: WordTerms, answer: KnownWords): FoundVariant[] {
    const all: FoundVariant[] = [];
    for (const { word, i, known, open } of cuts) {
      if (known !== null) {
        for (const { terms, frequency } of known) all.push({ variant: splitVariant([i], terms), frequency });
        continue;
      }
      const found = asked.variants(open, answer);
      all.push(...found);
      const told = found.map(({ variant: { terms }, frequency }) => ({ terms, frequency }));
      this.#dictionaries.cuts?.put(this.#plan.slots, word.terms[0] as string, told);
    }
    return all;
  }

  /**
   * Looks up longer terms that contain the words, in fields with `infix`. Asks no shard if none of the words
   * qualifies.
   */
  *#lookUpInfixes(): Work<ReadonlyMap<number, readonly InfixExpansion[]>> {
    const { infixSlots, text } = this.#plan;
    const asked = text.words.flatMap((word, i) => {
      const question = infixQuestion(word);
      return question === null ? [] : [{ i, question }];
    });
    if (asked.length === 0) return new Map();
    const words = asked.map(({ question }) => question);
    const answer = yield* this.#dictionaries.lookUp({ slots: infixSlots, words });
    return new Map(asked.map(({ i }, at) => [i, answer.words[at]?.infixes ?? []]));
  }

  /**
   * The words whose near terms are needed if the words turn out to be rare over all shards. A shard in which
   * such a word is rare returns its near terms in the same reply, which saves a round trip: `#lookUpTypos`
   * finds them in the expansion cache.
   */
  #suspects(asked: WordTerms): ExpandSuspect[] {
    const { text, variants, scale } = this.#plan;
    const few = this.#fewMax(scale.documents);
    return text.words.flatMap((word, i) =>
      word.typosMax === 0
        ? []
        : [
            {
              term: word.terms[0] as string,
              typoPrefix: word.prefix,
              maxTypos: word.typosMax,
              few,
              witnesses: asked.numbersOf([word, ...variants.filter((one) => isEvidence(one, i))]),
            },
          ],
    );
  }

  /**
   * Looks up `looseSplits` of the words that no document contains. Runs concurrently with the typo lookup,
   * because neither depends on the other.
   */
  *#lookUpCuts(known: readonly number[]): Work<readonly FoundVariant[]> {
    const { text, slots } = this.#plan;
    const loose = text.words.flatMap((word, i) =>
      isMissing(known[i] as number) ? looseSplits(word, i) : [],
    );
    if (loose.length === 0) return NO_CUTS;
    const cuts = new WordTerms(slots, [], loose);
    return cuts.variants(loose, yield* this.#dictionaries.lookUp(cuts.program));
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
    const result = yield* this.#dictionaries.lookUp({ slots: this.#plan.slots, words });
    return new Map(wanted.map(({ i }, at) => [i, result.words[at]?.typos ?? []]));
  }

  #choose(literal: Literal, typos: LikelyTypos, cuts: readonly FoundVariant[]): ExpandedWords {
    const { text, languages } = this.#plan;
    const findings = literal.words.map(({ exact, prefix, literal, infixes }, i) => {
      return { exact, prefix, literal, infixes, typos: typos.get(i) ?? [] };
    });
    const variants = cuts.length === 0 ? literal.variants : [...literal.variants, ...cuts];
    const corrections = new Map<number, string>();
    for (const [i, { typos }] of findings.entries()) {
      const [best] = typos;
      if (best !== undefined && largest(best.frequencies) > (literal.known[i] as number))
        corrections.set(i, best.term);
    }
    return {
      words: searchWords(text.words, findings, variants, languages, literal.liveRows),
      lengths: literal.lengths,
      typos,
      frequencies: literal.known,
      corrections,
    };
  }
}
