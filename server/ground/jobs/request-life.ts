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

/** Something that a request holds, such as a share of the memory. */
export interface Held {
  /**
   * Called when the request has been answered or its client has left, once for each `hold`, with the same
   * amount. Must not throw.
   */
  release(amount: number): void;
}

/** One `hold`. They form a list, the latest first. */
class Hold {
  constructor(
    readonly held: Held,
    readonly amount: number,
    readonly earlier: Hold | null,
  ) {}
}

export class RequestLife implements LifeMember, Held {
  /**
   * Time in Date.now() milliseconds after which the request's result is useless; Infinity if it has no limit.
   */
  deadline = Number.POSITIVE_INFINITY;
  #reason: Error | null = null;
  #limit: TimeLimit | null = null;
  /** The members. Null until one joins, because most requests are answered before that. */
  #members: Set<LifeMember> | null = null;
  /** What the request holds, the latest first. */
  #holds: Hold | null = null;
  /** True once the request has been answered or its client has left. */
  #released = false;
  /** Neighbours in the list of their time limit, which alone uses these members. */
  earlier: RequestLife | null = null;
  later: RequestLife | null = null;
  limitEndsMs = 0;

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

  /** Limits the life from now on. It then ends with the limit's error. A life has one limit at most. */
  limit(limit: TimeLimit): void {
    if (this.over) return;
    this.deadline = Math.ceil(Date.now() + limit.ms);
    this.#limit = limit;
    limit.begin(this);
  }

  /** A life that ends with this one, unless it is ended earlier. */
  part(): RequestLife {
    const part = new RequestLife();
    this.join(part);
    this.hold(part);
    return part;
  }

  /** Called on a part when the whole life ends. */
  lifeEnded(reason: Error): void {
    this.expire(reason);
  }

  /** Called on a part when the whole life, which has ended, releases what it holds. */
  release(): void {
    this.end(this.#reason!);
  }

  /** The member is told about the end, at once if the life has already ended. */
  join(member: LifeMember): void {
    if (this.#reason !== null) member.lifeEnded(this.#reason);
    else {
      this.#members ??= new Set();
      this.#members.add(member);
    }
  }

  leave(member: LifeMember): void {
    this.#members?.delete(member);
  }

  /** Holds an amount of something until the request has been answered or its client has left. */
  hold(held: Held, amount = 1): void {
    if (this.#released) held.release(amount);
    else this.#holds = new Hold(held, amount, this.#holds);
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
    this.#released = true;
    let hold = this.#holds;
    this.#holds = null;
    for (; hold !== null; hold = hold.earlier) hold.held.release(hold.amount);
  }

  /** Ends the life of a request that has not been answered yet. */
  expire(reason: Error): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#limit?.end(this);
    this.#limit = null;
    if (this.#members === null) return;
    const members = [...this.#members];
    this.#members = null;
    for (const member of members) member.lifeEnded(reason);
  }
}

/**
 * A limit on the time of many requests. They all get the same time, so they run out of it in the order in
 * which they began, and one timer for the earliest serves them all.
 */
export class TimeLimit {
  readonly ms: number;
  readonly #late: () => Error;
  /** The lives under this limit form a list through their members `earlier` and `later`. */
  #earliest: RequestLife | null = null;
  #latest: RequestLife | null = null;
  #timer: NodeJS.Timeout | null = null;

  /** A life that lasts longer than `ms` milliseconds ends with the error that `late` creates. */
  constructor(ms: number, late: () => Error) {
    this.ms = ms;
    this.#late = late;
  }

  begin(life: RequestLife): void {
    const now = performance.now();
    life.limitEndsMs = now + this.ms;
    life.earlier = this.#latest;
    if (this.#latest === null) this.#earliest = life;
    else this.#latest.later = life;
    this.#latest = life;
    if (this.#timer === null) this.#wait(this.ms);
  }

  /** Takes a life that has ended off the list. */
  end(life: RequestLife): void {
    const { earlier, later } = life;
    if (earlier === null) this.#earliest = later;
    else earlier.later = later;
    if (later === null) this.#latest = earlier;
    else later.earlier = earlier;
    life.earlier = null;
    life.later = null;
  }

  /** The timer is not reset when a life ends, so it may fire with nothing to do. */
  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), Math.min(ms, TIMER_MS_MAX));
    this.#timer.unref();
  }

  #look(): void {
    this.#timer = null;
    const now = performance.now();
    while (this.#earliest !== null && this.#earliest.limitEndsMs <= now) this.#earliest.expire(this.#late());
    if (this.#earliest !== null) this.#wait(Math.max(1, this.#earliest.limitEndsMs - now));
  }
}
