// Looks query words and their variants up in the dictionaries of all shards and adds the answers up. So every decision
// about a word is based on global counts and is the same for any number of shards.
import type {
  ExpandProgram,
  ExpandSuspect,
  ExpandWord,
} from "../../engine-wasm/host/programs/expand-program.js";
import type { InfixExpansion } from "../../engine-wasm/host/programs/expand-result.js";
import type { SearchWord } from "../../engine-wasm/host/programs/search-program.js";
import type { IndexScale } from "../cluster/index-state.js";
import {
  type FoundVariant,
  fewMax,
  hasFrequentNeighbour,
  isEvidence,
  isFew,
  isMissing,
  isRare,
  knownFrequency,
  rareMax,
  searchWords,
  type WordFindings,
} from "../words/alternatives.js";
import type { Dictionaries } from "../words/dictionaries.js";
import { infixQuestion } from "../words/infixes.js";
import type { QueryWord } from "../words/query-text.js";
import {
  type KnownWord,
  type KnownWords,
  largest,
  preferSearched,
  sumLists,
  type WordTypos,
} from "../words/ranked-typos.js";
import { looseSplits, type Variant } from "../words/variants.js";
import { type AverageLengths, averageLengths } from "./average-lengths.js";
import type { QueryPlan } from "./plan.js";

/** The query's words as the index knows them. */
export interface ExpandedWords {
  readonly words: readonly SearchWord[];
  readonly lengths: AverageLengths;
  /** Typos were looked up for every word that may have them, so looking them up again would change nothing. */
  readonly exhausted: boolean;
  /** For each word, at most how many documents have it in some known form. */
  readonly frequencies: readonly number[];
  /** The best spelling of each word that was taken for misspelt, by the word's number. */
  readonly corrections: ReadonlyMap<number, string>;
}

/** What the dictionaries hold without typos. */
interface Literal {
  readonly liveRows: number;
  readonly lengths: AverageLengths;
  readonly words: readonly Omit<WordFindings, "typos">[];
  readonly variants: readonly FoundVariant[];
  /** For each word, what knownFrequency says. */
  readonly known: readonly number[];
  /** Further variants, made by cutting the words that no document has. */
  readonly cuts: Promise<readonly FoundVariant[]>;
}

type SuspicionLimits = Pick<ExpandSuspect, "few" | "rare">;

type Typos = ReadonlyMap<number, WordTypos>;

const ALL_DOCUMENTS = 2 ** 32 - 1;
const NO_TYPOS: WordTypos = { ranked: [], neighbourFrequency: 0 };

/** Global dictionary answers for one query and read view; remembers nothing between queries. */
export class WordExpander {
  readonly #plan: QueryPlan;
  readonly #dictionaries: Pick<Dictionaries, "lookUp">;
  #literal: Promise<Literal> | null = null;

  constructor(plan: QueryPlan, dictionaries: Pick<Dictionaries, "lookUp">) {
    this.#plan = plan;
    this.#dictionaries = dictionaries;
  }

  /** The words, with typos of those that the typo policy suspects. */
  async asWritten(): Promise<ExpandedWords> {
    const literal = await this.#lookUp();
    return this.#withTypos(literal, this.#suspectedTypos(literal));
  }

