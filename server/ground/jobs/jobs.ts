// Runs named background work. Jobs on the same subject run one after another in queue order; jobs on
// different subjects run concurrently. A job can be cancelled. Stopping the server cancels all jobs and waits
// for them to end. Knows nothing about what the jobs do. Queues are unbounded: before queueing another job, a
// caller that does not await its jobs must check `has` or cancel the earlier ones.
import { SkeinError } from "../errors.js";
import type { Logger } from "../log.js";

export interface Job {
  /** What the job does, such as "write a backup". */
  readonly name: string;
  /** What the job works on, such as "index 7". */
  readonly subject: string;
}

/** The work must end soon after `signal` aborts, and must leave nothing half done. */
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
  /** For each subject, the running job followed by the waiting ones. */
  readonly #queues = new Map<string, Queued[]>();
  /** Timers of scheduled jobs, by subject and then by name. */
  readonly #timers = new Map<string, Map<string, NodeJS.Timeout>>();
  /** Set by `drain`; called when no job is left. */
  #drained: (() => void) | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Runs the work after all earlier jobs on its subject, and settles with its outcome. For work whose outcome
   * the caller awaits. Throws SK-SYS-503 if the job is cancelled before it begins.
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
   * Like `run`, but logs a failure instead of rejecting; resolves when the job is over. For work whose
   * outcome nobody awaits.
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

  /** Starts the job every `ms` milliseconds, except when the previous run is still queued or running. */
  every(ms: number, job: Job, work: Work<unknown>): void {
    const begin = (): void => {
      if (!this.has(job)) void this.start(job, work);
    };
    this.#schedule(job, () => setInterval(begin, ms));
  }

  /** Starts the job after `ms` milliseconds. A second call before that time restarts the timer. */
  after(ms: number, job: Job, work: Work<unknown>): void {
    const begin = (): void => {
      this.#unschedule(job);
      void this.start(job, work);
    };
    this.#schedule(job, () => setTimeout(begin, ms));
  }

  /** True if a job with this name and subject is running or queued. */
  has({ name, subject }: Job): boolean {
    return this.#queues.get(subject)?.some(({ job }) => job.name === name) ?? false;
  }

  /** Cancels the subject's running job, and drops its queued and scheduled jobs. */
  cancel(subject: string): void {
    for (const timer of this.#timers.get(subject)?.values() ?? []) clearTimeout(timer);
    this.#timers.delete(subject);
    const queue = this.#queues.get(subject) ?? [];
    for (const { job, reject } of queue.splice(1)) reject(cancelled(job));
    for (const { job, cancellation } of queue) cancellation.abort(cancelled(job));
  }

  /**
   * Cancels all jobs, accepts no new ones, and resolves when the last one has ended. Call it once, when the
   * server stops.
   */
  async drain(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#drained = resolve;
      for (const subject of [...this.#timers.keys(), ...this.#queues.keys()]) this.cancel(subject);
      if (this.#queues.size === 0) resolve();
    });
  }

  /** Runs the queue's jobs, including those added in the meantime, until the queue is empty. */
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
