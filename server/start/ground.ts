// The objects that every stage of the start needs, and the steps that shut the server down. A stage is called
// a floor.
import { within } from "../ground/jobs/deadline.js";
import type { Jobs } from "../ground/jobs/jobs.js";
import type { Limits } from "../ground/limits.js";
import type { Logger } from "../ground/log.js";
import type { Recorder } from "../ground/metrics/recorder.js";
import type { Config } from "../operate/config/config.js";
import { ConfigError } from "../operate/config/values.js";
import type { LiveSettings } from "../operate/reload/live-settings.js";

export interface Ground {
  readonly config: Config;
  readonly settings: LiveSettings;
  readonly limits: Limits;
  readonly log: Logger;
  readonly recorder: Recorder;
  readonly jobs: Jobs;
  readonly teardown: Teardown;
}

interface Step {
  /** What the step does, such as "close the catalog". */
  readonly name: string;
  readonly run: () => unknown;
  readonly msMax: number;
}

/** Default time limit (ms) of a step. Such a step ends idle threads or connections. */
const STEP_MS_MAX = 2_000;
/** Time limit (ms) of a step that writes to the disk, which may be slow. */
export const DISK_MS_MAX = 5_000;

/**
 * The steps that shut the server down. The code that creates something adds the step that closes it. Each
 * step is tried, whatever became of the steps before it, and each has its own time limit, so a full disk or
 * a hanging thread cannot keep the server from stopping.
 */
export class Teardown {
  readonly #log: Logger;
  readonly #steps: Step[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  add(name: string, run: Step["run"], msMax = STEP_MS_MAX): void {
    this.#steps.push({ name, run, msMax });
  }

  /** Time (ms) after which `run` has resolved, whatever happens. */
  get msMax(): number {
    return this.#steps.reduce((sum, { msMax }) => sum + msMax, 0);
  }

  /**
   * Runs the steps in reverse order. Logs a step that fails or exceeds its time limit, and goes on with the
   * next one. Returns the names of these steps. An overdue step keeps running. Never rejects.
   */
  async run(): Promise<string[]> {
    const failed: string[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      const { name, run, msMax } = step;
      try {
        await within(Promise.resolve().then(run), msMax, () => {
          throw new Error(`it takes longer than ${msMax} ms`);
        });
      } catch (error) {
        failed.push(name);
        this.#log.error({ err: error, step: name }, "a step of the stop failed; going on with the next one");
      }
    }
    return failed;
  }
}

/**
 * Runs `work` and converts a failure to a ConfigError, whose message is shown to the person who starts the
 * server.
 */
export async function orExplain<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}
