// Reads that may have ended a shard's thread or broken its engine. Those that were inside at an end are suspects:
// each is then tried with no other read inside, which clears or convicts it. One that is alone inside at its second end
// is refused, instead of ending the shard again and again; a popular one may be inside many times at one end. Knows
// reads by a hash of what they ask; one quarantine for each shard. Other threads send reads by themselves only while there is nothing
// to suspect.
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Lane } from "../../../engine-wasm/host/runtime/lane.js";
import { SkeinError } from "../../ground/errors.js";
import type { Limits } from "../../ground/limits.js";
import type { Logger } from "../../ground/log.js";
import type { ReadGate } from "./read-gate.js";
import { ShardEndedError } from "./shard-errors.js";

/** Tells what a read asks, the same for each repetition of it. It is called only when a thread or an engine has ended. */
export type Subject = () => string;

/** How often a trial looks whether the reads of other threads have ended. */
const LOOK_MS = 1;

interface Suspect {
  readonly ends: number;
  /** The life of the thread that ended last; null after a broken engine. */
  readonly life: number | null;
  /** performance.now() at which it is forgotten. */
  readonly untilMs: number;
}

export class Quarantine {
  readonly #shard: number;
  readonly #gate: ReadGate;
  readonly #limits: Limits;
  readonly #log: Logger;
  /** By fingerprint, oldest first. */
  readonly #suspects = new Map<string, Suspect>();
  /** Reads inside that are no suspects. */
  #inside = 0;
  /** A trial waits for the last of them to leave. */
  #emptied: (() => void) | null = null;
  /** Ends with the trial that runs; the other reads wait for it. */
  #trial: Promise<void> | null = null;
  /** Suspects, one at a time. */
  readonly #trials = new Lane();

  constructor(shard: number, gate: ReadGate, limits: Limits, log: Logger) {
    this.#shard = shard;
    this.#gate = gate;
    this.#limits = limits;
    this.#log = log;
  }

  /** Sends the read; `alone` means: not in one message with others. Rejects with SK-SE-503 for one that is refused. */
  run<T>(subject: Subject, send: (alone: boolean) => Promise<T>): Promise<T> {
    return this.#suspects.size === 0 && this.#trial === null
      ? this.#runFree(subject, send)
      : this.#runChecked(subject, send);
  }

  /** A read that another thread has sent by itself was inside at an end. */
  blame(subject: Subject, error: ShardEndedError): void {
    this.#blame(fingerprint(subject), subject, error);
  }

  async #runChecked<T>(subject: Subject, send: (alone: boolean) => Promise<T>): Promise<T> {
    const print = fingerprint(subject);
    for (;;) {
      this.#check(print);
      if (this.#suspects.has(print)) return this.#trials.run(() => this.#runSuspect(print, subject, send));
      if (this.#trial === null) return this.#runFree(subject, send);
      await this.#trial;
    }
  }

  #runFree<T>(subject: Subject, send: (alone: boolean) => Promise<T>): Promise<T> {
    this.#inside++;
    return send(false).then(
      (answer) => {
        this.#leave();
        return answer;
      },
      (error: unknown) => {
        if (error instanceof ShardEndedError) this.#blame(fingerprint(subject), subject, error);
        this.#leave();
        throw error;
      },
    );
  }

  async #runSuspect<T>(print: string, subject: Subject, send: (alone: boolean) => Promise<T>): Promise<T> {
    this.#check(print); // the suspect before it may have been the same read
    let end = (): void => undefined;
    this.#trial = new Promise((resolve) => {
      end = resolve;
    });
    this.#setGate();
    try {
      if (this.#inside > 0) await new Promise<void>((emptied) => (this.#emptied = emptied));
      while (this.#gate.inside(this.#shard) > 0) await sleep(LOOK_MS);
      this.#check(print); // it may have been inside another time
      const answer = await send(true);
      this.#suspects.delete(print);
      return answer;
    } catch (error) {
      if (error instanceof ShardEndedError) this.#blame(print, subject, error);
      throw error;
    } finally {
      this.#trial = null;
      this.#setGate();
      end();
    }
  }

  #setGate(): void {
    this.#gate.setOpen(this.#shard, this.#suspects.size === 0 && this.#trial === null);
  }

  #leave(): void {
    if (--this.#inside > 0) return;
    this.#emptied?.();
    this.#emptied = null;
  }

  #blame(print: string, subject: Subject, { life }: ShardEndedError): void {
    const known = this.#suspects.get(print);
    if (known !== undefined && life !== null && known.life === life) return;
    const ends = (known?.ends ?? 0) + 1;
    this.#suspects.delete(print);
    this.#suspects.set(print, { ends, life, untilMs: performance.now() + this.#limits.suspectReadMsMax });
    for (const oldest of this.#suspects.keys()) {
      if (this.#suspects.size <= this.#limits.suspectReadsMax) break;
      this.#suspects.delete(oldest);
    }
    this.#setGate();
    if (ends < this.#limits.shardEndsPerReadMax) return;
    const asked = subject().slice(0, 1_000);
    this.#log.error({ shard: this.#shard, ends, asked }, "a query has ended the shard again; refusing it");
  }

  /** Forgets suspects and convictions whose time is over. Throws when the read is refused. */
  #check(print: string): void {
    const now = performance.now();
    for (const [known, { untilMs }] of this.#suspects) {
      if (untilMs > now) break;
      this.#suspects.delete(known);
    }
    this.#setGate();
    const suspect = this.#suspects.get(print);
    if (suspect === undefined || suspect.ends < this.#limits.shardEndsPerReadMax) return;
    const seconds = Math.ceil((suspect.untilMs - now) / 1_000);
    throw new SkeinError(
      "SK-SE-503",
      `the query has stopped a part of the search engine twice and is refused for ${seconds} seconds`,
      { retryAfter: seconds },
    );
  }
}

function fingerprint(subject: Subject): string {
  return createHash("sha256").update(subject()).digest("base64");
}

/** The fingerprint of a read of an index. Fractions are left out of it: they are weights, which change with every write. */
export function subjectOf(kind: string, uid: number, asked: unknown): Subject {
  return () => `${kind} ${uid} ${JSON.stringify(asked, steady)}`;
}

function steady(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return typeof value === "number" && !Number.isInteger(value) ? null : value;
}
