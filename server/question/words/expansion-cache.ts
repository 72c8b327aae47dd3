// Caches the dictionaries' answers about single words, and the words finished from them (word-memory.ts), for
// one index and its latest generation; a newer generation empties the cache. The key is a word rather than a
// query, because queries often share words but seldom their whole text. The cache has two halves: an answer
// moves to the young half when it is used, and when the young half is full, the old half is dropped. A
// ClockCache would not do: it needs one combined key per word and has only one limit, while this cache limits
// both words and terms.
import type {
  ExpandProgram,
  ExpandSuspect,
  ExpandWord,
} from "../../../engine-wasm/host/programs/expand-program.js";
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import type { CacheMeter } from "../../ground/metrics/recorder.js";
import {
  type KnownSuspect,
  type KnownWord,
  type KnownWords,
  largest,
  type ToldWords,
} from "./typos/ranked-typos.js";
import type { MemoryKey, SearchedFields, WordMemories, WordMemory } from "./word-memory.js";

/**
 * Maximum number of cached words. A query of three words looks up about fifty words, because it also looks up
 * each way to split them.
 */
const WORDS_MAX = 24_000;
/** Maximum number of sets of queried fields. Most indexes are queried with one or two sets. */
const SLOT_LISTS_MAX = 32;
/** Maximum number of sets of queried fields for which finished words are remembered. */
const MEMORIES_MAX = 3;
/** Maximum total number of terms listed in all answers. A term uses about 200 bytes. */
const TERMS_TOTAL_MAX = 60_000;

/** The statistics of an answer, which depend on the queried fields but not on the words. */
type Statistics = Omit<KnownWords, "words">;

export class ExpansionCache {
  readonly #statistics = new ClockCache<string, Statistics>(SLOT_LISTS_MAX);
  /** The answer shared by all words that occur in no document, by number of queried fields. */
  readonly #absent: KnownWord[] = [];
  #young: Half = new Map();
  #old: Half = new Map();
  #youngWords = 0;
  /** Number of terms listed in the answers of the young half. */
  #youngTerms = 0;
  readonly #meter: CacheMeter;
  readonly #memories: WordMemories;
  /** Keys of the memories, by the key of their fields, the oldest first. */
  readonly #keys = new Map<string, MemoryKey>();
  #generation = -1;

  constructor(meter: CacheMeter, memories: WordMemories) {
    this.#meter = meter;
    this.#memories = memories;
  }

