// Remembers what the dictionaries answered about single words, for one index and its latest generation. A newer
// generation empties it. It keeps words, not queries, because queries share their words far more often than their
// wording. The cache has two halves: an answer that is used moves to the young half, and when the young half is full the
// old one is dropped. So the answers that were not used for longest go first.
import type {
  ExpandProgram,
  ExpandSuspect,
  ExpandWord,
} from "../../../engine-wasm/host/programs/expand-program.js";
import type { CacheMeter } from "../../ground/metrics/recorder.js";
import { CutsCache } from "./cuts-cache.js";
import {
  type KnownSuspect,
  type KnownWord,
  type KnownWords,
  largest,
  type ToldWords,
} from "./typos/ranked-typos.js";

/** How many words are kept in all. A query of three words asks for about fifty, because it asks for each way to cut them too. */
const WORDS_MAX = 24_000;
/** How many sets of queried fields are kept. Most indexes are asked in one or two. */
const SLOT_LISTS_MAX = 32;
/** How many listed terms all answers may have together. A term takes some 200 bytes. */
const TERMS_TOTAL_MAX = 60_000;

/** What the dictionary of one set of fields holds apart from words. */
type Statistics = Omit<KnownWords, "words">;

export class ExpansionCache {
  readonly #statistics = new Map<string, Statistics>();
  /** By the number of fields, the one answer that all words share which no field has. */
  readonly #absent: KnownWord[] = [];
  #young: Half = new Map();
  #old: Half = new Map();
  #youngWords = 0;
  /** How many listed terms the young half has. */
  #youngTerms = 0;
  readonly #meter: CacheMeter;
  readonly #cuts = new CutsCache();
  #generation = -1;

  constructor(meter: CacheMeter) {
    this.#meter = meter;
  }

  /**
   * The answer as far as it is known. Each word that has to be asked for is null, and so may be the statistics. `suspects`
   * is called only when something is missing.
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

  /** The cuts of words as of a generation; null when those of another one are remembered. */
  cuts(generation: number): CutsCache | null {
    return generation === this.#generation ? this.#cuts : null;
  }

  /** Keeps an answer unless a newer generation has been seen. */
  put(generation: number, { slots, words, suspects = [] }: ExpandProgram, answer: ToldWords): void {
    if (generation < this.#generation) return;
    if (generation > this.#generation) {
      this.#statistics.clear();
      this.#young.clear();
      this.#old.clear();
      this.#cuts.clear();
      this.#youngWords = 0;
      this.#youngTerms = 0;
      this.#generation = generation;
    }
    const prefix = slots.join();
    if (this.#statistics.size >= SLOT_LISTS_MAX) this.#statistics.clear();
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

  /** True when nothing more can be learned in advance: the word is no suspect, or its typos are known. */
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

/** Answers by the queried fields, then by what was asked of a word, then by the word. One key of all three would cost more to make. */
type Half = Map<string, Map<string, KnownWord>[]>;

export interface KnownExpansions {
  readonly statistics: Statistics | null;
  /** The answers in the order of the program's words. */
  readonly words: readonly (KnownWord | null)[];
  /** What the shards have to be asked for. */
  readonly missing: ExpandProgram;
}

/** The words that are not known, and the suspects with those of their witnesses that are not known. */
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

/** What is asked of a word, as a small number. */
function kindOf({ exact, prefix, typoPrefix, maxTypos, infix }: ExpandWord): number {
  const inside = infix === undefined ? 0 : infix === "anywhere" ? 8 : 16;
  return (exact ? 1 : 0) + (prefix ? 2 : 0) + (typoPrefix ? 4 : 0) + inside + 24 * maxTypos;
}

function termsOf({ typos, prefix, infixes }: KnownWord): number {
  return (typos?.length ?? 0) + (prefix?.terms?.length ?? 0) + (infixes?.length ?? 0);
}

/** Whether the word was asked for whole and no document has it. This is frequent, because most ways to cut a word give no words. */
function isAbsent({ exact, prefix, typos, infixes }: KnownWord): boolean {
  const onlyExact = exact !== null && prefix === null && typos === null && infixes === null;
  return onlyExact && exact.every((frequency) => frequency === 0);
}
