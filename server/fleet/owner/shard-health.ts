// Reports the shards' health: whether all of them respond, and what they report about themselves and their
// indexes.
import { encodePing } from "../../../shards/protocol/control.js";
import { decodeEmptyReply } from "../../../shards/protocol/reply.js";
import type { Location } from "../../catalog/schema/placement.js";
import type { Logger } from "../../ground/log.js";
import type { ShardReading } from "../../ground/metrics/readings.js";
import type { ShardCalls } from "../threads/shard-calls.js";
import type { ShardPool } from "../threads/shard-pool.js";
import { ShardSurvey } from "./shard-survey.js";

export class ShardHealth {
  readonly #pool: ShardPool;
  readonly #calls: ShardCalls;
  readonly #log: Logger;
  readonly #survey: ShardSurvey;

  /** `locationOf` returns an index's location, or undefined if the index cannot be opened. */
  constructor(
    pool: ShardPool,
    calls: ShardCalls,
    locationOf: (uid: number) => Location | undefined,
    log: Logger,
  ) {
    this.#pool = pool;
    this.#calls = calls;
    this.#log = log;
    this.#survey = new ShardSurvey(pool.count, locationOf, (shard, request) => pool.ask(shard, request));
  }

  /** True if every shard is up and responds. */
  async ready(): Promise<boolean> {
    if (!this.#pool.open) return false;
    try {
      await this.#calls.everywhere(encodePing, decodeEmptyReply);
      return true;
    } catch (error) {
      this.#log.debug({ err: error }, "not ready");
      return false;
    }
  }

  /**
   * Collects what the shards report about themselves and these indexes within `msMax` milliseconds. Never
   * rejects.
   */
  async survey(uids: readonly number[], msMax: number) {
    const { answerMs, stats } = await this.#survey.take(uids, msMax);
    const shards = this.#pool.readings().map((reading, shard): ShardReading => {
      const waited = answerMs[shard] ?? null;
      return { shard, up: waited !== null, answerMs: waited, ...reading };
    });
    return { shards, stats };
  }
}
