// Asks every shard, within a time limit, for its health and for statistics of some indexes. The results are
// for metrics, which must neither hang nor delay queries. A shard that has not answered the last survey yet
// is skipped, so surveys never pile up in its queue.

import {
  decodeStatsReply,
  encodePing,
  encodeStats,
  type IndexStats,
} from "../../../shards/protocol/control.js";
import { ShardError } from "../../../shards/protocol/errors.js";
import { decodeTogetherReply, encodeTogether } from "../../../shards/protocol/together.js";
import type { Location } from "../../catalog/schema/placement.js";
import { within } from "../../ground/jobs/deadline.js";
import type { Message } from "../threads/shard-pool.js";
import { sumStats } from "./index-messages.js";

/**
 * Maximum number of indexes that one message asks about. Between two messages, the shard can answer queries.
 */
const INDEXES_PER_MESSAGE = 32;

export interface Survey {
  /** By shard: the ping's response time (ms), or null if no reply arrived in time. */
  readonly answerMs: readonly (number | null)[];
  /** By uid. Contains only indexes for which all shards have reported. */
  readonly stats: ReadonlyMap<number, IndexStats>;
}

/** What one shard has reported so far. */
interface Answers {
  answerMs: number | null;
  readonly stats: Map<number, IndexStats>;
}

export class ShardSurvey {
  readonly #shards: number;
  readonly #locationOf: (uid: number) => Location | undefined;
  readonly #ask: (shard: number, request: Message) => Promise<Uint8Array>;
  readonly #busy = new Set<number>();

  constructor(
    shards: number,
    locationOf: (uid: number) => Location | undefined,
    ask: (shard: number, request: Message) => Promise<Uint8Array>,
  ) {
    this.#shards = shards;
    this.#locationOf = locationOf;
    this.#ask = ask;
  }

  /** Collects what the shards report within `msMax` milliseconds, then resolves. Never rejects. */
  async take(uids: readonly number[], msMax: number): Promise<Survey> {
    const answers = Array.from(
      { length: this.#shards },
      (): Answers => ({ answerMs: null, stats: new Map() }),
    );
    let late = false;
    const asking = answers.map((answer, shard) => this.#askShard(shard, uids, answer, () => late));
    await within(Promise.all(asking), msMax, () => undefined);
    late = true;
    const stats = new Map<number, IndexStats>();
    for (const uid of uids) {
      const parts = answers.flatMap((answer) => answer.stats.get(uid) ?? []);
      if (parts.length === this.#locationOf(uid)?.places.length) stats.set(uid, sumStats(parts));
    }
    return { answerMs: answers.map((answer) => answer.answerMs), stats };
  }

  async #askShard(
    shard: number,
    indexes: readonly number[],
    answer: Answers,
    late: () => boolean,
  ): Promise<void> {
    if (this.#busy.has(shard)) return;
    const here = indexes.flatMap((uid) => {
      const location = this.#locationOf(uid);
      return location?.places.includes(shard) ? [{ uid, data: location.data }] : [];
    });
    this.#busy.add(shard);
    try {
      const startedMs = performance.now();
      await this.#ask(shard, encodePing());
      if (late()) return;
      answer.answerMs = performance.now() - startedMs;
      for (let at = 0; at < here.length && !late(); at += INDEXES_PER_MESSAGE) {
        const some = here.slice(at, at + INDEXES_PER_MESSAGE);
        const reply = await this.#ask(shard, encodeTogether(some.map(({ data }) => encodeStats(data))));
        decodeTogetherReply(reply).forEach((part, i) => {
          const stats = statsOrNull(part);
          if (stats !== null) answer.stats.set(some[i]!.uid, stats);
        });
      }
    } catch {
      // The shard has not reported because it is restarting, has refused the request, or is stopping. The
      // survey does without its report.
    } finally {
      this.#busy.delete(shard);
    }
  }
}

/**
 * Decodes statistics. Returns null if the index is not open in the shard, for example because it is being
 * created or dropped.
 */
function statsOrNull(reply: Uint8Array): IndexStats | null {
  try {
    return decodeStatsReply(reply);
  } catch (error) {
    if (error instanceof ShardError) return null;
    throw error;
  }
}
