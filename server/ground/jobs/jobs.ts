// Named background work. Jobs of one subject run one after the other, in the order in which they were queued;
// jobs of different subjects run concurrently. A job can be cancelled, and stopping the server cancels all
// jobs and waits for them. Knows nothing about the work. Queues are unbounded, so a caller that does not wait
// for its jobs checks `has` before queueing another one, or cancels the existing ones.
import { SkeinError } from "../errors.js";
import type { Logger } from "../log.js";

export interface Job {
  /** The activity, such as "write a backup". */
  readonly name: string;
  /** Its object, such as "index 7". */
  readonly subject: string;
}

/** If `signal` is aborted, the work ends soon and leaves nothing half done. */
type Work<T> = (signal: AbortSignal) => Promise<T>;

interface Queued {
  readonly job: Job;
  readonly work: Work<unknown>;
  readonly cancellation: AbortController;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class Jobs {
  readonly #log: Logger;
  /** By subject: the running job, then the waiting ones. */
  readonly #queues = new Map<string, Queued[]>();
  /** By subject, then by name: scheduled jobs. */
  readonly #timers = new Map<string, Map<string, NodeJS.Timeout>>();
  /** Set once the stop has begun, and called when no job is left. */
  #drained: (() => void) | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * For work that a caller awaits. Runs it after all earlier jobs of its subject, and settles as the work
   * does. Throws SK-SYS-503 if the job is cancelled before it begins.
   */
  async run<T>(job: Job, work: Work<T>): Promise<T> {
    if (this.#drained !== null) throw cancelled(job);
    const result = new Promise<unknown>((resolve, reject) => {
      const queued = { job, work, cancellation: new AbortController(), resolve, reject };
      const queue = this.#queues.get(job.subject);
      if (queue === undefined) void this.#workOff(job.subject, [queued]);
      else queue.push(queued);
    });
    return (await result) as T;
  }

  /**
   * For work that nobody awaits. Like `run`, but logs failures. Resolves when the job is over; never rejects.
   */
  async start(job: Job, work: Work<unknown>): Promise<void> {
    const logged: Work<void> = async (signal) => {
      try {
        await work(signal);
      } catch (error) {
        const level = signal.aborted ? "debug" : "error";
        this.#log[level]({ err: error, ...job }, "a background job failed");
      }
    };
    await this.run(job, logged).catch(() => undefined); // cancelled before it began
  }

  /** Starts the job every `ms`. Skips a start if the previous one still runs or waits. */
  every(ms: number, job: Job, work: Work<unknown>): void {
    const begin = (): void => {
      if (!this.has(job)) void this.start(job, work);
    };
    this.#schedule(job, () => setInterval(begin, ms));
  }

  /** Starts the job in `ms`. Another call before that restarts the timer. */
  after(ms: number, job: Job, work: Work<unknown>): void {
    const begin = (): void => {
      this.#unschedule(job);
      void this.start(job, work);
    };
    this.#schedule(job, () => setTimeout(begin, ms));
  }

  /** True if a job with this name and subject runs or waits. */
  has({ name, subject }: Job): boolean {
    return this.#queues.get(subject)?.some(({ job }) => job.name === name) ?? false;
  }

  /** Cancels the subject's running job. Waiting and scheduled ones do not begin. */
  cancel(subject: string): void {
    for (const timer of this.#timers.get(subject)?.values() ?? []) clearTimeout(timer);
    this.#timers.delete(subject);
    const queue = this.#queues.get(subject) ?? [];
    for (const { job, reject } of queue.splice(1)) reject(cancelled(job));
    for (const { job, cancellation } of queue) cancellation.abort(cancelled(job));
  }

  /**
   * Called once, when the server stops. Cancels all jobs, accepts no more, and resolves when the last one is
   * over.
   */
  async drain(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#drained = resolve;
      for (const subject of [...this.#timers.keys(), ...this.#queues.keys()]) this.cancel(subject);
      if (this.#queues.size === 0) resolve();
    });
  }

  /** Runs the jobs of a new queue, and those that join it, until none is left. */
  async #workOff(subject: string, queue: Queued[]): Promise<void> {
    this.#queues.set(subject, queue);
    for (let first = queue[0]; first !== undefined; first = queue[0]) {
      const { work, cancellation, resolve, reject } = first;
      let settle: () => void;
      try {
        const result = await work(cancellation.signal);
        settle = () => resolve(result);
      } catch (error) {
        settle = () => reject(error);
      }
      queue.shift();
      if (queue.length === 0) this.#queues.delete(subject);
      settle();
    }
    if (this.#queues.size === 0) this.#drained?.();
  }

  #schedule(job: Job, begin: () => NodeJS.Timeout): void {
    if (this.#drained !== null) return;
    this.#unschedule(job);
    const timers = this.#timers.get(job.subject) ?? new Map<string, NodeJS.Timeout>();
    this.#timers.set(job.subject, timers.set(job.name, begin().unref()));
  }

  #unschedule({ name, subject }: Job): void {
    const timers = this.#timers.get(subject);
    clearTimeout(timers?.get(name));
    timers?.delete(name);
    if (timers?.size === 0) this.#timers.delete(subject);
  }
}

function cancelled({ name, subject }: Job): SkeinError {
  return new SkeinError("SK-SYS-503", `"${name}" of ${subject} was cancelled; retry in a moment`, {
    retryAfter: 1,
  });
}