  /**
   * Returns what is cached of the answer. Words that must be looked up are null, and so are the statistics if
   * they are not cached. Calls `suspects` only if something is missing.
   */
  get(
    generation: number,
    { slots, words }: ExpandProgram,
    suspects: () => readonly ExpandSuspect[] = () => [],
  ): KnownExpansions {
    const current = generation === this.#generation;
    const prefix = slots.join();
    const known = words.map((word) => (current ? this.#word(prefix, word) : null));
    const statistics = (current ? this.#statistics.get(prefix) : undefined) ?? null;
    if (statistics !== null && !known.includes(null)) {
      this.#meter.hits++;
      return { statistics, words: known, missing: { slots, words: [] } };
    }
    this.#meter.misses++;
    const open = suspects().filter((suspect) => !(current && this.#isSettled(prefix, suspect, known)));
    return { statistics, words: known, missing: missingOf({ slots, words, suspects: open }, known) };
  }

  /** Returns a generation's finished words for these fields, or null if there are none yet. */
  memory(generation: number, { key }: SearchedFields): WordMemory | null {
    if (generation !== this.#generation) return null;
    const own = this.#keys.get(key);
    return own === undefined ? null : (this.#memories.get(own) ?? null);
  }

  /**
   * Like `memory`, but creates the memory if there is none. Null if another generation is cached.
   * `statistics` are those of an answer about the fields.
   */
  memoryFor(generation: number, fields: SearchedFields, statistics: Statistics): WordMemory | null {
    if (generation !== this.#generation) return null;
    let own = this.#keys.get(fields.key);
    if (own === undefined) {
      if (this.#keys.size === MEMORIES_MAX) this.#forgetOldest();
      own = {};
      this.#keys.set(fields.key, own);
    }
    return this.#memories.get(own) ?? this.#memories.make(own, statistics, this.#meter);
  }

  /** Requires at least one memory. */
  #forgetOldest(): void {
    const [oldest] = this.#keys as Iterable<[string, MemoryKey]>;
    this.#keys.delete(oldest![0]);
    this.#memories.delete(oldest![1]);
  }

  /** Caches an answer unless a newer generation has been seen. */
  put(generation: number, { slots, words, suspects = [] }: ExpandProgram, answer: ToldWords): void {
    if (generation < this.#generation) return;
    if (generation > this.#generation) {
      this.#statistics.clear();
      this.#young.clear();
      this.#old.clear();
      while (this.#keys.size > 0) this.#forgetOldest();
      this.#youngWords = 0;
      this.#youngTerms = 0;
      this.#generation = generation;
    }
    const prefix = slots.join();
    this.#statistics.set(prefix, { liveRows: answer.liveRows, slots: answer.slots });
    words.forEach((word, i) => {
      const expansion = answer.words[i] as KnownWord;
      this.#keep(prefix, word, isAbsent(expansion) ? this.#absence(slots.length) : expansion);
    });
    suspects.forEach((suspect, i) => {
      const { maxTypos, typos } = answer.suspects[i] as KnownSuspect;
      if (maxTypos > 0)
        this.#keep(prefix, typosOf(suspect, maxTypos), { exact: null, prefix: null, typos, infixes: null });
    });
  }

  /**
   * True if the suspect's near terms need not be requested in advance. This is so if they are cached, if the
   * frequencies of all its witnesses are cached, or if a cached frequency shows that the word is frequent
   * enough.
   */
  #isSettled(slots: string, suspect: ExpandSuspect, known: readonly (KnownWord | null)[]): boolean {
    const frequencies = suspect.witnesses.map((number) => known[number] ?? null);
    return (
      !frequencies.includes(null) ||
      frequencies.some((witness) => witness !== null && documentsOf(witness) > suspect.few) ||
      this.#word(slots, typosOf(suspect, suspect.maxTypos)) !== null
    );
  }

  #absence(slots: number): KnownWord {
    this.#absent[slots] ??= {
      exact: new Array<number>(slots).fill(0),
      prefix: null,
      typos: null,
      infixes: null,
    };
    return this.#absent[slots];
  }

  #word(slots: string, word: ExpandWord): KnownWord | null {
    const kind = kindOf(word);
    const young = this.#young.get(slots)?.[kind]?.get(word.term);
    if (young !== undefined) return young;
    const old = this.#old.get(slots)?.[kind]?.get(word.term);
    if (old !== undefined) this.#keep(slots, word, old);
    return old ?? null;
  }

  #keep(slots: string, word: ExpandWord, expansion: KnownWord): void {
    const terms = termsOf(expansion);
    if (this.#youngWords >= WORDS_MAX / 2 || this.#youngTerms + terms > TERMS_TOTAL_MAX / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngWords = 0;
      this.#youngTerms = 0;
    }
    let kinds = this.#young.get(slots);
    if (kinds === undefined) {
      kinds = [];
      this.#young.set(slots, kinds);
    }
    const kind = kindOf(word);
    kinds[kind] ??= new Map();
    kinds[kind].set(word.term, expansion);
    this.#youngWords++;
    this.#youngTerms += terms;
  }
}

/**
 * Answers by queried fields, then by kind of lookup, then by word. A single combined key would cost more to
 * build.
 */
type Half = Map<string, Map<string, KnownWord>[]>;

export interface KnownExpansions {
  readonly statistics: Statistics | null;
  /** Answers in the order of the program's words. */
  readonly words: readonly (KnownWord | null)[];
  /** The words and suspects to look up in the shards. */
  readonly missing: ExpandProgram;
}

/**
 * Returns the program for everything that is not cached: the remaining words, and the suspects with their
 * uncached witnesses.
 */
function missingOf(
  { slots, words, suspects = [] }: ExpandProgram,
  known: readonly (KnownWord | null)[],
): ExpandProgram {
  let count = 0;
  const numbers = known.map((word) => (word === null ? count++ : null));
  const left = suspects.map((suspect) => ({
    ...suspect,
    witnesses: suspect.witnesses.flatMap((number) => numbers[number] ?? []),
  }));
  return { slots, words: words.filter((_, i) => known[i] === null), suspects: left };
}

function typosOf({ term, typoPrefix }: ExpandSuspect, maxTypos: number): ExpandWord {
  return { term, exact: false, prefix: false, typoPrefix, maxTypos };
}

function documentsOf({ exact, prefix }: KnownWord): number {
  return Math.max(largest(exact ?? []), largest(prefix?.frequencies ?? []));
}

/** Encodes as a small number what is looked up for the word. */
function kindOf({ exact, prefix, typoPrefix, maxTypos, infix }: ExpandWord): number {
  const inside = infix === undefined ? 0 : infix === "anywhere" ? 8 : 16;
  return (exact ? 1 : 0) + (prefix ? 2 : 0) + (typoPrefix ? 4 : 0) + inside + 24 * maxTypos;
}

function termsOf({ typos, prefix, infixes }: KnownWord): number {
  return (typos?.length ?? 0) + (prefix?.terms?.length ?? 0) + (infixes?.length ?? 0);
}

/**
 * True if the word was looked up as a whole and occurs in no document. This is common, because most splits of
 * a word yield parts that do not exist.
 */
function isAbsent({ exact, prefix, typos, infixes }: KnownWord): boolean {
  const onlyExact = exact !== null && prefix === null && typos === null && infixes === null;
  return onlyExact && exact.every((frequency) => frequency === 0);
}
