// How long the work for a request is wanted: until its reply has been sent, its client has left or its time
// is over, whichever comes first. Whatever works or waits for the request takes part in its life and is told
// when it ends. What the request holds is released later if its time is over while its client still takes the
// reply.
import { TIMER_MS_MAX } from "./deadline.js";

/** Waits or works for a request, or holds something for it. */
export interface LifeMember {
  /** Called once, when the request's life ends. Must not throw. */
  lifeEnded(reason: Error): void;
}

export class RequestLife {
  /**
   * Time in Date.now() milliseconds after which the request's result is useless; Infinity if it has no limit.
   */
  deadline = Number.POSITIVE_INFINITY;
  #reason: Error | null = null;
  #timer: NodeJS.Timeout | null = null;
  readonly #members = new Set<LifeMember>();
  /** Releases what the request holds; null once it has been answered or its client has left. */
  #releases: (() => void)[] | null = [];

  /** Why the life has ended; null while it lasts. */
  get reason(): Error | null {
    return this.#reason;
  }

  get over(): boolean {
    return this.#reason !== null;
  }

  /** Throws the reason if the life has ended. */
  check(): void {
    if (this.#reason !== null) throw this.#reason;
  }

  /** Limits the life to `ms` milliseconds from now; it then ends with the error that `late` creates. */
  limit(ms: number, late: () => Error): void {
    if (this.over) return;
    this.deadline = Math.ceil(Date.now() + ms);
    this.#timer = setTimeout(() => this.expire(late()), Math.min(ms, TIMER_MS_MAX));
  }

  /** A life that ends with this one, unless it is ended earlier. */
  part(): RequestLife {
    const part = new RequestLife();
    this.join({ lifeEnded: (reason) => part.expire(reason) });
    this.hold(() => part.end(this.#reason!));
    return part;
  }

  /** The member is told about the end, at once if the life has already ended. */
  join(member: LifeMember): void {
    if (this.#reason === null) this.#members.add(member);
    else member.lifeEnded(this.#reason);
  }

  leave(member: LifeMember): void {
    this.#members.delete(member);
  }

  /** Calls `release` once, when the request has been answered or its client has left. Must not throw. */
  hold(release: () => void): void {
    if (this.#releases === null) release();
    else this.#releases.push(release);
  }

  /**
   * Settles as `work` does, or rejects when the life ends. The work itself continues until it looks at the
   * life.
   */
  whileWanted<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const member = { lifeEnded: reject };
      this.join(member);
      work.then(
        (value) => {
          this.leave(member);
          resolve(value);
        },
        (error: unknown) => {
          this.leave(member);
          reject(error);
        },
      );
    });
  }

  /** Ends the life, and releases what the request holds. Only the first call counts. */
  end(reason: Error): void {
    this.expire(reason);
    const releases = this.#releases ?? [];
    this.#releases = null;
    for (const release of releases) release();
  }

  /** Ends the life of a request that has not been answered yet. */
  expire(reason: Error): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const members = [...this.#members];
    this.#members.clear();
    for (const member of members) member.lifeEnded(reason);
  }
}
