// One life of a shard's thread, from its start to its death: a Piscina pool of one thread that is never
// started again, so that nothing of a dead thread (queued messages, a failed start) reaches the next one.
// Piscina carries what must keep its order; reads and borrowed memories have channels of their own. This is
// the only file of the server's threads that knows Piscina.
import { MessageChannel } from "node:worker_threads";
import { Piscina } from "piscina";
import type { EngineReader } from "../../../engine-wasm/host/instance/engine-reader.js";
import { builtFile } from "../../../engine-wasm/host/runtime/built-files.js";
import type { ShardPorts } from "../../../shards/protocol/memory-loans.js";
import { BorrowedMemories, type ReaderOf } from "./borrowed-memories.js";
import { ShardChannel } from "./shard-channel.js";

/** A message with an ArrayBuffer of its own, which moves to the other thread: do not use it afterwards. */
export type Message = Uint8Array<ArrayBuffer>;

export interface ShardLifeOptions {
  /** The number of this life. Each life of a shard has another one. */
  readonly number: number;
  readonly workerData: unknown;
  /** The worker's module; by default shards/worker.js of this build. */
  readonly workerFile: string | undefined;
  readonly readerOf: ReaderOf;
  /** Called once, before the requests inside are rejected. */
  readonly onEnd: () => void;
  /** The thread threw while no request was inside. */
  readonly onError: (error: unknown) => void;
}

/**
 * Size of the young heap, a third of which is used at a time. Requests live shortly, so a larger one would
 * only keep their garbage longer.
 */
const YOUNG_HEAP_MIB = 12;

export class ShardLife {
  readonly number: number;
  /** Reads that pass beside the messages. */
  readonly reads: ShardChannel;
  readonly #pool: Piscina;
  readonly #onEnd: () => void;
  /** Resolves when the thread is gone. */
  readonly #gone: Promise<void>;
  readonly #memories: BorrowedMemories;
  #ended = false;
  #inside = 0;

  constructor({ number, workerData, workerFile, readerOf, onEnd, onError }: ShardLifeOptions) {
    this.number = number;
    this.#onEnd = onEnd;
    this.#pool = new Piscina({
      filename: workerFile ?? builtFile("shards/worker.js"),
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      concurrentTasksPerWorker: Number.MAX_SAFE_INTEGER, // it never queues, which keeps the order
      atomics: "async",
      recordTiming: false,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_HEAP_MIB },
      workerData,
      loadBalancer: (_task, workers) => workers[0] ?? null,
    });
    this.#pool.on("workerDestroy", () => void this.end());
    this.#pool.on("error", onError);
    const [thread] = this.#pool.threads;
    this.#gone = new Promise((resolve) => thread?.once("exit", () => resolve()) ?? resolve());
    const { reads, memories } = this.connect();
    this.reads = new ShardChannel(reads);
    this.#memories = new BorrowedMemories(memories, readerOf);
  }

  /** Channels on which another thread reads: its ends of them. */
  connect(): ShardPorts {
    const reads = new MessageChannel();
    const memories = new MessageChannel();
    const there: ShardPorts = { reads: reads.port2, memories: memories.port2 };
    // When this message fails, so will the next one, or the thread has ended.
    this.#pool.run(there, { transferList: [there.reads, there.memories] }).catch(() => undefined);
    return { reads: reads.port1, memories: memories.port1 };
  }

  /** The thread has ended or is being ended. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Requests are inside. */
  get busy(): boolean {
    return this.#inside > 0 || this.reads.inside > 0;
  }

  /** How long the thread has worked so far; null when it is gone. */
  get activeSeconds(): number | null {
    const loop = this.#pool.threads[0]?.performance.eventLoopUtilization();
    return loop === undefined ? null : loop.active / 1000;
  }

  /** One message, one reply. Rejects when the thread ends before it has answered. */
  async run(request: Message): Promise<Uint8Array> {
    if (this.#ended) throw new Error("the shard's thread has ended");
    this.#inside++;
    try {
      const reply: unknown = await this.#pool.run(request, { transferList: [request.buffer] });
      if (!(reply instanceof Uint8Array)) throw new TypeError("the shard's thread did not answer with bytes");
      return reply;
    } finally {
      this.#inside--;
    }
  }

  /** See BorrowedMemories. */
  reader(uid: number): EngineReader | null {
    return this.#ended ? null : this.#memories.reader(uid);
  }

  readerFailed(uid: number): void {
    if (!this.#ended) this.#memories.failed(uid);
  }

  /** Ends the thread, whatever it is doing; resolves when it is gone. */
  end(): Promise<void> {
    if (!this.#ended) {
      this.#ended = true; // first, for ending the thread calls this again
      this.#onEnd();
      this.reads.close(new Error("the shard's thread has ended"));
      this.#memories.close();
      void this.#pool.destroy(); // may never resolve for a thread that has exited by itself
    }
    return this.#gone;
  }
}
