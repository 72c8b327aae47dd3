// Runs the intake thread, which splits large batches into documents. The first large batch starts it, and it
// stops when idle. Small batches are split on the calling thread, because sending them to another thread
// would cost more. No other file manages the thread.
import { Piscina } from "piscina";
import type { EngineModule } from "../../../engine-wasm/host/instance/engine-module.js";
import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import { builtFile } from "../../../engine-wasm/host/runtime/built-files.js";
import { discardBuffer } from "../../../engine-wasm/host/runtime/discards.js";
import type { Action } from "../../../shards/protocol/ops.js";
import { SkeinError } from "../../ground/errors.js";
import { heapMibMax } from "../../ground/heap-limits.js";
import type { Limits } from "../../ground/limits.js";
import type { Logger } from "../../ground/log.js";
import type { IntakeReply, IntakeTask } from "./intake-worker.js";
import { type PreparedWrite, prepareBody, prepareLines } from "./prepare.js";

/** Large batches are refused while this many are waiting for the thread. */
const WAITING_BATCHES_MAX = 1_000;
/** Size above which sending a batch to the thread pays off. */
const LARGE_BYTES = 256 * 1024;
const IDLE_MS_MAX = 10_000;
/**
 * Size of the young generation in the thread's heap. V8 uses a third of it at a time. The documents' bytes
 * are outside the heap.
 */
const YOUNG_HEAP_MIB = 12;

export interface IntakeOptions {
  readonly engine: EngineModule;
  readonly workbench: Workbench;
  readonly limits: Limits;
  readonly log: Logger;
}

export class Intake {
  readonly #options: IntakeOptions;
  #pool: Piscina | null = null;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /**
   * Prepares a request body (if `action` is null) or NDJSON lines for an index with `shards` shards. `bytes`
   * still belongs to the caller afterwards. Throws SkeinError.
   */
  async prepare(bytes: Uint8Array, action: Action | null, shards: number): Promise<PreparedWrite> {
    const { limits, workbench } = this.#options;
    discardBuffer(bytes.length);
    if (bytes.length <= LARGE_BYTES) {
      return action === null
        ? prepareBody(bytes, shards, workbench, limits)
        : prepareLines(bytes, action, shards, workbench, limits);
    }
    const { documentBytesMax, batchDocumentsMax } = limits;
    const task: IntakeTask = {
      bytes: new Uint8Array(bytes),
      action,
      shards,
      limits: { documentBytesMax, batchDocumentsMax },
    };
    this.#pool ??= this.#start();
    if (this.#pool.queueSize >= WAITING_BATCHES_MAX) {
      throw new SkeinError("SK-DOC-503", "too many large batches are waiting; retry in a moment", {
        retryAfter: 1,
      });
    }
    const reply = (await this.#pool.run(task, { transferList: [task.bytes.buffer] })) as IntakeReply;
    if ("prepared" in reply) return reply.prepared;
    const { code, message, details } = reply.refused;
    throw new SkeinError(code, message, details === undefined ? {} : { details });
  }

  /** Stops the thread once its current task is done. */
  async stop(): Promise<void> {
    await this.#pool?.close();
  }

  #start(): Piscina {
    const { engine, log } = this.#options;
    const pool = new Piscina({
      filename: builtFile("server/documents/ingest/intake-worker.js"),
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS_MAX,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: heapMibMax(), maxYoungGenerationSizeMb: YOUNG_HEAP_MIB },
      workerData: engine.parts,
    });
    pool.on("error", (error) => log.error({ err: error }, "intake thread failed"));
    return pool;
  }
}
