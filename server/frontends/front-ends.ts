// The front-ends as the owner has them: threads that listen on one address and answer searches. Starts and watches them, tells them
// what changes, and answers what they cannot. One that hangs or fails is replaced; the others go on.
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "../catalog/state.js";
import type { Config } from "../config.js";
import type { CertificatePair } from "../edge/certificate.js";
import type { ExchangeContext, HttpHandler, HttpListener } from "../http/port.js";
import type { Limits } from "../limits.js";
import type { Logger } from "../log.js";
import { type RecorderValues, ToldValues } from "../metrics/recorder-values.js";
import { FrontEndLife, type OwnerAnswers } from "./front-end-life.js";
import { interrupt } from "./interrupt.js";
import type { FrontEndCalls, FrontEndData } from "./messages.js";
import { postedConfig } from "./posted-config.js";
import type { Pulse } from "./pulse.js";

/** A thread hangs when so many looks in a row find no beat. */
const LOOKS_A_HANG = 10;
/** How long a thread may take to its first beat. It loads its code before. */
const LOOKS_A_START = 60;
/** How long a thread that was interrupted may take to end by itself. */
const END_MS_MAX = 5_000;
const RESTART_PAUSE_MS = 50;

export interface FrontEndsOptions {
  readonly count: number;
  /** What a front-end at this place begins with, as of now. */
  readonly dataOf: (place: number) => Omit<FrontEndData, "owner" | "config" | "certificate" | "leftToShards">;
  readonly config: Config;
  readonly certificate: CertificatePair | null;
  readonly answersOf: (place: number) => OwnerAnswers;
  readonly connect: (shard: number) => Parameters<FrontEndCalls["shardBegan"]>[0] | null;
  readonly shards: number;
  /** The thread at this place has ended: nothing of what it held in shared memory is held any more. */
  readonly clear: (place: number) => void;
  readonly pulse: Pulse;
  readonly handler: HttpHandler;
  readonly exchanges: ExchangeContext;
  readonly limits: Pick<Limits, "shardHangMsMax" | "suspectReadMsMax">;
  readonly log: Logger;
}

interface Place {
  readonly number: number;
  life: FrontEndLife;
  beatsSeen: number;
  hasBeaten: boolean;
  stillLooks: number;
}

export class FrontEnds implements HttpListener {
  readonly port: number;
  readonly #options: FrontEndsOptions;
  readonly #places: Place[] = [];
  readonly #watch: NodeJS.Timeout;
  #config: Config;
  #certificate: CertificatePair | null;
  /** Indexes that a read of which has kept a front-end busy for too long. */
  readonly #leftToShards = new Set<number>();
  readonly #told = new ToldValues();
  #serves = false;
  #isEnding = false;

  /** `options.config.port` is free. */
  constructor(options: FrontEndsOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#certificate = options.certificate;
    this.port = options.config.port;
    for (let number = 1; number <= options.count; number++) {
      const place = { number, beatsSeen: 0, hasBeaten: false, stillLooks: 0 };
      this.#places.push(this.#begin(place as Place));
    }
    const lookMs = options.limits.shardHangMsMax / LOOKS_A_HANG;
    this.#watch = setInterval(() => void this.#look(), lookMs).unref();
  }