  /** The words with all the typos that their lengths allow. */
  async withAllTypos(): Promise<ExpandedWords> {
    const literal = await this.#lookUp();
    return this.#withTypos(
      literal,
      this.#lookUpTypos((word) => word.typosMax),
    );
  }

  async #withTypos(literal: Literal, found: Promise<Typos>): Promise<ExpandedWords> {
    const [typos, cuts] = await Promise.all([found, literal.cuts]);
    const all = await this.#atLast(literal, typos);
    return this.#choose({ ...literal, variants: [...literal.variants, ...cuts] }, all);
  }

  #lookUp(): Promise<Literal> {
    this.#literal ??= this.#lookUpLiteral();
    return this.#literal;
  }

  async #lookUpLiteral(): Promise<Literal> {
    const { words } = this.#plan.text;
    const found = new WordTerms(this.#plan.slots, words, this.#plan.variants);
    const [answer, infixes] = await Promise.all([
      this.#dictionaries.lookUp(found.program, () => this.#suspects(found)),
      this.#lookUpInfixes(),
    ]);
    const variants = found.variants(this.#plan.variants, answer);
    const literal = {
      liveRows: answer.liveRows,
      lengths: averageLengths(answer),
      words: words.map((word, i) => ({ ...found.word(word, answer), infixes: infixes.get(i) ?? [] })),
    };
    const known = words.map((_, i) =>
      knownFrequency(i, { ...literal.words[i], typos: [] } as WordFindings, variants),
    );
    return { ...literal, variants, known, cuts: this.#lookUpCuts(known) };
  }

  /** The terms that contain the words, in the fields with `infix`. Asks nothing when there are no such fields or words. */
  async #lookUpInfixes(): Promise<ReadonlyMap<number, readonly InfixExpansion[]>> {
    const { infixSlots, text } = this.#plan;
    if (infixSlots.length === 0) return new Map();
    const asked = text.words.flatMap((word, i) => {
      const question = infixQuestion(word);
      return question === null ? [] : [{ i, question }];
    });
    if (asked.length === 0) return new Map();
    const words = asked.map(({ question }) => question);
    const answer = await this.#dictionaries.lookUp({ slots: infixSlots, words });
    return new Map(asked.map(({ i }, at) => [i, answer.words[at]?.infixes ?? []]));
  }

  /**
   * Words whose typos will be wanted if other shards do not have the words either. Each shard is told of them together with
   * the words themselves, which saves a round of messages. `#lookUpTypos` then finds the answers in the dictionaries' memory.
   */
  #suspects(asked: WordTerms): ExpandSuspect[] {
    const { text, variants, typoPolicy, scale } = this.#plan;
    const { few, rare } = suspicion(typoPolicy, scale);
    return text.words.flatMap((word, i) =>
      word.typosMax === 0
        ? []
        : [
            {
              term: word.terms[0] as string,
              typoPrefix: word.prefix,
              maxTypos: word.typosMax,
              few,
              rare,
              witnesses: asked.numbersOf([word, ...variants.filter((one) => isEvidence(one, i))]),
            },
          ],
    );
  }

  /** Looks up the cuts of missing words. Runs at the same time as the look-up of typos, which does not depend on it. */
  async #lookUpCuts(known: readonly number[]): Promise<readonly FoundVariant[]> {
    const { text, slots } = this.#plan;
    const loose = text.words.flatMap((word, i) =>
      isMissing(known[i] as number) ? looseSplits(word, i) : [],
    );
    if (loose.length === 0) return [];
    const cuts = new WordTerms(slots, [], loose);
    return cuts.variants(loose, await this.#dictionaries.lookUp(cuts.program));
  }

  async #suspectedTypos(literal: Literal): Promise<Typos> {
    const { typoPolicy, text } = this.#plan;
    const known = (i: number): number => literal.known[i] as number;
    if (typoPolicy === "always") return this.#lookUpTypos((word) => word.typosMax);
    if (typoPolicy === "missing")
      return this.#lookUpTypos((word, i) => (isMissing(known(i)) ? word.typosMax : 0));
    const few = (i: number): boolean => isFew(known(i), literal.liveRows);
    const rare = (i: number): boolean => isRare(known(i), literal.liveRows);
    const near = await this.#lookUpTypos((word, i) =>
      few(i) ? word.typosMax : rare(i) ? Math.min(1, word.typosMax) : 0,
    );
    const suspects = [...near].filter(([i, typos]) => few(i) || hasFrequentNeighbour(known(i), typos));
    const complete = ([i]: readonly [number, unknown]): boolean =>
      few(i) || (text.words[i] as QueryWord).typosMax === 1;
    if (suspects.every(complete)) return new Map(suspects);
    const numbers = new Set(suspects.map(([i]) => i));
    return this.#lookUpTypos((word, i) => (numbers.has(i) ? word.typosMax : 0));
  }

  /** Allows more typos for a word that no document has in any form, not even with the usual number of typos. */
  async #atLast(literal: Literal, typos: Typos): Promise<Typos> {
    const isLost = (word: QueryWord, i: number): boolean =>
      isMissing(literal.known[i] as number) &&
      typos.get(i)?.ranked.length === 0 &&
      word.typosAtLast > word.typosMax;
    const more = await this.#lookUpTypos((word, i) => (isLost(word, i) ? word.typosAtLast : 0));
    return more.size === 0 ? typos : new Map([...typos, ...more]);
  }

  /** Typos of the words for which `typosOf` allows some; asks nothing when there are none. */
  async #lookUpTypos(typosOf: (word: QueryWord, i: number) => number): Promise<Typos> {
    const wanted = this.#plan.text.words
      .map((word, i) => ({ word, i, maxTypos: typosOf(word, i) }))
      .filter(({ maxTypos }) => maxTypos > 0);
    if (wanted.length === 0) return new Map();
    const words = wanted.map(
      ({ word, maxTypos }): ExpandWord => ({
        term: word.terms[0] as string,
        exact: false,
        prefix: false,
        typoPrefix: word.prefix,
        maxTypos,
      }),
    );
    const result = await this.#dictionaries.lookUp({ slots: this.#plan.slots, words });
    return new Map(wanted.map(({ i }, at) => [i, result.words[at]?.typos ?? NO_TYPOS]));
  }

  #choose(literal: Literal, typos: Typos): ExpandedWords {
    const { text, languages } = this.#plan;
    const searchesOf = (term: string): number => this.#plan.popularity.searchesOf(term);
    const findings = literal.words.map((word, i) => ({
      ...word,
      typos: preferSearched(typos.get(i)?.ranked ?? [], searchesOf),
    }));
    return {
      words: searchWords(text.words, findings, literal.variants, languages, literal.liveRows),
      lengths: literal.lengths,
      exhausted: text.words.every((word, i) => word.typosMax === 0 || typos.has(i)),
      frequencies: literal.known,
      corrections: new Map(
        findings.flatMap(({ typos: [best] }, i) => {
          const likelier = best !== undefined && largest(best.frequencies) > (literal.known[i] as number);
          return likelier ? [[i, best.term] as const] : [];
        }),
      ),
    };
  }
}

