// Documents that answers from small indexes showed lately, on this thread. They are kept as the shards show them whole, so that each answer
// takes from them what it wants.
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import type { FetchedDocument, FetchOptions } from "../../shards/protocol/fetch.js";
import { DocumentCache } from "../../shards/query/document-cache.js";
import { FittingDocuments } from "../../shards/query/fitting.js";
import { shower } from "../../shards/query/shown-document.js";
import type { IndexRecord } from "../catalog/types.js";
import { viewOf } from "../schema/index-view.js";
import { ReplyTooLargeError } from "../threads/shard-errors.js";

/** Pages of more documents, or of more bytes, are shown by the shards: other requests wait for this thread. */
const DOCUMENTS_MAX = 64;
const BYTES_MAX = 256 * 1024;

/** Asks a shard for documents, in the order of the seqs; one that it does not have is empty. Throws ReplyTooLargeError. */
export type FetchThere = (seqs: readonly number[], options: FetchOptions) => Promise<FetchedDocument[]>;

export class LocalDocuments {
  readonly #cache: DocumentCache;
  readonly #workbench: Workbench;

  constructor(workbench: Workbench, bytesMax: number) {
    this.#cache = new DocumentCache(bytesMax);
    this.#workbench = workbench;
  }

  /** As a shard would show them. */
  async show(
    record: IndexRecord,
    seqs: readonly number[],
    options: FetchOptions,
    fetchThere: FetchThere,
  ): Promise<FetchedDocument[]> {
    if (seqs.length > DOCUMENTS_MAX) return fetchThere(seqs, options);
    const records = seqs.map((seq) => this.#cache.get(record.uid, seq));
    const missing = seqs.filter((_, i) => records[i] === undefined);
    if (missing.length > 0) {
      const fetched = await this.#whole(missing, fetchThere);
      if (fetched === null) return fetchThere(seqs, options);
      let next = 0;
      for (const [i, seq] of seqs.entries()) {
        if (records[i] !== undefined) continue;
        const { id, document } = fetched[next++]!;
        if (document.length === 0) continue;
        records[i] = { internal: false, id: Buffer.from(id).toString(), raw: new Uint8Array(document) };
        this.#cache.put(record.uid, seq, records[i]);
      }
    }
    const bytes = records.reduce((sum, known) => sum + (known?.raw.length ?? 0), 0);
    if (bytes > BYTES_MAX) return fetchThere(seqs, options);
    const show = shower(options, viewOf(record).shardSchema.analysis, this.#workbench);
    const fitting = new FittingDocuments(options.bytesMax ?? Number.POSITIVE_INFINITY);
    for (const known of records) if (!fitting.add(show(known ?? null))) throw new ReplyTooLargeError();
    return fitting.documents;
  }

  /** Null when they are too large. */
  async #whole(seqs: readonly number[], fetchThere: FetchThere): Promise<FetchedDocument[] | null> {
    try {
      return await fetchThere(seqs, { bytesMax: BYTES_MAX });
    } catch (error) {
      if (error instanceof ReplyTooLargeError) return null;
      throw error;
    }
  }
}
