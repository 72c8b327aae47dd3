// Background work by name. Jobs of one subject run one after the other, in the order in which they were queued; those
// of different subjects run at the same time. A job gets a signal and ends soon after it. Knows nothing of the work.
import { SkeinError } from "../errors.js";
import type { Logger } from "../log.js";

export interface Job {
  /** What is done, such as "write a backup". */
  readonly name: string;
  /** What it is done to, such as "index 7". */
  readonly subject: string;
}

type Work<T> = (signal: AbortSignal) => Promise<T>;

interface Queued {
  readonly job: Job;
  readonly end: AbortController;
  /** Fulfilled when the job is over, however it ended. */
  readonly over: Promise<void>;
}

export class Jobs {
  readonly #log: Logger;
  /** By subject: the one that runs, then those that wait. */
  readonly #queues = new Map<string, Queued[]>();
  /** By subject: what starts its repeated jobs. */
  readonly #timers = new Map<string, NodeJS.Timeout[]>();
  #draining = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Runs the work when all earlier jobs of its subject are over, and settles as it does. Throws SK-SYS-503 for a job
   * that is cancelled before it begins; one that has begun learns it from `signal`.
   */
  async run<T>(job: Job, work: Work<T>): Promise<T> {
    if (this.#draining) throw new Cancelled(job);
    const end = new AbortController();
    const queue = this.#queues.get(job.subject) ?? [];
    const result = (queue.at(-1)?.over ?? Promise.resolve()).then(() => {
      end.signal.throwIfAborted();
      return work(end.signal);
    });
    const over = result.then(noted, noted).then(() => this.#remove(queued));
    const queued: Queued = { job, end, over };
    this.#queues.set(job.subject, [...queue, queued]);
    return await result;
  }

  /** Runs the work in the same way when nobody wants its result. Fulfilled when it is over; a failure is logged. */
  async start(job: Job, work: Work<unknown>): Promise<void> {
    try {
      await this.run(job, work);
    } catch (error) {
      if (!isCancelled(error)) this.#log.error({ err: error, ...job }, "a background job failed");
    }
  }

  /** Starts the work every so often until the subject is cancelled. A turn is left out while the one before lasts. */
  every(ms: number, job: Job, work: Work<unknown>): void {
    const turn = (): void => {
      if (!this.has(job)) void this.start(job, work);
    };
    const timers = this.#timers.get(job.subject) ?? [];
    this.#timers.set(job.subject, [...timers, setInterval(turn, ms).unref()]);
  }

  /** A job of this name runs or waits for the subject. */
  has({ name, subject }: Job): boolean {
    return this.#queues.get(subject)?.some(({ job }) => job.name === name) ?? false;
  }

  /** Tells the subject's jobs to end; those that wait do not begin, those that repeat do not come again. */
  cancel(subject: string): void {
    for (const timer of this.#timers.get(subject) ?? []) clearInterval(timer);
    this.#timers.delete(subject);
    for (const { job, end } of this.#queues.get(subject) ?? []) end.abort(new Cancelled(job));
  }

  /** Cancels all jobs, takes no more, and resolves when the last one is over. */
  async drain(): Promise<void> {
    this.#draining = true;
    const left = [...this.#queues.values()].flat();
    for (const subject of [...this.#timers.keys(), ...this.#queues.keys()]) this.cancel(subject);
    await Promise.all(left.map(({ over }) => over));
  }

  #remove(queued: Queued): void {
    const { subject } = queued.job;
    const left = this.#queues.get(subject)!.filter((other) => other !== queued);
    if (left.length === 0) this.#queues.delete(subject);
    else this.#queues.set(subject, left);
  }
}

class Cancelled extends SkeinError {
  constructor({ name, subject }: Job) {
    super("SK-SYS-503", `The job "${name}" of ${subject} was cancelled; retry in a moment.`, {
      retryAfter: 1,
    });
  }
}

/** Work that ends at its signal throws what the signal gave it, or the error that Node's own waits make of it. */
function isCancelled(error: unknown): boolean {
  return error instanceof Cancelled || (error instanceof Error && error.name === "AbortError");
}

/** Whoever queued the job hears how it ended. */
function noted(): void {}
