// Starts and stops the coach's thread. It starts at the first analysis and ends when idle. No other file
// starts or stops it.
import { MessageChannel } from "node:worker_threads";
import { Piscina } from "piscina";
import { builtFile } from "../../engine-wasm/host/runtime/built-files.js";
import { withDeadline } from "../ground/jobs/deadline.js";
import type { Logger } from "../ground/log.js";
import type { Analysis } from "./analyse.js";
import type { AnswerMessage, AskedMessage, CoachAnswers, CoachQuestion, CoachTask } from "./coach-task.js";

const IDLE_MS_MAX = 10_000;
/** Longer analyses are aborted. */
const TASK_MS_MAX = 300_000;
const HEAP_MIB = 2048;
const YOUNG_HEAP_MIB = 24;

/** Answers one of the coach thread's questions. */
export type AnswerQuestion = (question: CoachQuestion) => Promise<CoachAnswers[CoachQuestion["kind"]]>;

export class CoachPool {
  readonly #log: Logger;
  #pool: Piscina | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Runs an analysis. Only one runs at a time; later calls wait for their turn. Rejects if the thread fails
   * or takes too long.
   */
  async analyse(
    task: Omit<CoachTask, "port">,
    answer: AnswerQuestion,
    signal: AbortSignal,
  ): Promise<Analysis> {
    this.#pool ??= this.#start();
    const pool = this.#pool;
    const { port1, port2: port } = new MessageChannel();
    let failure: unknown;
    port1.on("message", ({ number, question }: AskedMessage) => {
      const send = (message: AnswerMessage): void => port1.postMessage(message);
      answer(question).then(
        (given) => send({ number, answer: given }),
        (error: unknown) => {
          failure ??= error;
          send({ number, failure: String(error) });
        },
      );
    });
    try {
      return await withDeadline(
        signal,
        TASK_MS_MAX,
        (either) =>
          pool.run({ ...task, port }, { transferList: [port], signal: either }) as Promise<Analysis>,
      );
    } catch (error) {
      throw failure ?? error; // the thread's own error only says that a question failed
    } finally {
      port1.close();
    }
  }

  /** Stops the thread. All analyses must have ended. */
  async stop(): Promise<void> {
    await this.#pool?.close();
  }

  #start(): Piscina {
    const pool = new Piscina({
      filename: builtFile("server/coach/coach-worker.js"),
      atomics: "disabled", // a thread blocked in Atomics.wait would not close its ports
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS_MAX,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: YOUNG_HEAP_MIB },
    });
    pool.on("error", (error) => this.#log.error({ err: error }, "the thread of the coach failed"));
    return pool;
  }
}
