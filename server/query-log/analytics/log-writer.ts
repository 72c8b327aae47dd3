// The query log's end in a front-end: takes searches and events into a chunk, which goes to the thread of the log after a moment
// or when it is full. Nothing here makes a search wait. Chunks that the disk does not take wait within a number of bytes; what comes
// then is dropped and counted.
import { setTimeout as sleep } from "node:timers/promises";
import { type IndexRecord, logOf } from "../../catalog/types.js";
import type { Logger } from "../../ground/log.js";
import type { LogMeter } from "../../ground/metrics/recorder.js";
import { Chunk, type JournalEvent } from "../rows/journal.js";
import { type QueryId, QueryIds } from "../rows/query-ids.js";
import { tookStep } from "../rows/took.js";
import { LogStorageError } from "./analytics-pool.js";
import type { AskedBy, People } from "./people.js";

/** A row waits at most so long until it is sent. It is durable within a second. */
const CHUNK_MS = 250;
const CHUNK_BYTES = 256 * 1024;
const RETRY_MS = 1_000;

interface LogWriterOptions {
  readonly people: People;
  /** Resolves when the chunk is durable. Throws LogStorageError when the disk did not take it. */
  readonly send: (chunk: Uint8Array) => Promise<unknown>;
  /** Resolves when the rows that other threads have made so far are durable, or the disk has refused them; absent: there are none. */
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
  /** Chunks on their way, the oldest first. */
  readonly #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isSending = false;
  /** The sending of the oldest chunk. */
  #attempt: Promise<boolean> = Promise.resolve(true);
  #storageFails = false;
  #stopping = false;

  constructor(options: LogWriterOptions) {
    this.#options = options;
  }

  /** `answered`: see encodeAnswered. Never throws. */
  searched(record: IndexRecord, id: QueryId, tookMs: number, askedBy: AskedBy, answered: Uint8Array): void {
    const asker = this.#options.people.asker(record.tenant, askedBy);
    const [log, step] = [logOf(record), tookStep(tookMs)];
    this.#add(() => this.#chunk.addSearch(log, id, step, asker, answered));
  }

  happened(event: JournalEvent): void {
    this.#add(() => this.#chunk.addEvent(event));
  }

  /** Rows would be dropped. */
  get full(): boolean {
    return this.#waitingBytes >= this.#options.waitingBytesMax;
  }

  /** Resolves when all rows so far are durable, those of other threads too, or the disk has refused them. */
  async flush(): Promise<void> {
    await this.#options.others?.();
    this.#sendChunk();
    while (this.#waiting.length > 0 && !this.#storageFails) await this.#attempt;
  }

  /** The last flush: what the disk refuses now is lost. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.flush();
  }

  #add(put: () => boolean): void {
    const { meter } = this.#options;
    if (this.full) {
      meter.dropped++;
      return;
    }
    if (!put()) {
      this.#sendChunk();
      put();
    }
    meter.rows++;
    this.#timer ??= setTimeout(() => this.#sendChunk(), CHUNK_MS).unref();
  }

  #sendChunk(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#chunk.length === 0) return;
    const chunk = this.#chunk.take();
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (!this.#isSending) void this.#sendAll();
  }

  /** Never rejects. */
  async #sendAll(): Promise<void> {
    this.#isSending = true;
    for (let chunk = this.#waiting[0]; chunk !== undefined; chunk = this.#waiting[0]) {
      this.#attempt = this.#isSent(chunk);
      if (await this.#attempt) {
        this.#waiting.shift();
        this.#waitingBytes -= chunk.length;
      } else if (this.#stopping) break;
      else await sleep(RETRY_MS, undefined, { ref: false });
    }
    this.#isSending = false;
  }

  /** False when the same chunk is to be sent again. */
  async #isSent(chunk: Uint8Array): Promise<boolean> {
    const { send, others, log } = this.#options;
    try {
      await others?.(); // an event comes after the search that it belongs to
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
      // The thread ended. Whether it has stored the chunk is not known, and a row must not be counted twice.
      log.error({ err: error, bytes: chunk.length }, "searches may not have been logged");
      return true;
    }
  }
}
