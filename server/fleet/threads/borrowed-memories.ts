// The server's end of the channel through which it borrows index memories from one life of a shard's thread,
// and the readers of these memories. An index gets a reader only if it is read often.
import type { MessagePort } from "node:worker_threads";
import type { EngineModule } from "../../../engine-wasm/host/instance/engine-module.js";
import type { EngineReader } from "../../../engine-wasm/host/instance/engine-reader.js";
import type { LentMemory } from "../../../engine-wasm/host/instance/sharing.js";
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import type { MemoryNotice, MemoryRequest } from "../../../shards/protocol/memory-loans.js";
import type { Logger } from "../../ground/log.js";

/** Creates a reader. Returns null if that is not possible at the moment. */
export type ReaderOf = (lent: LentMemory) => EngineReader | null;

/** Creates readers with this engine, and logs failures. */
export function readersOf(engine: EngineModule, log: Logger): ReaderOf {
  return (lent) => {
    try {
      return engine.reader(lent);
    } catch (error) {
      log.warn({ err: error }, "no reader of an index could be made; its queries go to the shards");
      return null;
    }
  };
}

/** Maximum number of readers per shard. The least recently used one is dropped first. */
const READERS_MAX = 1_000;
/** How many reads of an index go to the shard before its memory is borrowed. */
const READS_BEFORE = 8;
/** How long (ms) an index may not be borrowed after the shard refused to lend it or its reader failed. */
const PAUSE_MS = 5_000;

interface Reading {
  readonly loan: number;
  readonly reader: EngineReader;
}

/**
 * An index without a reader: how often it has been read so far, and the earliest time (performance.now()) at
 * which it may be borrowed.
 */
interface Waiting {
  reads: number;
  readonly fromMs: number;
}

export class BorrowedMemories {
  readonly #port: MessagePort;
  readonly #readerOf: ReaderOf;
  /** By uid, least recently used first. */
  readonly #readings = new Map<number, Reading>();
  /** Indexes without a reader, by uid. */
  readonly #waiting = new ClockCache<number, Waiting>(READERS_MAX);

  constructor(port: MessagePort, readerOf: ReaderOf) {
    this.#port = port;
    this.#readerOf = readerOf;
    port.on("message", (notice: MemoryNotice) => this.#told(notice));
    port.unref();
  }

  /** Returns the index's reader, or null if it has none yet. */
  reader(uid: number): EngineReader | null {
    const reading = this.#readings.get(uid);
    if (reading === undefined) {
      this.#wait(uid);
      return null;
    }
    this.#readings.delete(uid);
    this.#readings.set(uid, reading);
    return reading.reader;
  }

  /** Drops the index's reader, which has failed. For PAUSE_MS, the index's reads go to the shard. */
  failed(uid: number): void {
    this.#return(uid);
    this.#pause(uid);
  }

  /** Returns the memory of an index that this thread no longer reads itself. */
  unused(uid: number): void {
    this.#return(uid);
  }

  close(): void {
    for (const { reader } of this.#readings.values()) reader.discard();
    this.#readings.clear();
    this.#port.close();
  }

  #wait(uid: number): void {
    let waiting = this.#waiting.get(uid);
    if (waiting === undefined) {
      waiting = { reads: 0, fromMs: 0 };
      this.#waiting.set(uid, waiting);
    }
    if (performance.now() < waiting.fromMs) return;
    waiting.reads++;
    if (waiting.reads === READS_BEFORE) this.#send({ kind: "borrow", uid });
  }

  #pause(uid: number): void {
    this.#waiting.set(uid, { reads: 0, fromMs: performance.now() + PAUSE_MS });
  }

  #told(notice: MemoryNotice): void {
    const { uid } = notice;
    if (notice.kind === "refused") this.#pause(uid);
    else if (notice.kind === "lent") this.#begin(uid, notice.loan, notice.lent);
    else if (notice.kind === "model") this.#takeModel(notice);
    else this.#ended(uid, notice.loan);
  }

  /**
   * Drops the reader of a loan that has ended because the index moved to another memory or was unloaded. The
   * next read borrows the index's memory again.
   */
  #ended(uid: number, loan: number): void {
    const reading = this.#readings.get(uid);
    if (reading?.loan !== loan) return;
    reading.reader.discard();
    this.#readings.delete(uid);
    this.#waiting.set(uid, { reads: READS_BEFORE - 1, fromMs: 0 });
  }

  #begin(uid: number, loan: number, lent: LentMemory): void {
    this.#return(uid);
    const reader = this.#readerOf(lent);
    if (reader === null) {
      this.#send({ kind: "return", loan });
      this.#pause(uid);
      return;
    }
    reader.onModelWanted = () => this.#send({ kind: "model", uid, loan });
    this.#waiting.delete(uid);
    this.#readings.set(uid, { loan, reader });
    for (const oldest of this.#readings.keys()) {
      if (this.#readings.size <= READERS_MAX) break;
      this.#return(oldest);
    }
  }

  #takeModel({ uid, loan, number, lent }: Extract<MemoryNotice, { kind: "model" }>): void {
    const reading = this.#readings.get(uid);
    if (reading?.loan !== loan) return;
    try {
      reading.reader.takeModel(number, lent);
    } catch {
      // The reader has to do without this model: the shard computes query vectors until the next model takes
      // effect.
    }
  }

  #return(uid: number): void {
    const reading = this.#readings.get(uid);
    if (reading === undefined) return;
    this.#readings.delete(uid);
    this.#send({ kind: "return", loan: reading.loan });
  }

  #send(request: MemoryRequest): void {
    this.#port.postMessage(request);
  }
}
