// Performs one run of a data source. Reads the feed in a feed thread and writes its documents to the index as
// they arrive. In `replace` mode, once the whole feed has been read, deletes the documents that it does not
// contain. Knows nothing about queues, schedules and run records.
import { SeqSet } from "../../../shards/protocol/unseen.js";
import type { DocumentQuota } from "../../access/tenants/document-quota.js";
import type { DataSource, FeedValidators } from "../../catalog/records/data-source.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { RunCounts } from "../../catalog/records/sync-run.js";
import type { IndexState } from "../../fleet/owner/index-state.js";
import type { OpenIndexes } from "../../fleet/owner/open-indexes.js";
import { ERRORS, FeedError, SkeinError } from "../../ground/errors.js";
import { fault } from "../../ground/fault.js";
import { type Ingest, writePrepared } from "../ingest/write.js";
import type { FeedPool } from "./feed-pool.js";
import type { FeedSettings } from "./feed-settings.js";
import type { FeedBatch, FeedRead, SyncTask } from "./feed-task.js";
import { outboundRules } from "./outbound-rules.js";
import { type ItemError, RUN_ERRORS_MAX } from "./run-view.js";

/** What a run needs from the server. */
export interface RunParts extends Ingest {
  readonly indexes: OpenIndexes;
  readonly pool: FeedPool;
  readonly settings: FeedSettings;
}

export interface RunRequest {
  readonly source: DataSource;
  readonly record: IndexRecord;
  readonly credentials: SyncTask["credentials"];
  /** The tenant's document quota. Null if the plan sets no limit. */
  readonly quota: DocumentQuota | null;
}

export interface RunOutcome {
  readonly notModified: boolean;
  /** Validators for the next conditional request. Null if the next run must read the feed again. */
  readonly validators: FeedValidators | null;
}

/** A run's progress so far. */
export class RunProgress {
  imported = 0;
  failed = 0;
  deleted = 0;
  unchanged = 0;
  bytes = 0;
  readonly errors: ItemError[] = [];

  get counts(): RunCounts {
    const { imported, failed, deleted, unchanged, bytes } = this;
    return { imported, failed, deleted, unchanged, bytes };
  }

  addErrors(errors: readonly ItemError[]): void {
    this.errors.push(...errors.slice(0, RUN_ERRORS_MAX - this.errors.length));
  }
}

/**
 * Runs a source. Throws FeedError if the feed cannot be read or its documents cannot be written, or the
 * signal's reason. `progress` is up to date even then.
 */
export async function runFeed(
  parts: RunParts,
  request: RunRequest,
  progress: RunProgress,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { state, end } = await parts.indexes.use(request.record.uid);
  try {
    return await new FeedRun(parts, request, progress, state).run(signal);
  } finally {
    end();
  }
}

class FeedRun {
  readonly #parts: RunParts;
  readonly #request: RunRequest;
  readonly #progress: RunProgress;
  readonly #state: IndexState;
  readonly #documentsBefore: number;
  readonly #firstSeq: number;
  readonly #generationBefore: number;
  #writes = 0;
  /** Sequence numbers of documents in the feed that were stored before the run and have not changed. */
  readonly #seen = new SeqSet();

  constructor(parts: RunParts, request: RunRequest, progress: RunProgress, state: IndexState) {
    this.#parts = parts;
    this.#request = request;
    this.#progress = progress;
    this.#state = state;
    this.#documentsBefore = state.documents;
    this.#firstSeq = state.nextSeq;
    this.#generationBefore = state.generations.published;
  }

  async run(signal: AbortSignal): Promise<RunOutcome> {
    const { source } = this.#request;
    const read = await this.#parts.pool.sync(this.#task(), signal, (batch) => this.#write(batch));
    this.#progress.bytes = read.feedBytes;
    if (read.notModified) return { notModified: true, validators: source.validators };
    fault("run.after-read");
    signal.throwIfAborted();
    if (source.sync_mode === "replace") await this.#deleteUnseen(read);
    return { notModified: false, validators: this.#validators(read) };
  }

  #task(): SyncTask {
    const { limits, writes, settings } = this.#parts;
    const { source, record, credentials } = this.#request;
    const { url, format, field_map, items_path, id_field, delimiter, encoding } = source;
    return {
      kind: "sync",
      feed: { url, format, field_map, items_path, id_field, delimiter, encoding },
      credentials,
      fields: record.fields.map(({ name, type }) => ({ name, type })),
      rules: outboundRules(settings, limits),
      itemBytesMax: limits.feedItemBytesMax,
      validators: this.#known() ?? { etag: null, lastModified: null },
      shards: writes.shards(record.uid),
      limits: { documentBytesMax: limits.documentBytesMax, batchDocumentsMax: limits.batchDocumentsMax },
    };
  }

