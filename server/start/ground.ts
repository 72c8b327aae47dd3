// The objects that every stage of the start needs, and the steps that shut the server down. A stage is called
// a floor.
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

/** The steps that shut the server down. The code that creates something adds the step that closes it. */
export class Teardown {
  readonly #steps: (() => Promise<void> | void)[] = [];

  add(step: () => Promise<void> | void): void {
    this.#steps.push(step);
  }

  /**
   * Runs the steps in reverse order. If a step fails, rejects with its error and skips the remaining steps.
   */
  async run(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) await step();
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
