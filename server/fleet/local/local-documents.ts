// Caches documents that this thread recently returned from small indexes. Each entry is the shard's rendering
// of the whole document, so any reply can select fields from it.
import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import type { FetchedDocument, FetchOptions } from "../../../shards/protocol/fetch.js";
import { DocumentCache, type ShownRecord } from "../../../shards/query/document-cache.js";
import { FittingDocuments } from "../../../shards/query/fitting.js";
import { shower } from "../../../shards/query/shown-document.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { resolvedSchemaOf } from "../../catalog/schema/resolved-schema.js";
import { run, type Work } from "../../ground/jobs/work.js";
import { ReplyTooLargeError } from "../threads/shard-errors.js";
import type { TurnBudget } from "./turn-budget.js";

/** A page with more documents than this, or more than BYTES_MAX bytes in total, is rendered by the shard. */
const DOCUMENTS_MAX = 64;
const BYTES_MAX = 256 * 1024;
/**
 * Documents longer than this are not cached. Every page that contains such a document is rendered by the
 * shard.
 */
const DOCUMENT_BYTES_MAX = 32 * 1024;
/**
 * If a fetch of at most this many documents does not fit into one reply, each of them is treated as too long
 * to cache. The failure of a larger fetch says too little about the length of each document.
 */
const LARGE_PAGE = 16;

/** A cached document, and the shard's rendering of it with all fields. */
interface KeptDocument extends ShownRecord {
  readonly whole: FetchedDocument;
}

const NOTHING = new Uint8Array(0);
const NO_DOCUMENT: FetchedDocument = { id: NOTHING, document: NOTHING, highlight: NOTHING };
/** Cached in place of a document that is too long to cache. */
const LARGE: KeptDocument = { internal: false, id: "", raw: NOTHING, whole: NO_DOCUMENT };

/**
 * Fetches documents from a shard, in the order of `seqs`. If the shard does not have a document, its entry is
 * empty. Throws ReplyTooLargeError.
 */
export type FetchThere = (seqs: readonly number[], options: FetchOptions) => Work<FetchedDocument[]>;

export class LocalDocuments {
  readonly #cache: DocumentCache<KeptDocument>;
  readonly #workbench: Workbench;
  readonly #budget: TurnBudget;

  constructor(workbench: Workbench, budget: TurnBudget, bytesMax: number) {
    this.#cache = new DocumentCache(bytesMax);
    this.#workbench = workbench;
    this.#budget = budget;
  }

  /**
   * Renders the documents as a shard would. If the budget for this turn of the event loop runs out, the shard
   * renders the remaining documents.
   */
  show(
    record: IndexRecord,
    seqs: readonly number[],
    options: FetchOptions,
    fetchThere: FetchThere,
  ): FetchedDocument[] | Promise<FetchedDocument[]> {
    const whole = isWhole(options) ? this.#cached(record.uid, seqs, options) : null;
    return whole ?? run(this.#shown(record, seqs, options, fetchThere));
  }

  /** Returns the documents if all of them are cached and short. */
  #cached(uid: number, seqs: readonly number[], { bytesMax }: FetchOptions): FetchedDocument[] | null {
    const documents: FetchedDocument[] = [];
    let bytes = 0;
    for (let i = 0; i < seqs.length; i++) {
      const known = this.#cache.get(uid, seqs[i]!);
      if (known === undefined || known === LARGE) return null;
      bytes += known.raw.length;
      documents.push(known.whole);
    }
    return seqs.length <= DOCUMENTS_MAX && bytes <= Math.min(BYTES_MAX, bytesMax ?? BYTES_MAX)
      ? documents
      : null;
  }

  *#shown(
    record: IndexRecord,
    seqs: readonly number[],
    options: FetchOptions,
    fetchThere: FetchThere,
  ): Work<FetchedDocument[]> {
    const records = seqs.length > DOCUMENTS_MAX ? null : yield* this.#records(record.uid, seqs, fetchThere);
    if (records === null) return yield* fetchThere(seqs, options);
    const fitting = new FittingDocuments(options.bytesMax ?? Number.POSITIVE_INFINITY);
    if (isWhole(options)) {
      for (const known of records)
        if (!fitting.add(known?.whole ?? NO_DOCUMENT)) throw new ReplyTooLargeError();
      return fitting.documents;
    }
    const show = shower(options, resolvedSchemaOf(record).shardSchema.analysis, this.#workbench);
    for (const [i, known] of records.entries()) {
      if (this.#budget.leftMs <= 0) {
        const { bytesLeft } = fitting;
        const room = Number.isFinite(bytesLeft) ? { bytesMax: bytesLeft } : {};
        return [...fitting.documents, ...(yield* fetchThere(seqs.slice(i), { ...options, ...room }))];
      }
      const begunMs = performance.now();
      const shown = show(known);
      this.#budget.spend(performance.now() - begunMs);
      if (!fitting.add(shown)) throw new ReplyTooLargeError();
    }
    return fitting.documents;
  }

  /**
   * Returns the documents in the order of `seqs`, with null for deleted documents. Returns null instead of an
   * array if the shard must render all of them.
   */
  *#records(
    uid: number,
    seqs: readonly number[],
    fetchThere: FetchThere,
  ): Work<(KeptDocument | null)[] | null> {
    const records = seqs.map((seq) => this.#cache.get(uid, seq) ?? null);
    if (records.includes(LARGE)) return null;
    if (records.includes(null)) {
      const missing = seqs.filter((_, i) => records[i] === null);
      const fetched = yield* this.#whole(missing, fetchThere);
      if (fetched === null) {
        if (missing.length <= LARGE_PAGE) for (const seq of missing) this.#cache.put(uid, seq, LARGE);
        return null;
      }
      let next = 0;
      for (const [i, seq] of seqs.entries()) {
        if (records[i] !== null) continue;
        const known = kept(fetched[next++]!);
        records[i] = known;
        if (known !== null) this.#cache.put(uid, seq, known.raw.length > DOCUMENT_BYTES_MAX ? LARGE : known);
      }
    }
    let bytes = 0;
    for (const known of records) bytes += known?.raw.length ?? 0;
    return bytes > BYTES_MAX ? null : records;
  }

  /** Fetches whole documents. Returns null if they do not fit into one reply. */
  *#whole(seqs: readonly number[], fetchThere: FetchThere): Work<FetchedDocument[] | null> {
    try {
      return yield* fetchThere(seqs, { bytesMax: BYTES_MAX });
    } catch (error) {
      if (error instanceof ReplyTooLargeError) return null;
      throw error;
    }
  }
}

function isWhole({ fields, excludeFields, highlight }: FetchOptions): boolean {
  return fields === undefined && excludeFields === undefined && highlight === undefined;
}

/** Copies a fetched document into a buffer of its own. Returns null if the document no longer exists. */
function kept({ id, document }: FetchedDocument): KeptDocument | null {
  if (document.length === 0) return null;
  const raw = new Uint8Array(document);
  const whole = { id: new Uint8Array(id), document: raw, highlight: NOTHING };
  return { internal: false, id: Buffer.from(id).toString(), raw, whole };
}
