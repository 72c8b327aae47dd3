// The owner's side of the front-ends, the threads that share one address and answer searches. Starts and
// watches them, informs them of changes, and answers the requests that they forward. If a front-end hangs or
// fails, it is replaced while the others continue.

import { setTimeout as sleep } from "node:timers/promises";
import type { CertificatePair } from "../../access/edge/certificate.js";
import { uidOfData } from "../../catalog/schema/placement.js";
import type { Command } from "../../catalog/state.js";
import { SUSPECT_MS } from "../../fleet/threads/quarantine.js";
import type { ConnectedShard, ShardFollowers } from "../../fleet/threads/shard-pool.js";
import { Watchdog } from "../../fleet/threads/watchdog.js";
import { within } from "../../ground/jobs/deadline.js";
import type { Limits } from "../../ground/limits.js";
import type { Logger } from "../../ground/log.js";
import { type RecorderValues, ToldValues } from "../../ground/metrics/recorder-values.js";
import type { Config } from "../../operate/config/config.js";
import type { ExchangeContext, HttpHandler, HttpListener } from "../transport/port.js";
import type { WarmUpWanted } from "../warm-up-run.js";
import { FrontEndLife, type OwnerAnswers } from "./front-end-life.js";
import { GrowthWatch } from "./growth-watch.js";
import type { FrontEndData } from "./messages.js";
import { postedConfig } from "./posted-config.js";
import type { Pulse } from "./pulse.js";

/** Time (ms) within which a thread must exit when the server stops. After that, it is ended at once. */
const STOP_MS_MAX = 4_500;
const RESTART_PAUSE_MS = 50;

/** How many front-ends to start, and what they and their owner need. */
export interface FrontEndsOptions {
  readonly count: number;
  /** Returns the current start data for the front-end in slot `place`. */
  readonly dataOf: (place: number) => Omit<FrontEndData, "owner" | "config" | "certificate" | "leftToShards">;
  /** Current configuration. The caller must have checked that its port is free. */
  readonly config: Config;
  readonly certificate: CertificatePair | null;
  readonly answersOf: (place: number) => OwnerAnswers;
  readonly connect: (shard: number) => ConnectedShard | null;
  readonly shards: number;
  /** Releases everything in shared memory that belonged to the ended thread in slot `place`. */
  readonly clear: (place: number) => void;
  readonly pulse: Pulse;
  readonly handler: HttpHandler;
  readonly exchanges: ExchangeContext;
}

/**
 * The options with which the next front-end will be started. The configuration and the certificate change
 * while the server runs.
 */
type Present = { -readonly [K in keyof FrontEndsOptions]: FrontEndsOptions[K] };

interface Place {
  readonly number: number;
  readonly now: Present;
  readonly watchdog: Watchdog;
  readonly growth: GrowthWatch;
  life: FrontEndLife;
}

/**
 * Starts, watches and replaces the front-ends. Before `start` is called there are none, so messages to all
 * front-ends do nothing.
 */
export class FrontEnds implements ShardFollowers {
  readonly #limits: Pick<Limits, "shardHangMsMax">;
  readonly #log: Logger;
  readonly #places: Place[] = [];
  /**
   * Data numbers (see placement.ts) of the indexes that front-ends currently leave to the shards, because a
   * read of the index made a front-end hang within the last SUSPECT_MS milliseconds.
   */
  readonly #leftToShards = new Set<number>();
  readonly #told = new ToldValues();
  #serves = false;
  #isEnding = false;

  constructor(limits: Pick<Limits, "shardHangMsMax">, log: Logger) {
    this.#limits = limits;
    this.#log = log;
  }

