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
/** Maximum weight of the remembered joins. Most joins have no forms. */
const JOINS_WEIGHT_MAX = 8_192;
const JOIN_WEIGHT = 2;
const FORM_WEIGHT = 4;
const EMPTY_WEIGHT = 8;
/** Maximum weight of all of a thread's memories, about 40 MB. */
const THREAD_WEIGHT_MAX = 2 ** 19;

const NO_FORMS: readonly FoundForm[] = [];

type Statistics = Pick<KnownWords, "slots" | "liveRows">;

export class WordMemory {
  /** Number of live documents. */
  readonly liveRows: number;
  readonly lengths: AverageLengths;
  readonly #meter: CacheMeter | null;
  /** Words by their terms: one cache each for whole words, prefixes and quoted words. */
  readonly #kinds = [0, 1, 2].map(() => new ClockCache<string, FoundWord>(WORDS_WEIGHT_MAX));
  readonly #joins = new ClockCache<string, readonly FoundForm[]>(JOINS_WEIGHT_MAX);
  readonly #onGrown: (memory: WordMemory) => void;

  /** `meter` counts the queries whose words are all remembered. `onGrown` is called after each addition. */
  constructor(
    statistics: Statistics,
    meter: CacheMeter | null = null,
    onGrown: (memory: WordMemory) => void = () => undefined,
  ) {
    this.#meter = meter;
    this.#onGrown = onGrown;
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
    this.#onGrown(this);
  }

  /** Returns those of the join's forms that occur in some document. Null if they are not remembered. */
  join(join: Join): readonly FoundForm[] | null {
    return this.#joins.get(keyOfJoin(join)) ?? null;
  }

  keepJoin(join: Join, found: readonly FoundForm[]): void {
    const forms = found.length === 0 ? NO_FORMS : found;
    this.#joins.set(keyOfJoin(join), forms, JOIN_WEIGHT + FORM_WEIGHT * forms.length);
    this.#onGrown(this);
  }

  /** Weight of everything that is remembered. */
  get weight(): number {
    return this.#kinds.reduce((sum, { weight }) => sum + weight, EMPTY_WEIGHT + this.#joins.weight);
  }

  countHit(): void {
    if (this.#meter !== null) this.#meter.hits++;
  }

  #ofKind({ prefix, quoted }: QueryWord): ClockCache<string, FoundWord> {
    return this.#kinds[quoted ? 2 : prefix ? 1 : 0]!;
  }
}

/** Identifies a memory in WordMemories. */
export type MemoryKey = object;

/** The memories of one thread. The least recently used ones are dropped if they grow too large. */
export class WordMemories {
  readonly #memories: ClockCache<MemoryKey, WordMemory>;

  constructor(weightMax = THREAD_WEIGHT_MAX) {
    this.#memories = new ClockCache(weightMax);
  }

  get(key: MemoryKey): WordMemory | undefined {
    return this.#memories.get(key);
  }

  /** Makes an empty memory. A query may still add to it when it has been dropped. */
  make(key: MemoryKey, statistics: Statistics, meter: CacheMeter): WordMemory {
    const made = new WordMemory(statistics, meter, (memory) => {
      if (this.#memories.get(key) === memory) this.#memories.set(key, memory, memory.weight);
    });
    this.#memories.set(key, made, made.weight);
    return made;
  }

  delete(key: MemoryKey): void {
    this.#memories.delete(key);
  }
}

/** Terms contain no spaces, so a space can separate them. */
function keyOfWord({ terms }: QueryWord): string {
  return terms.length === 1 ? terms[0]! : terms.join(" ");
}

function keyOfJoin({ term, begun }: Join): string {
  return begun ? `${term} ` : term;
}
