// Remembers what all shards answered to whole searches, for all indexes of the server together and within a number of
// bytes; the least recently used answers go first. An answer is kept when its question comes a second time: most
// questions never do, and are not worth the copy.
//
// Why no answer is ever out of date: shards answer a search from the snapshot of its generation, by the bytes of the
// program (words, filter, rules, pins, sort, facets, with all weights and statistics in them), the rows whose documents
// are wanted and what is wanted of these. All of it is in the question, which is compared byte by byte; left out are only
// the deadline, which ends a search and never shortens it, and the oldest generation that is still read. Settings, rules,
// synonyms and stop words reach a shard in no other way. A write makes a new generation, a merge changes no answer. What
// else changes answers makes the index a new owner here (see IndexState): another schema with its re-indexing, unloading,
// and the restart of a shard, which then has its newest state only. Refused and late searches are errors, not answers.
import { askedOf } from "../../shards/protocol/program.js";
import type { CacheMeter } from "../metrics/recorder.js";

/** An answer that takes a larger part than this is not kept: it would drop too many others. */
const PART_MAX = 1 / 64;
/** Of the objects around the bytes of an answer. */
const ENTRY_BYTES = 300;
/** Questions seen once of which is known that they were. A power of two. */
const SEEN_ONCE = 2 ** 15;

interface Entry {
  readonly owner: IndexAnswers;
  readonly generation: number;
  readonly op: number;
  readonly asked: Uint8Array;
  /** By shard. */
  readonly replies: readonly Uint8Array[];
  readonly bytes: number;
}

export class AnswerCache {
  readonly #bytesMax: number;
  readonly #meter: CacheMeter;
  /** By hash, the least recently used first. */
  readonly #entries = new Map<number, Entry>();
  /** Hashes by their last bits: what was asked since then in the same place is forgotten. */
  readonly #seenOnce = new Int32Array(SEEN_ONCE);
  #bytes = 0;
  #owners = 0;

  constructor(bytesMax: number, meter: CacheMeter) {
    this.#bytesMax = bytesMax;
    this.#meter = meter;
  }

  /** A new owner of answers, who has none yet. */
  owner(): IndexAnswers {
    return new IndexAnswers(this, ++this.#owners);
  }

  /** The replies of all shards, by their number; views that must stay as they are. Null when they are not known. */
  get(owner: IndexAnswers, generation: number, request: Uint8Array): readonly Uint8Array[] | null {
    const asked = askedOf(request);
    const hash = hashOf(owner.number, generation, asked);
    const entry = this.#entries.get(hash);
    const known =
      entry !== undefined &&
      entry.owner === owner &&
      entry.generation === generation &&
      entry.op === request[0] &&
      Buffer.compare(entry.asked, asked) === 0;
    if (!known) {
      this.#meter.misses++;
      return null;
    }
    this.#meter.hits++;
    this.#entries.delete(hash);
    this.#entries.set(hash, entry);
    return entry.replies;
  }

  /** Keeps copies of the replies, if the question was put before. */
  put(owner: IndexAnswers, generation: number, request: Uint8Array, replies: readonly Uint8Array[]): void {
    const asked = askedOf(request);
    const bytes = replies.reduce((sum, reply) => sum + reply.length, asked.length) + ENTRY_BYTES;
    if (bytes > this.#bytesMax * PART_MAX) return;
    const hash = hashOf(owner.number, generation, asked);
    const place = hash & (SEEN_ONCE - 1);
    if (this.#seenOnce[place] !== hash) {
      this.#seenOnce[place] = hash;
      return;
    }
    this.#drop(hash);
    const copies = copied([asked, ...replies]);
    const entry = { owner, generation, op: request[0]!, asked: copies[0]!, replies: copies.slice(1), bytes };
    this.#entries.set(hash, entry);
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#drop(oldest);
    }
  }

  #drop(hash: number): void {
    this.#bytes -= this.#entries.get(hash)?.bytes ?? 0;
    this.#entries.delete(hash);
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
  get(generation: number, request: Uint8Array): readonly Uint8Array[] | null {
    return this.#cache.get(this, generation, request);
  }

  /** See AnswerCache. */
  put(generation: number, request: Uint8Array, replies: readonly Uint8Array[]): void {
    this.#cache.put(this, generation, request, replies);
  }
}

/** FNV-1a. */
function hashOf(owner: number, generation: number, bytes: Uint8Array): number {
  let hash = Math.imul(Math.imul(0x811c9dc5 ^ owner, 0x01000193) ^ generation, 0x01000193);
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  return hash;
}

/** Views into one copy of them all: the message that a reply came in may be much larger. */
function copied(parts: readonly Uint8Array[]): Uint8Array[] {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  return parts.map((part) => {
    whole.set(part, at);
    at += part.length;
    return whole.subarray(at - part.length, at);
  });
}