  /** Resolves when all of them listen. Rejects with what stopped one. */
  async listening(): Promise<void> {
    await Promise.all(this.#places.map(({ life }) => life.listening));
  }

  serve(): void {
    this.#serves = true;
    for (const { life } of this.#places) life.line.tell("serve", null);
  }

  /** Resolves when no front-end knows an older state. */
  async changed(command: Command): Promise<void> {
    await this.#askAll((life) => life.line.ask("changed", command));
  }

  settings(config: Config): void {
    this.#config = config;
    for (const { life } of this.#places) life.line.tell("settings", postedConfig(config));
  }

  useCertificate(pair: CertificatePair): void {
    this.#certificate = pair;
    for (const { life } of this.#places)
      life.line.ask("certificate", pair).catch((error: unknown) => {
        this.#options.log.error(
          { err: error },
          "a front-end cannot use the certificate; the one before stays",
        );
      });
  }

  /** See ShardFollowers. */
  async ended(shard: number): Promise<void> {
    await this.#askAll((life) => life.line.ask("shardEnded", shard));
  }

  /** See ShardFollowers. */
  began(shard: number): void {
    for (const { life } of this.#places) this.#connect(life, shard);
  }

  /** What front-ends have counted, those that have ended too. One that does not answer in time counts as it did the last time. */
  async counted(msMax: number): Promise<readonly RecorderValues[]> {
    const asked = this.#places.map(async ({ number, life }) => {
      const values = await life.line.ask("counted", null).catch(() => null);
      if (values !== null && !life.ended) this.#told.told(number, values);
    });
    const limit = new AbortController();
    const late = sleep(msMax, undefined, { ref: false, signal: limit.signal }).catch(() => undefined);
    await Promise.race([Promise.all(asked), late]);
    limit.abort();
    return this.#told.all();
  }

  /** Resolves when the rows of the query log that front-ends have made so far are durable, or the disk has refused them. */
  async flushLogs(): Promise<void> {
    await this.#askAll((life) => life.line.ask("flushLog", null));
  }

  stopAccepting(): void {
    this.#isEnding = true;
    for (const { life } of this.#places) life.line.tell("stopAccepting", null);
  }

  /** Resolves when the requests inside are answered, or after so many milliseconds. */
  async drain(ms: number): Promise<void> {
    await this.#askAll((life) => life.line.ask("drain", ms));
  }

  async close(): Promise<void> {
    this.#isEnding = true;
    clearInterval(this.#watch);
    await Promise.all(this.#places.map(({ life }) => this.#end(life)));
  }

  /** One that ends meanwhile has nothing to say any more. */
  async #askAll(ask: (life: FrontEndLife) => Promise<unknown>): Promise<void> {
    await Promise.all(
      this.#places.map(({ life }) =>
        ask(life).catch((error: unknown) => {
          if (life.ended) return;
          throw error;
        }),
      ),
    );
  }

  #begin(place: Place): Place {
    const { dataOf, answersOf, handler, exchanges, pulse, shards } = this.#options;
    place.hasBeaten = false;
    place.stillLooks = 0;
    place.beatsSeen = pulse.beats(place.number);
    const life = new FrontEndLife({
      data: {
        ...dataOf(place.number),
        config: postedConfig(this.#config),
        certificate: this.#certificate,
        leftToShards: [...this.#leftToShards],
      },
      answers: answersOf(place.number),
      handler,
      exchanges,
      onEnd: () => void this.#replace(place),
    });
    place.life = life;
    for (let shard = 0; shard < shards; shard++) this.#connect(life, shard);
    if (this.#serves) life.line.tell("serve", null);
    return place;
  }

  #connect(life: FrontEndLife, shard: number): void {
    const connected = this.#options.connect(shard);
    if (connected === null) return; // `began` follows
    const { reads, memories } = connected.ports;
    life.line.tell("shardBegan", connected, [reads, memories]);
  }

  async #replace(place: Place): Promise<void> {
    this.#options.pulse.reads(place.number, null);
    this.#options.clear(place.number);
    this.#told.ended(place.number);
    if (this.#isEnding) return;
    this.#options.log.warn(
      { frontEnd: place.number },
      "the thread of a front-end ended unexpectedly; starting another one",
    );
    await sleep(RESTART_PAUSE_MS, undefined, { ref: false });
    if (this.#isEnding) return;
    await this.#begin(place).life.listening.catch(() => undefined); // then it ends again
    if (!place.life.ended) this.#options.log.info({ frontEnd: place.number }, "a front-end is back");
  }

  async #look(): Promise<void> {
    for (const place of this.#places) {
      const beats = this.#options.pulse.beats(place.number);
      const beaten = beats !== place.beatsSeen;
      place.beatsSeen = beats;
      if (beaten) place.hasBeaten = true;
      place.stillLooks = beaten || place.life.ended ? 0 : place.stillLooks + 1;
      if (place.stillLooks < (place.hasBeaten ? LOOKS_A_HANG : LOOKS_A_START)) continue;
      place.stillLooks = 0;
      await this.#endHanging(place);
    }
  }

  /** What it read at that moment is left to the shards, which know how to find the query that did it. */
  async #endHanging({ number, life }: Place): Promise<void> {
    const { pulse, limits, log } = this.#options;
    const uid = pulse.reading(number);
    log.error(
      { frontEnd: number, uid, hangMsMax: limits.shardHangMsMax },
      "a front-end hangs; ending its thread",
    );
    if (uid !== null) {
      this.#leftToShards.add(uid);
      const forget = setTimeout(() => this.#leftToShards.delete(uid), limits.suspectReadMsMax);
      forget.unref();
      for (const { life: other } of this.#places)
        other.line.tell("leaveToShards", { uid, ms: limits.suspectReadMsMax });
    }
    await interrupt(life.threadId).catch((error: unknown) => {
      log.error({ err: error }, "the thread of a front-end cannot be interrupted");
    });
    await this.#end(life);
  }

  async #end(life: FrontEndLife): Promise<void> {
    life.line.tell("close", null);
    const late = new AbortController();
    const timeout = sleep(END_MS_MAX, true, { ref: false, signal: late.signal }).catch(() => false);
    const isLate = await Promise.race([life.gone.then(() => false), timeout]);
    late.abort();
    if (!isLate) return;
    this.#options.log.error("the thread of a front-end does not end by itself");
    await life.terminate();
  }
}
