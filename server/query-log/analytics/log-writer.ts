// Writes a front-end's searches and events to the query log. Collects rows in a chunk, which is sent to the
// log's thread after a short delay or when it is full. Never delays a search. Chunks that could not be stored
// are kept, up to a total size, and sent again. Beyond that size, rows are dropped and counted.
import { setTimeout as sleep } from "node:timers/promises";
import { type IndexRecord, logOf } from "../../catalog/records/index-record.js";
import type { Logger } from "../../ground/log.js";
import type { LogMeter } from "../../ground/metrics/recorder.js";
import { Chunk, type JournalEvent } from "../rows/journal.js";
import { type QueryId, QueryIds } from "../rows/query-ids.js";
import { tookStep } from "../rows/took.js";
import { LogStorageError } from "./analytics-pool.js";
import type { AskedBy, People } from "./people.js";

/** Maximum delay (ms) before a row is sent. A row is normally durable within a second. */
const CHUNK_MS = 250;
const CHUNK_BYTES = 256 * 1024;
const RETRY_MS = 1_000;

interface LogWriterOptions {
  readonly people: People;
  /** Resolves when the chunk is durable. Throws LogStorageError if it could not be stored. */
  readonly send: (chunk: Uint8Array) => Promise<unknown>;
  /**
   * Resolves when every row that other threads have written so far is durable or could not be stored. Absent
   * if there are no other threads.
   */
  readonly others?: () => Promise<void>;
  readonly waitingBytesMax: number;
  readonly meter: LogMeter;
  readonly log: Logger;
}

export class LogWriter {
  readonly ids = new QueryIds();
  readonly #options: LogWriterOptions;
  readonly #chunk = new Chunk(CHUNK_BYTES);
  #timer: NodeJS.Timeout | null = null;
  /** Chunks not yet durable, oldest first. */
  readonly #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  /** Sends the waiting chunks; null if there are none. */
  #sending: Promise<void> | null = null;
  /** The latest attempt to send the oldest chunk. Resolves with false if it must be sent again. */
  #attempt: Promise<boolean> = Promise.resolve(true);
  #storageFails = false;
  readonly #stop = new AbortController();

  constructor(options: LogWriterOptions) {
    this.#options = options;
  }

  /** Logs a search. `answered` is the output of encodeAnswered. Never throws. */
  searched(record: IndexRecord, id: QueryId, tookMs: number, askedBy: AskedBy, answered: Uint8Array): void {
    if (this.#drops()) return;
    const asker = this.#options.people.asker(record.tenant, askedBy);
    const log = logOf(record);
    const step = tookStep(tookMs);
    if (!this.#chunk.addSearch(log, id, step, asker, answered)) {
      this.#sendChunk();
      this.#chunk.addSearch(log, id, step, asker, answered);
    }
    this.#added();
  }

  happened(event: JournalEvent): void {
    if (this.#drops()) return;
    if (!this.#chunk.addEvent(event)) {
      this.#sendChunk();
      this.#chunk.addEvent(event);
    }
    this.#added();
  }

  /** True while new rows would be dropped, because too many bytes wait to be stored. */
  get full(): boolean {
    return this.#waitingBytes >= this.#options.waitingBytesMax;
  }

  /**
   * Resolves when every row written so far, by this and other threads, is durable or could not be stored. If
   * there are no other threads, the rows have been handed to `send` when this returns.
   */
  async flush(): Promise<void> {
    const { others } = this.#options;
    if (others !== undefined) await others();
    this.#sendChunk();
    while (this.#waiting.length > 0 && !this.#storageFails) await this.#attempt;
  }

  /** Sends all rows one last time. Throws if some could not be stored; they are lost. */
  async stop(): Promise<void> {
    await this.#options.others?.();
    this.#sendChunk();
    this.#stop.abort();
    await this.#sending;
    if (this.#waitingBytes > 0)
      throw new Error(`${this.#waitingBytes} bytes of searches could not be logged`);
  }

  /** Returns true if there is no room for the next row, and counts it as dropped. */
  #drops(): boolean {
    if (this.full) this.#options.meter.dropped++;
    return this.full;
  }

  #added(): void {
    this.#options.meter.rows++;
    this.#timer ??= setTimeout(() => this.#sendChunk(), CHUNK_MS).unref();
  }

  #sendChunk(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#chunk.length === 0) return;
    const chunk = this.#chunk.take();
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    this.#sending ??= this.#sendAll();
  }

  /**
   * Sends all waiting chunks, oldest first, and retries those that could not be stored. Gives up when an
   * attempt fails after `stop` was called. Never rejects.
   */
  async #sendAll(): Promise<void> {
    const { signal } = this.#stop;
    for (let chunk = this.#waiting[0]; chunk !== undefined; chunk = this.#waiting[0]) {
      this.#attempt = this.#isSent(chunk);
      if (await this.#attempt) {
        this.#waiting.shift();
        this.#waitingBytes -= chunk.length;
      } else if (signal.aborted) break;
      else await sleep(RETRY_MS, undefined, { ref: false, signal }).catch(() => undefined); // stopped: now
    }
    this.#sending = null;
  }

  /** Sends a chunk. Returns false if it must be sent again later. */
  async #isSent(chunk: Uint8Array): Promise<boolean> {
    const { send, others, log } = this.#options;
    try {
      if (others !== undefined) await others(); // a search on another thread must be logged before its event
      await send(chunk);
      if (this.#storageFails) log.info("searches are logged again");
      this.#storageFails = false;
      return true;
    } catch (error) {
      if (error instanceof LogStorageError) {
        if (!this.#storageFails)
          log.warn({ reason: error.message }, "searches cannot be logged; trying again");
        this.#storageFails = true;
        return false;
      }
      // The thread died, possibly after storing the chunk. Sending it again could count rows twice.
      log.error({ err: error, bytes: chunk.length }, "searches may not have been logged");
      return true;
    }
  }
}