/** Up to how many documents in one field of one shard a word is suspected. For "rare" it is the shard's share of the global limit. */
function suspicion(policy: QueryPlan["typoPolicy"], { documents, shards }: IndexScale): SuspicionLimits {
  if (policy === "always") return { few: ALL_DOCUMENTS, rare: ALL_DOCUMENTS };
  if (policy === "missing") return { few: 0, rare: 0 };
  return { few: fewMax(documents), rare: Math.floor(rareMax(documents) / shards) };
}

/** The terms of words and variants as one request in which each term stands once. Reads the answer back by term. */
class WordTerms {
  readonly program: ExpandProgram;
  readonly #at = new Map<string, number>();

  constructor(slots: readonly number[], words: readonly QueryWord[], variants: readonly Variant[]) {
    const wanted: ExpandWord[] = [];
    const add = (term: string, prefix: boolean): void => {
      const at = this.#at.get(term);
      if (at === undefined) {
        this.#at.set(term, wanted.length);
        wanted.push({ term, exact: true, prefix, typoPrefix: false, maxTypos: 0 });
      } else if (prefix) {
        wanted[at] = { ...(wanted[at] as ExpandWord), prefix };
      }
    };
    for (const { terms, prefix } of [...words, ...variants]) for (const term of terms) add(term, prefix);
    this.program = { slots, words: wanted };
  }

  /** The numbers in the program of the terms of words and variants, each number once. */
  numbersOf(all: readonly { readonly terms: readonly string[] }[]): number[] {
    return [...new Set(all.flatMap(({ terms }) => terms.map((term) => this.#at.get(term) as number)))];
  }

  word({ terms, prefix }: QueryWord, answer: KnownWords): Omit<WordFindings, "typos" | "infixes"> {
    const found = this.#found(terms[0] as string, answer);
    const range = prefix ? (found.prefix ?? null) : null;
    return {
      exact: this.#rarest(terms, answer),
      prefix: range,
      literal:
        terms.length > 1
          ? this.#rarest(terms, answer)
          : largest(sumLists([found.exact, range?.frequencies ?? null])),
    };
  }

  /** Those variants that some document may have. */
  variants(variants: readonly Variant[], answer: KnownWords): FoundVariant[] {
    return variants
      .map((variant) => ({ variant, frequency: this.#frequency(variant, answer) }))
      .filter(({ frequency }) => frequency > 0);
  }

  #frequency({ terms, sequence, prefix }: Variant, answer: KnownWords): number {
    if (sequence) return this.#rarest(terms, answer);
    const lists = terms.flatMap((term) => {
      const found = this.#found(term, answer);
      return [found.exact, prefix ? (found.prefix?.frequencies ?? null) : null];
    });
    return largest(sumLists(lists));
  }

  /** The frequency of the rarest term. No more documents than that can have all the terms side by side. */
  #rarest(terms: readonly string[], answer: KnownWords): number {
    return Math.min(...terms.map((term) => largest(this.#found(term, answer).exact ?? [])));
  }

  #found(term: string, answer: KnownWords): KnownWord {
    return answer.words[this.#at.get(term) as number] as KnownWord;
  }
}
