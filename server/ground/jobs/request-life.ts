// How long the work for a request is wanted: until its reply has been sent, its client has left or its time
// is over, whichever comes first. Whatever works or waits for the request takes part in its life and is told
// when it ends.
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
    this.#timer = setTimeout(() => this.end(late()), Math.min(ms, TIMER_MS_MAX));
  }

  /** A life that ends with this one, unless it is ended earlier. */
  part(): RequestLife {
    const part = new RequestLife();
    this.join({ lifeEnded: (reason) => part.end(reason) });
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

  /** Ends the life. Only the first call counts. */
  end(reason: Error): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const members = [...this.#members];
    this.#members.clear();
    for (const member of members) member.lifeEnded(reason);
  }
}
