// Finds the reads that end a shard's thread or break its engine; each shard has its own quarantine. All reads
// in flight when a thread ends become suspects. A popular read may be in flight by chance whenever a thread
// ends, so each suspect is later tried alone. If the thread ends again during the trial, the suspect is to
// blame and is refused from then on. If the suspect succeeds, it is cleared. Reads are identified by a hash
// of their request. Other threads may send reads directly only while there are no suspects.
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { SkeinError } from "../../ground/errors.js";
import type { Logger } from "../../ground/log.js";
import type { Subject } from "./isolation.js";
import { ShardEndedError } from "./shard-errors.js";
import type { ShardGate } from "./shard-gate.js";

/** Time (ms) until a suspect or a convicted read is forgotten. */
export const SUSPECT_MS = 600_000;
const SUSPECTS_MAX = 1_000;
/** A read is refused once it has been in flight this many times when a thread or an engine ended. */
const ENDS_MAX = 2;

/** How often (ms) a trial checks whether other threads' reads have finished. */
const LOOK_MS = 1;

interface Suspect {
  readonly ends: number;
  /**
   * Number of the last thread life that ended while the read was in flight; null if the read broke the
   * engine.
   */
  readonly life: number | null;
  /** When the suspicion expires, in performance.now() milliseconds. */
  readonly untilMs: number;
}

/** A trial in progress: the suspect read runs alone, with no other read in flight. */
interface Trial {
  readonly print: string;
  readonly ended: Promise<void>;
  readonly end: () => void;
}

export class Quarantine {
  readonly #shard: number;
  readonly #gate: ShardGate;
  readonly #log: Logger;
  /** By the read's fingerprint, oldest first. */
  readonly #suspects = new Map<string, Suspect>();
  /** Number of this thread's reads in flight, excluding a read on trial. */
  #inside = 0;
  /** Called when `#inside` drops to 0. */
  #onEmpty: (() => void) | null = null;
  /** Other reads wait until the trial ends. */
  #trial: Trial | null = null;

  constructor(shard: number, gate: ShardGate, log: Logger) {
    this.#shard = shard;
    this.#gate = gate;
    this.#log = log;
  }

  /**
   * Call before sending a read, and `leave` afterwards. Returns false if the read may be sent together with
   * other reads. If the read is a suspect, resolves with true once all other reads have left: it is now on
   * trial and must be sent alone. Rejects with SK-SE-503 if the read is refused.
   */
  enter(subject: Subject): boolean | Promise<boolean> {
    if (this.#suspects.size > 0 || this.#trial !== null) return this.#enterChecked(subject);
    this.#inside++;
    return false;
  }

  /** `onTrial` is the result of `enter`. `error` is null if the read succeeded. */
  leave(subject: Subject, onTrial: boolean, error: unknown): void {
    if (error instanceof ShardEndedError) this.blame(subject, error);
    if (onTrial) this.#endTrial(error === null);
    else if (--this.#inside === 0) this.#onEmpty?.();
  }

  /**
   * Blames a read that was in flight when a thread or an engine ended: makes it a suspect, or convicts it if
   * it already is one. A read is blamed only once for the same thread life.
   */
  blame(subject: Subject, { life }: ShardEndedError): void {
    const print = fingerprint(subject);
    const known = this.#suspects.get(print);
    if (known !== undefined && life !== null && known.life === life) return;
    const ends = (known?.ends ?? 0) + 1;
    this.#suspects.delete(print);
    this.#suspects.set(print, { ends, life, untilMs: performance.now() + SUSPECT_MS });
    for (const oldest of this.#suspects.keys()) {
      if (this.#suspects.size <= SUSPECTS_MAX) break;
      this.#suspects.delete(oldest);
    }
    this.#setGate();
    if (ends < ENDS_MAX) return;
    const asked = subject().slice(0, 1_000);
    this.#log.error({ shard: this.#shard, ends, asked }, "a query has ended the shard again; refusing it");
  }

  async #enterChecked(subject: Subject): Promise<boolean> {
    const print = fingerprint(subject);
    this.#check(print);
    while (this.#trial !== null) {
      await this.#trial.ended;
      this.#check(print); // the trial that ended may have convicted an identical read
    }
    if (!this.#suspects.has(print)) {
      this.#inside++;
      return false;
    }
    await this.#beginTrial(print);
    return true;
  }

  /** Resolves when no other read is in flight. Rejects if the read has been convicted by then. */
  async #beginTrial(print: string): Promise<void> {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#trial = { print, ended, end };
    this.#setGate();
    try {
      if (this.#inside > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
      this.#onEmpty = null;
      while (this.#gate.inside(this.#shard) > 0) await sleep(LOOK_MS);
      this.#check(print); // an identical read may have been in flight and convicted
    } catch (error) {
      this.#endTrial(false);
      throw error;
    }
  }

  #endTrial(isCleared: boolean): void {
    const trial = this.#trial as Trial;
    if (isCleared) this.#suspects.delete(trial.print);
    this.#trial = null;
    this.#setGate();
    trial.end();
  }

  #setGate(): void {
    this.#gate.setOpen(this.#shard, this.#suspects.size === 0 && this.#trial === null);
  }

  /** Throws if the read is refused. Forgets expired suspects and convictions first. */
  #check(print: string): void {
    const now = performance.now();
    for (const [known, { untilMs }] of this.#suspects) {
      if (untilMs > now) break;
      this.#suspects.delete(known);
    }
    this.#setGate();
    const suspect = this.#suspects.get(print);
    if (suspect === undefined || suspect.ends < ENDS_MAX) return;
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