  /**
   * Resolves when all front-ends are listening. The returned listener controls all of them. Rejects with the
   * error of a front-end that cannot start.
   */
  async start(options: FrontEndsOptions): Promise<HttpListener> {
    const now: Present = { ...options };
    for (let number = 1; number <= options.count; number++) this.#places.push(this.#place(number, now));
    try {
      await Promise.all(this.#places.map(({ life }) => life.listening));
    } catch (error) {
      await this.#close().catch(() => undefined);
      throw error;
    }
    return {
      port: options.config.port,
      connections: 0, // each front-end counts and drains its own
      useCertificate: (pair) => this.#useCertificate(now, pair),
      stopAccepting: () => this.#stopAccepting(),
      close: () => this.#close(),
    };
  }

  serve(): void {
    this.#serves = true;
    for (const { life } of this.#places) life.channel.tell("serve", null);
  }

  /** Resolves when every front-end has applied `command` to its catalog. */
  async changed(command: Command): Promise<void> {
    await this.#askAll((life) => life.channel.ask("changed", command));
  }

  /** Applies the configuration's live settings. Resolves when all front-ends use them. */
  async settings(config: Config): Promise<void> {
    for (const { now } of this.#places) now.config = { ...config, port: now.config.port };
    await this.#askAll((life) => life.channel.ask("settings", postedConfig(config)));
  }

  /** See ShardFollowers. */
  async ended(shard: number): Promise<void> {
    await this.#askAll((life) => life.channel.ask("shardEnded", shard));
  }

  /** See ShardFollowers. */
  began(shard: number): void {
    for (const place of this.#places) this.#connect(place, shard);
  }

  /**
   * Returns the metric values of all front-ends, including ended ones. If a front-end does not answer within
   * `msMax` milliseconds, uses the last values that it reported.
   */
  async counted(msMax: number): Promise<readonly RecorderValues[]> {
    const asked = this.#places.map(async ({ number, life }) => {
      const values = await life.channel.ask("counted", null).catch(() => null);
      if (values !== null && !life.ended) this.#told.told(number, values);
    });
    await within(Promise.all(asked), msMax, () => undefined);
    return this.#told.all();
  }

  /**
   * Resolves when every query log row that front-ends have written so far is either on disk or could not be
   * written.
   */
  async flushLogs(): Promise<void> {
    await this.#askAll((life) => life.channel.ask("flushLog", null));
  }

  /** Warms all front-ends up. Resolves with the number of queries that they have answered in all. */
  async warmUp(wanted: WarmUpWanted): Promise<number> {
    const answered = await this.#askAll((life) => life.channel.ask("warmUp", wanted));
    return answered.reduce<number>((sum, queries = 0) => sum + queries, 0);
  }

  /** Resolves when all running requests have been answered, or after `ms` milliseconds. */
  async drain(ms: number): Promise<void> {
    await this.#askAll((life) => life.channel.ask("drain", ms));
  }

  async #useCertificate(now: Present, pair: CertificatePair): Promise<void> {
    const { certificate } = now;
    now.certificate = pair; // also for front-ends that start later
    try {
      await this.#askAll((life) => life.channel.ask("certificate", pair));
    } catch (error) {
      now.certificate = certificate;
      throw error;
    }
  }

  #stopAccepting(): void {
    this.#isEnding = true;
    for (const { life } of this.#places) life.channel.tell("stopAccepting", null);
  }

  async #close(): Promise<void> {
    this.#isEnding = true;
    for (const { watchdog, growth } of this.#places) {
      watchdog.stop();
      growth.stop();
    }
    await Promise.all(this.#places.map(({ life }) => this.#stop(life)));
  }

  /**
   * Calls `ask` for every front-end and resolves with all answers. A front-end that ends before it answers
   * is ignored: its answer is undefined. Any other failure rejects.
   */
  #askAll<T>(ask: (life: FrontEndLife) => Promise<T>): Promise<(T | undefined)[]> {
    return Promise.all(
      this.#places.map(({ life }) =>
        ask(life).catch((error: unknown) => {
          if (life.ended) return undefined;
          throw error;
        }),
      ),
    );
  }

  #place(number: number, now: Present): Place {
    const place: Place = {
      number,
      now,
      life: this.#begin(number, now, () => void this.#replace(place)),
      watchdog: new Watchdog(this.#limits.shardHangMsMax, {
        beats: () => now.pulse.beats(number),
        mustBeat: () => !place.life.ended,
        onHang: () => void this.#endHanging(place),
      }),
      growth: new GrowthWatch({
        beats: () => now.pulse.beats(number),
        bytes: () => process.memoryUsage.rss(),
        onGrowth: () => void this.#endIfFull(place),
      }),
    };
    this.#greet(place);
    return place;
  }

  #begin(number: number, now: Present, onEnd: () => void): FrontEndLife {
    const { dataOf, config, certificate, answersOf, handler, exchanges } = now;
    return new FrontEndLife({
      data: {
        ...dataOf(number),
        config: postedConfig(config),
        certificate,
        leftToShards: [...this.#leftToShards],
      },
      answers: { ...answersOf(number), lastCounted: (values) => this.#told.told(number, values) },
      handler,
      exchanges,
      onEnd,
    });
  }

  /**
   * Sends a new front-end what its start data does not contain: the channels to the shards and, once the
   * server has started, permission to serve.
   */
  #greet(place: Place): void {
    for (let shard = 0; shard < place.now.shards; shard++) this.#connect(place, shard);
    if (this.#serves) place.life.channel.tell("serve", null);
  }

  #connect({ life, now }: Place, shard: number): void {
    const connected = now.connect(shard);
    if (connected === null) return; // the shard is down; `began` connects it once it is back
    const { reads, memories } = connected.ports;
    life.channel.tell("shardBegan", { shard, ...connected }, [reads, memories]);
  }

  async #replace(place: Place): Promise<void> {
    place.now.pulse.reads(place.number, null);
    place.now.clear(place.number);
    this.#told.ended(place.number);
    if (this.#isEnding) return;
    this.#log.warn(
      { frontEnd: place.number },
      "the thread of a front-end ended unexpectedly; starting another one",
    );
    await sleep(RESTART_PAUSE_MS, undefined, { ref: false });
    if (this.#isEnding) return;
    place.life = this.#begin(place.number, place.now, () => void this.#replace(place));
    place.watchdog.begin();
    this.#greet(place);
    await place.life.listening.catch(() => undefined); // if it cannot start, its `onEnd` replaces it again
    if (!place.life.ended) this.#log.info({ frontEnd: place.number }, "a front-end is back");
  }

  /**
   * Ends a hanging front-end's thread. If it was reading an index, that index is read only by shards for a
   * while, because the shards can identify the query that caused the hang.
   */
  async #endHanging({ number, now, life }: Place): Promise<void> {
    const [limits, log] = [this.#limits, this.#log];
    const data = now.pulse.reading(number);
    log.error(
      { frontEnd: number, uid: data === null ? null : uidOfData(data), hangMsMax: limits.shardHangMsMax },
      "a front-end hangs; ending its thread",
    );
    if (data !== null) {
      this.#leftToShards.add(data);
      const forget = setTimeout(() => this.#leftToShards.delete(data), SUSPECT_MS);
      forget.unref();
      for (const { life: other } of this.#places)
        other.channel.tell("leaveToShards", { data, ms: SUSPECT_MS });
    }
    await this.#endAtOnce(life);
  }

  /** Ends a front-end's thread if one turn of its event loop has filled its heap. */
  async #endIfFull({ number, life }: Place): Promise<void> {
    try {
      if (await life.endIfFull())
        this.#log.error({ frontEnd: number }, "a request has filled a front-end's heap; ended its thread");
    } catch (error) {
      this.#log.error({ err: error }, "cannot ask the thread of a front-end for the size of its heap");
    }
  }

  /**
   * Ends a front-end's thread when the server stops. A thread that does not end on its own is ended at once.
   * Throws if that does not help.
   */
  async #stop(life: FrontEndLife): Promise<void> {
    life.channel.tell("close", null);
    const isGone = life.gone.then(() => true);
    if (await within(isGone, STOP_MS_MAX, () => false)) return;
    this.#log.error("the thread of a front-end does not end by itself");
    void this.#endAtOnce(life);
    if (!(await within(isGone, STOP_MS_MAX, () => false)))
      throw new Error("the thread of a front-end does not end");
  }

  async #endAtOnce(life: FrontEndLife): Promise<void> {
    try {
      await life.end();
    } catch (error) {
      this.#log.error({ err: error }, "the thread of a front-end cannot be ended");
    }
  }
}
