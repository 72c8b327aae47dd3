// The thread of the trainer, started by the first training and ended when there is none for a while. The only file that knows it.
import { Piscina } from "piscina";
import { builtFile } from "../../engine-wasm/host/instance/built-files.js";
import type { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import { withDeadline } from "../jobs/deadline.js";
import type { Logger } from "../log.js";
import type { TrainedModel, TrainingTask } from "./training-task.js";

const IDLE_MS_MAX = 5_000;
/** A training that takes longer is given up. */
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

  /** One training after the other. Rejects when the thread fails, takes too long or the signal says so. */
  train(task: TrainingTask, signal: AbortSignal): Promise<TrainedModel> {
    this.#pool ??= this.#start();
    const pool = this.#pool;
    const transferList = [task.documents.buffer as ArrayBuffer, task.ends.buffer as ArrayBuffer];
    return withDeadline(
      signal,
      TASK_MS_MAX,
      (either) => pool.run(task, { transferList, signal: either }) as Promise<TrainedModel>,
    );
  }

  /** Ends the thread. All trainings must have ended. */
  async stop(): Promise<void> {
    await this.#pool?.close();
  }

  #start(): Piscina {
    const pool = new Piscina({
      filename: builtFile("server/embedders/trainer-worker.js"),
      atomics: "disabled",
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS_MAX,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: YOUNG_HEAP_MIB },
      workerData: this.#engine.parts,
    });
    pool.on("error", (error) => this.#log.error({ err: error }, "the thread of the trainer failed"));
    return pool;
  }
}