  /**
   * Returns the source's validators if the index has not changed since they were received with the feed,
   * otherwise null.
   */
  #known(): FeedValidators | null {
    const { source, record } = this.#request;
    const { validators } = source;
    const holds =
      validators?.index === record.uid &&
      validators.schemaVersion === record.schemaVersion &&
      validators.generation === this.#generationBefore;
    return holds ? validators : null;
  }

  async #write(batch: FeedBatch): Promise<void> {
    const { recorder } = this.#parts;
    const { record, quota } = this.#request;
    const progress = this.#progress;
    progress.bytes = batch.feedBytes;
    progress.failed += batch.failed;
    progress.addErrors(batch.errors);
    recorder.documentBytes("feed", batch.documentBytes);
    this.#writes++;
    fault("run.before-batch");
    const { errors, unchanged, kept, partial } = await asFeedError(() =>
      writePrepared(this.#parts, record, batch.prepared, quota),
    );
    fault("run.after-batch");
    for (const seq of kept) this.#seen.add(seq);
    const imported = batch.prepared.received - unchanged - errors.length;
    progress.imported += imported;
    progress.unchanged += unchanged;
    progress.failed += errors.length;
    progress.addErrors(
      errors.map(({ index, id, error }) => ({ item: batch.items[index] as number, id, error })),
    );
    recorder.documentsTaken("feed", imported + unchanged, errors.length + batch.failed);
    const [broken] = errors.filter(({ code }) => ERRORS[code].status >= 500);
    if (broken !== undefined || partial) throw notWritten(broken?.error ?? "a shard did not store its part");
  }

  /**
   * Deletes documents that are not in the feed. Deletes nothing and throws FeedError if the feed is empty or
   * may be incomplete, if an item's id is unreadable, or if too much would be deleted.
   */
  async #deleteUnseen(read: FeedRead): Promise<void> {
    const { writes } = this.#parts;
    const { source, record } = this.#request;
    if (read.items === 0) throw new FeedError("SK-DS-409", "the feed has no items; nothing was deleted");
    if (read.unknown > 0) {
      const items = read.unknown === 1 ? "1 item" : `${read.unknown} items`;
      throw new FeedError(
        "SK-DS-422",
        `the feed has ${items} whose id cannot be read, so nothing was deleted`,
      );
    }
    const unseen = await asFeedError(() => writes.countUnseen(record.uid, this.#firstSeq, this.#seen));
    if (unseen === 0) return;
    if (!read.isEndProven) {
      throw new FeedError(
        "SK-DS-520",
        "the feed may be incomplete, because its server states neither its length nor its end, so nothing was deleted",
      );
    }
    // `unseen` may include documents that were still being written when the run began. `#documentsBefore` was
    // read at that moment and does not include them.
    const before = Math.max(this.#documentsBefore, unseen);
    if (unseen > source.max_delete_ratio * before) {
      throw new FeedError(
        "SK-DS-409",
        `the feed lacks ${unseen} of ${before} documents, more than max_delete_ratio (${source.max_delete_ratio}) allows; nothing was deleted`,
      );
    }
    fault("run.before-deletion");
    this.#writes++;
    this.#progress.deleted = await asFeedError(() =>
      writes.deleteUnseen(record.uid, this.#firstSeq, this.#seen),
    );
    fault("run.after-deletion");
  }

  /**
   * Returns null if the feed's server sent no validators, the feed may have been incomplete, an item failed,
   * or another client wrote during the run. The next run then has to read the feed again.
   */
  #validators({ etag, lastModified, isEndProven }: FeedRead): FeedValidators | null {
    const { uid, schemaVersion } = this.#request.record;
    const generation = this.#state.generations.published;
    const alone = generation === this.#generationBefore + this.#writes;
    if (!alone || !isEndProven || this.#progress.failed > 0 || (etag === null && lastModified === null))
      return null;
    return { etag, lastModified, index: uid, schemaVersion, generation };
  }
}

/**
 * Turns the refusal of a whole write into an error that ends the run: if the run went on, the write's
 * documents would silently be missing.
 */
async function asFeedError<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw error instanceof SkeinError ? notWritten(error.message, error) : error;
  }
}

function notWritten(why: string, cause?: unknown): FeedError {
  return new FeedError("SK-DS-503", `the documents could not be written: ${why}`, cause);
}
