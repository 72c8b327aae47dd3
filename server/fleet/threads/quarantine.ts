// Finds the reads that end a shard's thread or break its engine; one quarantine per shard. All reads that were inside at an end become
// suspects. Each suspect is tried later with no other read inside, which clears or convicts it. A read that is alone inside at its second
// end is refused, so that it cannot end the shard again and again, while a popular read may have been inside at many ends. Reads are known
// by a hash of what they ask. Other threads may send reads themselves only while there are no suspects.
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { SkeinError } from "../../ground/errors.js";
import type { Logger } from "../../ground/log.js";
import type { Subject } from "./isolation.js";
import { ShardEndedError } from "./shard-errors.js";
import type { ShardGate } from "./shard-gate.js";

/** How long a suspect is remembered, and a convicted read refused. */
export const SUSPECT_MS = 600_000;
const SUSPECTS_MAX = 1_000;
/** A read that was alone inside at its second end is refused. */
const ENDS_MAX = 2;

/** How often a trial looks whether the reads of other threads have ended. */
const LOOK_MS = 1;

interface Suspect {
  readonly ends: number;
  /** The life of the thread that ended last; null after a broken engine. */
  readonly life: number | null;
  /** performance.now() at which it is forgotten. */
  readonly untilMs: number;
}

/** A suspect is being tried with no other read inside. */
interface Trial {
  readonly print: string;
  readonly ended: Promise<void>;
  readonly end: () => void;
}

export class Quarantine {
  readonly #shard: number;
  readonly #gate: ShardGate;
  readonly #log: Logger;
  /** By fingerprint, oldest first. */
  readonly #suspects = new Map<string, Suspect>();
  /** Reads inside that are no suspects. */
  #inside = 0;
  /** Called when the last of them leaves. */
  #onEmpty: (() => void) | null = null;
  /** Other reads wait for its end. */
  #trial: Trial | null = null;

  constructor(shard: number, gate: ShardGate, log: Logger) {
    this.#shard = shard;
    this.#gate = gate;
    this.#log = log;
  }

  /**
   * Before a read is sent. False: it may be sent together with others. True, after all others have left: it is a suspect on trial and
   * must be sent alone. `leave` must follow. Rejects with SK-SE-503 if the read is refused.
   */
  enter(subject: Subject): boolean | Promise<boolean> {
    if (this.#suspects.size > 0 || this.#trial !== null) return this.#enterChecked(subject);
    this.#inside++;
    return false;
  }

  /** `onTrial` is what `enter` said; `error` is null if the read was answered. */
  leave(subject: Subject, onTrial: boolean, error: unknown): void {
    if (error instanceof ShardEndedError) this.blame(subject, error);
    if (onTrial) this.#endTrial(error === null);
    else if (--this.#inside === 0) this.#onEmpty?.();
  }

  /** A read was inside when a thread or an engine ended. */
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
      this.#check(print); // the read on trial may have been the same one
    }
    if (!this.#suspects.has(print)) {
      this.#inside++;
      return false;
    }
    await this.#beginTrial(print);
    return true;
  }

  /** Resolves when no other read is inside. Rejects if the read has been convicted by then. */
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
      this.#check(print); // it may have been inside another time
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

  /** Forgets suspects and convictions whose time is over. Throws when the read is refused. */
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
