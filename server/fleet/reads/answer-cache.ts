// A cache of complete answers to queries, shared by all of the server's indexes and limited in bytes. An
// answer is stored only when its question is asked for the second time, because most questions are never
// repeated and their answers are not worth copying.
//
// A cached answer is never out of date. It is valid for one generation of the index and one state of its
// record, rules, synonyms and popular searches. Apart from these, an answer depends only on the members of
// `Question`, and a hit requires all of them to be equal. A write creates a new generation; a merge changes
// no answer. Every other event that may change answers gives the index a new IndexAnswers object (see
// IndexHandle): a new schema and its re-indexing, unloading, and the restart of a shard, which then has only
// its newest state. Refused and late searches are errors and are not cached.
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import type { CacheMeter } from "../../ground/metrics/recorder.js";

/**
 * Maximum fraction of the cache that one question and its answer may take. Anything larger would evict too
 * many smaller entries.
 */
const PART_MAX = 1 / 64;
/** Estimated size of an entry's JavaScript objects, which is added to the size of its bytes. */
const ENTRY_BYTES = 300;
/** Number of slots that remember questions asked once. A power of two. */
const SEEN_ONCE = 2 ** 15;

/** What determines the answer to a query on one index. */
export interface Question {
  /** Number of the state of the index's record, rules, synonyms and popular searches; see QueriedIndex. */
  readonly state: number;
  /**
   * The query's body without its user: the bytes as received, with user and session emptied; or, if the body
   * had to be parsed, serialized again without them.
   */
  readonly body: Uint8Array;
  /** The answer's maximum size in bytes. */
  readonly bytesMax: number;
  /** True if the tenant's plan lets the server search for other words than those typed. */
  readonly understood: boolean;
  /** The filter in the caller's search token; "" if there is none. See Within. */
  readonly within: string;
}

/** The cached parts of an answer. */
export interface RememberedAnswer {
  /** What follows the reply's head; see `respond`. Must not be changed. */
  readonly content: Uint8Array;
  /** The answer's entry for the query log, see encodeAnswered. Null if the answer is not logged. */
  readonly answered: Uint8Array | null;
}

interface Entry extends Question, RememberedAnswer {
  readonly owner: IndexAnswers;
  readonly generation: number;
}

export class AnswerCache {
  readonly #entryBytesMax: number;
  readonly #meter: CacheMeter;
  /** Entries by their question's hash. */
  readonly #entries: ClockCache<number, Entry>;
  /**
   * Hashes of questions asked once so far. A hash's low bits select its slot, and a question replaces the
   * earlier one in its slot.
   */
  readonly #seenOnce = new Int32Array(SEEN_ONCE);
  #owners = 0;

  constructor(bytesMax: number, meter: CacheMeter) {
    this.#entries = new ClockCache(bytesMax);
    this.#entryBytesMax = bytesMax * PART_MAX;
    this.#meter = meter;
  }

  /** Creates an empty set of answers for one index. */
  owner(): IndexAnswers {
    return new IndexAnswers(this, ++this.#owners);
  }

  /** Returns the cached answer to the question, or null if there is none. */
  get(owner: IndexAnswers, generation: number, question: Question): RememberedAnswer | null {
    const hash = this.#keeps(question.body.length) ? hashOf(owner.number, generation, question) : null;
    const entry = hash === null ? undefined : this.#entries.get(hash);
    const known =
      hash !== null &&
      entry !== undefined &&
      entry.owner === owner &&
      entry.generation === generation &&
      entry.state === question.state &&
      entry.bytesMax === question.bytesMax &&
      entry.understood === question.understood &&
      entry.within === question.within &&
      Buffer.compare(entry.body, question.body) === 0;
    if (!known) {
      this.#meter.misses++;
      return null;
    }
    this.#meter.hits++;
    return entry;
  }

  /** Stores a copy of the answer if the question has been asked before. */
  put(owner: IndexAnswers, generation: number, question: Question, answer: RememberedAnswer): void {
    const { content, answered } = answer;
    const bytes =
      question.body.length +
      2 * question.within.length +
      content.length +
      (answered?.length ?? 0) +
      ENTRY_BYTES;
    if (!this.#keeps(bytes)) return;
    const hash = hashOf(owner.number, generation, question);
    const place = hash & (SEEN_ONCE - 1);
    if (this.#seenOnce[place] !== hash) {
      this.#seenOnce[place] = hash;
      return;
    }
    const copies = {
      body: new Uint8Array(question.body),
      content: new Uint8Array(content),
      answered: answered === null ? null : new Uint8Array(answered),
    };
    this.#entries.set(hash, { ...question, ...copies, owner, generation }, bytes);
  }

  #keeps(bytes: number): boolean {
    return bytes <= this.#entryBytesMax;
  }
}

/**
 * One index's cached answers. Replaced by a new object when something other than a write changes the index's
 * answers.
 */
export class IndexAnswers {
  readonly #cache: AnswerCache;
  readonly number: number;

  constructor(cache: AnswerCache, number: number) {
    this.#cache = cache;
    this.number = number;
  }

  /** See AnswerCache. */
  get(generation: number, question: Question): RememberedAnswer | null {
    return this.#cache.get(this, generation, question);
  }

  /** See AnswerCache. */
  put(generation: number, question: Question, answer: RememberedAnswer): void {
    this.#cache.put(this, generation, question, answer);
  }
}

/** FNV-1a hash of the question, the owner and the generation. */
function hashOf(owner: number, generation: number, question: Question): number {
  const { state, body, bytesMax, understood, within } = question;
  let hash = 0x811c9dc5;
  for (const number of [owner, generation, state, bytesMax, Number(understood), within.length])
    hash = Math.imul(hash ^ number, 0x01000193);
  for (let i = 0; i < within.length; i++) hash = Math.imul(hash ^ within.charCodeAt(i), 0x01000193);
  for (let i = 0; i < body.length; i++) hash = Math.imul(hash ^ body[i]!, 0x01000193);
  return hash;
}
