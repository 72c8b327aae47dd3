// Sends a run's documents from the feed thread. Collects a feed's mapped items into batches, and sends a
// batch only when the HTTP thread has asked for one. A slow feed's documents are sent after a short delay,
// even if they do not fill a batch.
import type { MessagePort } from "node:worker_threads";
import type { PreparedWrite, SyncedDocument } from "../ingest/prepare.js";
import type { MappedItem } from "../mapping/map-item.js";
import type { FeedBatch, FeedSignal } from "./feed-task.js";
import { type ItemError, RUN_ERRORS_MAX } from "./run-view.js";

/**
 * Maximum size of a batch, which is one write. Large enough to amortise the write's sync, small enough not to
 * occupy a shard for long.
 */
const BATCH_BYTES = 1024 * 1024;
const BATCH_DOCUMENTS_MAX = 2_000;
const LINGER_MS_MAX = 500;

interface Batching {
  readonly prepare: (documents: readonly SyncedDocument[]) => PreparedWrite;
  readonly feedBytes: () => number;
}

export class BatchSender {
  readonly #port: MessagePort;
  #batching: Batching | null = null;
  #documents: SyncedDocument[] = [];
  #items: number[] = [];
  /** Indexes in `#documents`, by document id. */
  readonly #places = new Map<string, number>();
  #bytes = 0;
  #failed = 0;
  #errors: ItemError[] = [];
  #errorsTold = 0;
  #permits = 0;
  #onPermit: (() => void) | null = null;
  #linger: NodeJS.Timeout | null = null;

  constructor(port: MessagePort, onStop: () => void) {
    this.#port = port;
    port.on("message", (signal: FeedSignal) => {
      if (signal === "stop") onStop();
      else this.#permits++;
      this.#onPermit?.();
    });
    port.on("close", onStop);
  }

  begin(batching: Batching): void {
    this.#batching = batching;
  }

  /**
   * Adds an item. An item that has an id but did not become a document is added as a mark, so that the
   * document stored under the id stays.
   */
  add({ at, id, document, errors }: MappedItem): void {
    if (document === null) this.#addFailure({ item: at, id, error: errors.join("; ") });
    // Convert the document to bytes at once. It is a string joined from parts, which V8 keeps in memory one
    // by one until the string is first read.
    if (id !== null) this.#put(at, { id, json: document === null ? null : Buffer.from(document) });
    this.#linger ??= setTimeout(() => this.#sendLate(), LINGER_MS_MAX);
  }

  get full(): boolean {
    return this.#bytes >= BATCH_BYTES || this.#documents.length >= BATCH_DOCUMENTS_MAX;
  }

  /** Sends the collected items once the HTTP thread permits it. Throws the signal's reason. */
  async send(signal: AbortSignal): Promise<void> {
    while (this.#permits === 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#onPermit = resolve;
      });
      this.#onPermit = null;
    }
    signal.throwIfAborted();
    this.#post();
  }

  /** Stops sending and closes the port. */
  end(): void {
    this.#batching = null;
    if (this.#linger !== null) clearTimeout(this.#linger);
    this.#port.close();
  }

  /**
   * Adds a document to the batch. If several items share an id, the last one that mapped successfully wins.
   */
  #put(at: number, document: SyncedDocument): void {
    const place = this.#places.get(document.id);
    this.#bytes += document.json?.length ?? 0;
    if (place === undefined) {
      this.#places.set(document.id, this.#documents.length);
      this.#documents.push(document);
      this.#items.push(at);
      return;
    }
    if (document.json === null) return;
    const { id, json } = this.#documents[place]!;
    const error = `item ${at} has the same id; the last one wins`;
    if (json !== null) this.#addFailure({ item: this.#items[place]!, id, error });
    this.#documents[place] = document;
    this.#items[place] = at;
  }

  #addFailure(error: ItemError): void {
    this.#failed++;
    if (this.#errorsTold++ < RUN_ERRORS_MAX) this.#errors.push(error);
  }

  #sendLate(): void {
    this.#linger = null;
    if (this.#permits > 0) this.#post();
    else this.#linger = setTimeout(() => this.#sendLate(), LINGER_MS_MAX);
  }

  #post(): void {
    if (this.#linger !== null) clearTimeout(this.#linger);
    this.#linger = null;
    if (this.#batching === null || this.#documents.length + this.#failed === 0) return;
    this.#permits--;
    const prepared = this.#batching.prepare(this.#documents);
    const batch: FeedBatch = {
      prepared,
      items: this.#items,
      failed: this.#failed,
      errors: this.#errors,
      documentBytes: this.#bytes,
      feedBytes: this.#batching.feedBytes(),
    };
    this.#port.postMessage(
      batch,
      prepared.messages.map(({ message }) => message.buffer),
    );
    this.#documents = [];
    this.#items = [];
    this.#places.clear();
    this.#bytes = 0;
    this.#failed = 0;
    this.#errors = [];
  }
}
