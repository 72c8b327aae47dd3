// Remembers a query's words in the form in which the search program takes them, and the words that documents
// write for several of them, for one index, one of its generations and one set of queried fields. A query of
// remembered words looks nothing up in the dictionaries and encodes nothing.
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import type { CacheMeter } from "../../ground/metrics/recorder.js";
import type { FoundForm, FoundWord } from "./alternatives.js";
import { type AverageLengths, averageLengths } from "./average-lengths.js";
import type { QueryWord } from "./query-text.js";
import type { KnownWords } from "./typos/ranked-typos.js";
import type { Join } from "./variants.js";

/** The fields that a query searches. */
export interface SearchedFields {
  readonly slots: readonly number[];
  /** Slots of those fields that also match words inside longer words. */
  readonly infixSlots: readonly number[];
  /** Stemmer numbers for the fields' languages. */
  readonly languages: readonly number[];
  /** Identifies the three fields above. Remembered words depend on nothing else. */
  readonly key: string;
}

/**
 * Maximum weight of the remembered words of one kind. A word weighs WORD_WEIGHT plus its number of terms,
 * about 20 in total, for which it uses about 1.5 KB.
 */
const WORDS_WEIGHT_MAX = 24_576;
const WORD_WEIGHT = 8;
const JOINS_MAX = 4_096;

const NO_FORMS: readonly FoundForm[] = [];

export class WordMemory {
  /** Number of live documents. */
  readonly liveRows: number;
  readonly lengths: AverageLengths;
  readonly #meter: CacheMeter | null;
  /** Words by their terms: one cache each for whole words, prefixes and quoted words. */
  readonly #kinds = [0, 1, 2].map(() => new ClockCache<string, FoundWord>(WORDS_WEIGHT_MAX));
  readonly #joins = new ClockCache<string, readonly FoundForm[]>(JOINS_MAX);

  /** `meter` counts the queries whose words are all remembered. */
  constructor(statistics: Pick<KnownWords, "slots" | "liveRows">, meter: CacheMeter | null = null) {
    this.#meter = meter;
    this.liveRows = statistics.liveRows;
    this.lengths = averageLengths(statistics);
  }

  /** Returns null if the word is not remembered. */
  word(word: QueryWord): FoundWord | null {
    return this.#ofKind(word).get(keyOfWord(word)) ?? null;
  }

  keepWord(word: QueryWord, found: FoundWord): void {
    let weight = WORD_WEIGHT;
    for (const { terms } of found.search.alternatives) weight += terms.length;
    this.#ofKind(word).set(keyOfWord(word), found, weight);
  }

  /** Returns those of the join's forms that occur in some document. Null if they are not remembered. */
  join(join: Join): readonly FoundForm[] | null {
    return this.#joins.get(keyOfJoin(join)) ?? null;
  }

  keepJoin(join: Join, found: readonly FoundForm[]): void {
    this.#joins.set(keyOfJoin(join), found.length === 0 ? NO_FORMS : found);
  }

  countHit(): void {
    if (this.#meter !== null) this.#meter.hits++;
  }

  #ofKind({ prefix, quoted }: QueryWord): ClockCache<string, FoundWord> {
    return this.#kinds[quoted ? 2 : prefix ? 1 : 0]!;
  }
}

/** Terms contain no spaces, so a space can separate them. */
function keyOfWord({ terms }: QueryWord): string {
  return terms.length === 1 ? terms[0]! : terms.join(" ");
}

function keyOfJoin({ term, begun }: Join): string {
  return begun ? `${term} ` : term;
}
