// Runs the trainer's thread. Each training gets a new thread, so that its memory is released before vectors
// are produced. Only this file manages the thread.
import { Piscina } from "piscina";
import type { EngineModule } from "../../../engine-wasm/host/instance/engine-module.js";
import { builtFile } from "../../../engine-wasm/host/runtime/built-files.js";
import { withDeadline } from "../../ground/jobs/deadline.js";
import type { Logger } from "../../ground/log.js";
import type { TrainingTask } from "./training-task.js";

/** Maximum duration (ms) of a training; a longer one is aborted. */
const TASK_MS_MAX = 600_000;
const HEAP_MIB = 256;
const YOUNG_HEAP_MIB = 12;

export class TrainerPool {
  readonly #engine: EngineModule;
  readonly #log: Logger;
  #pool: Piscina | null = null;

  constructor(engine: EngineModule, log: Logger) {
    this.#engine = engine;
    this.#log = log;
  }

  /**
   * Trains a model. Trainings run one at a time. Rejects if the thread fails or takes too long, or if the
   * signal is aborted. Takes ownership of the sampled documents.
   */
  train(task: TrainingTask, signal: AbortSignal): Promise<Uint8Array> {
    this.#pool ??= this.#start();
    const pool = this.#pool;
    const transferList = [task.documents.buffer as ArrayBuffer, task.ends.buffer as ArrayBuffer];
    return withDeadline(
      signal,
      TASK_MS_MAX,
      (either) => pool.run(task, { transferList, signal: either }) as Promise<Uint8Array>,
    );
  }

  /** Stops the thread. All trainings must have ended. */
  async stop(): Promise<void> {
    await this.#pool?.close();
  }

  #start(): Piscina {
    const pool = new Piscina({
      filename: builtFile("server/indexes/embedders/trainer-worker.js"),
      atomics: "disabled",
      minThreads: 0,
      maxThreads: 1,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: YOUNG_HEAP_MIB },
      workerData: this.#engine.parts,
    });
    pool.on("error", (error) => this.#log.error({ err: error }, "the thread of the trainer failed"));
    return pool;
  }
}
