// Remembers whole answers to queries, for all indexes of the server together and within a number of bytes.
// An answer is kept when its question comes a second time: most questions never do, and are not worth the
// copy.
//
// Why no answer is ever out of date: an answer is that of one generation of the index and of one state of its
// record, rules and synonyms, and follows from these and the body of the query, which is compared byte by
// byte. A write makes a new generation, a merge changes no answer. What else changes answers makes the index
// a new owner here (see IndexState): another schema with its re-indexing, unloading, and the restart of a
// shard, which then has its newest state only. Refused and late searches are errors, not answers.
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import type { CacheMeter } from "../../ground/metrics/recorder.js";

/**
 * A question with an answer that takes a larger part than this is not kept: it would drop too many others.
 */
const PART_MAX = 1 / 64;
/** Of the objects around the bytes of an answer. */
const ENTRY_BYTES = 300;
/** Questions seen once of which is known that they were. A power of two. */
const SEEN_ONCE = 2 ** 15;

/** What a client asks of an index. */
export interface Question {
  /** See QueriedIndex. */
  readonly state: number;
  /** The body of the query, or something that stands for it. */
  readonly body: Uint8Array;
  /** How large the answer may be. */
  readonly bytesMax: number;
  /** It may be asked in other words than it is typed: the plan of who asks has that. */
  readonly understood: boolean;
  /** The filter of who asks, see Within; empty for none. */
  readonly within: string;
}

/** What is kept of an answer. */
export interface RememberedAnswer {
  /** See EncodedResponse.content; must stay as it is. */
  readonly content: Uint8Array;
  /** What the query log hears of it, see encodeAnswered. Null when that is nothing. */
  readonly answered: Uint8Array | null;
}

interface Entry extends Question, RememberedAnswer {
  readonly owner: IndexAnswers;
  readonly generation: number;
}

export class AnswerCache {
  readonly #entryBytesMax: number;
  readonly #meter: CacheMeter;
  /** By hash. */
  readonly #entries: ClockCache<number, Entry>;
  /** Hashes by their last bits: what was asked since then in the same place is forgotten. */
  readonly #seenOnce = new Int32Array(SEEN_ONCE);
  #owners = 0;

  constructor(bytesMax: number, meter: CacheMeter) {
    this.#entries = new ClockCache(bytesMax);
    this.#entryBytesMax = bytesMax * PART_MAX;
    this.#meter = meter;
  }

  /** A new owner of answers, who has none yet. */
  owner(): IndexAnswers {
    return new IndexAnswers(this, ++this.#owners);
  }

  /** Null when the answer is not known. */
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

  /** Keeps a copy of the answer, if the question was put before. */
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
    const copies = { body: new Uint8Array(question.body), content: new Uint8Array(content), answered };
    this.#entries.set(hash, { ...question, ...copies, owner, generation }, bytes);
  }

  #keeps(bytes: number): boolean {
    return bytes <= this.#entryBytesMax;
  }
}

/** What is remembered of one index until something else than a write changes its answers. */
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

/** FNV-1a. */
function hashOf(owner: number, generation: number, question: Question): number {
  const { state, body, bytesMax, understood, within } = question;
  let hash = 0x811c9dc5;
  for (const number of [owner, generation, state, bytesMax, Number(understood), within.length])
    hash = Math.imul(hash ^ number, 0x01000193);
  for (let i = 0; i < within.length; i++) hash = Math.imul(hash ^ within.charCodeAt(i), 0x01000193);
  for (let i = 0; i < body.length; i++) hash = Math.imul(hash ^ body[i]!, 0x01000193);
  return hash;
}
