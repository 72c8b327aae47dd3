// One life of a shard's thread, which is a single run from start to exit. It is a Piscina pool with one
// thread that is never restarted, so nothing left over from a dead thread (queued messages, a failed start)
// reaches the next one. Piscina carries the messages that must stay in order; reads and borrowed memories
// have their own channels. No other file for the shards' threads uses Piscina.
import { MessageChannel } from "node:worker_threads";
import { Piscina } from "piscina";
import type { EngineReader } from "../../../engine-wasm/host/instance/engine-reader.js";
import { builtFile } from "../../../engine-wasm/host/runtime/built-files.js";
import type { ShardPorts } from "../../../shards/protocol/memory-loans.js";
import { heapMibMax } from "../../ground/heap-limits.js";
import { BorrowedMemories, type ReaderOf } from "./borrowed-memories.js";
import { ShardChannel } from "./shard-channel.js";

/**
 * A message that owns its ArrayBuffer. Sending transfers the buffer to the other thread, so the message must
 * not be used afterwards.
 */
export type Message = Uint8Array<ArrayBuffer>;

export interface ShardLifeOptions {
  /** This life's number, unique within the shard. */
  readonly number: number;
  readonly workerData: unknown;
  /** The worker's module; shards/worker.js of this build by default. */
  readonly workerFile: string | undefined;
  readonly readerOf: ReaderOf;
  /** Called once when the thread ends, before the requests in flight are rejected. */
  readonly onEnd: () => void;
  /** Called if the thread throws while no request is in flight. */
  readonly onError: (error: unknown) => void;
}

/**
 * Size (MiB) of the young generation, only a third of which is in use at a time. Requests are short-lived, so
 * a larger size would only keep their garbage longer.
 */
const YOUNG_HEAP_MIB = 12;

export class ShardLife {
  readonly number: number;
  /** The channel for reads, separate from the ordered messages. */
  readonly reads: ShardChannel;
  readonly #pool: Piscina;
  readonly #onEnd: () => void;
  /** Resolves when the thread has exited. */
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
      concurrentTasksPerWorker: Number.MAX_SAFE_INTEGER, // never queues, so messages stay in order
      atomics: "async",
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: heapMibMax(), maxYoungGenerationSizeMb: YOUNG_HEAP_MIB },
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

  /**
   * Opens channels for another thread's reads from the shard, and returns the ends that belong to that
   * thread.
   */
  connect(): ShardPorts {
    const reads = new MessageChannel();
    const memories = new MessageChannel();
    const there: ShardPorts = { reads: reads.port2, memories: memories.port2 };
    // An error needs no handling here: the thread has ended, or the next message will fail too.
    this.#pool.run(there, { transferList: [there.reads, there.memories] }).catch(() => undefined);
    return { reads: reads.port1, memories: memories.port1 };
  }

  /** True once the thread has ended or `end` has been called. */
  get ended(): boolean {
    return this.#ended;
  }

  /** True while requests are in flight. */
  get busy(): boolean {
    return this.#inside > 0 || this.reads.inside > 0;
  }

  /** How long the thread's event loop has been active, in seconds; null once the thread has exited. */
  get activeSeconds(): number | null {
    const loop = this.#pool.threads[0]?.performance.eventLoopUtilization();
    return loop === undefined ? null : loop.active / 1000;
  }

  /** Sends a message and resolves with its reply. Rejects if the thread ends before replying. */
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

  readerUnused(uid: number): void {
    if (!this.#ended) this.#memories.unused(uid);
  }

  /** Ends the thread, whatever it is doing, and resolves when it has exited. */
  end(): Promise<void> {
    if (!this.#ended) {
      this.#ended = true; // set first, because destroying the pool calls `end` again
      this.#onEnd();
      this.reads.close(new Error("the shard's thread has ended"));
      this.#memories.close();
      void this.#pool.destroy(); // may never resolve if the thread has exited on its own
    }
    return this.#gone;
  }
}
