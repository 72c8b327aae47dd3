// Reads from one index: passes programs to the engine and returns stored documents. Reads never wait for
// writes. Each read sees one snapshot.

import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import { seqsOfResult } from "../../../engine-wasm/host/programs/search-result.js";
import { SHARD_TOO_LARGE, ShardError } from "../../protocol/errors.js";
import type { AllSeqsRequest, ExportLines } from "../../protocol/export.js";
import type { FetchedDocument, FetchOptions, GetRequest } from "../../protocol/fetch.js";
import type { PageReply, PageRequest } from "../../protocol/page.js";
import type { ProgramRequest } from "../../protocol/program.js";
import type { SampledDocument, SampleRequest } from "../../protocol/vectors.js";
import { FittingDocuments } from "../../query/fitting.js";
import {
  EXPORT_BYTES,
  EXPORT_FIRST_GROUP,
  FETCH_DIRECT_MAX,
  FETCH_FIRST_GROUP,
  FETCH_GROUP_BYTES,
  FETCH_GROUP_MAX,
} from "../../query/limits.js";
import { project, WHOLE } from "../../query/project.js";
import { type Show, shower } from "../../query/shown-document.js";
import { type DocumentRecord, decodeDocument } from "../../segments/document-record.js";
import { documentKey } from "../../storage/keyspace.js";
import type { ShardIndexState } from "../state.js";
import { checkGone, readVersion } from "../stored-versions.js";
import { leastIdHashes, liveSeqs } from "./live-seqs.js";

const NOTHING = new Uint8Array(0);
const LINE_END = Buffer.from("\n");

export class Reader {
  readonly #state: ShardIndexState;

  constructor(state: ShardIndexState) {
    this.#state = state;
  }

  get #workbench(): Workbench {
    return this.#state.home.workbench();
  }

  expand({ generation, program, deadline }: ProgramRequest): Uint8Array {
    const { engine, snapshots } = this.#state;
    return engine.expand(snapshots.at(generation).address, program, deadline || undefined);
  }

  company({ generation, program, deadline }: ProgramRequest): Uint8Array {
    const { engine, snapshots } = this.#state;
    return engine.company(snapshots.at(generation).address, program, deadline || undefined);
  }

  search({ generation, program, deadline }: ProgramRequest): Uint8Array {
    const { engine, snapshots } = this.#state;
    return engine.search(snapshots.at(generation).address, program, deadline || undefined);
  }

  explain({ generation, program, deadline }: ProgramRequest): Uint8Array {
    const { engine, snapshots } = this.#state;
    return engine.explain(snapshots.at(generation).address, program, deadline || undefined);
  }

  nearest({ generation, program, deadline }: ProgramRequest): Uint8Array {
    const { engine, snapshots } = this.#state;
    return engine.nearest(snapshots.at(generation).address, program, deadline || undefined);
  }

  /**
   * Returns the live documents with the smallest id hashes: a sample that does not depend on the number of
   * shards.
   */
  sample({ generation, limit }: SampleRequest): SampledDocument[] {
    const { engine, snapshots } = this.#state;
    return leastIdHashes(engine, snapshots.at(generation).entries, limit);
  }

  /** Returns the search result, and as many of the page's documents as fit into the request's byte limit. */
  searchPage(request: PageRequest): PageReply | Promise<PageReply> {
    const result = this.search(request);
    const seqs = Array.from(seqsOfResult(result, request.offset, request.count));
    const documents = this.#fitting(seqs, request.options);
    return documents instanceof Promise
      ? documents.then((fetched) => ({ result, documents: fetched }))
      : { result, documents };
  }

  /**
   * Returns the documents in the order of `seqs`, with an empty one for a document that is not stored.
   * Answers up to FETCH_DIRECT_MAX documents synchronously. Throws SHARD_TOO_LARGE if the documents do not
   * fit, without reading all of them.
   */
  fetch(seqs: readonly number[], options: FetchOptions): FetchedDocument[] | Promise<FetchedDocument[]> {
    const all = (documents: FetchedDocument[]): FetchedDocument[] => {
      if (documents.length === seqs.length) return documents;
      throw new ShardError(
        SHARD_TOO_LARGE,
        `${seqs.length} documents have more than ${options.bytesMax} bytes`,
      );
    };
    const documents = this.#fitting(seqs, options);
    return documents instanceof Promise ? documents.then(all) : all(documents);
  }

  /** Returns documents as they will be shown, stopping before the first document that does not fit. */
  #fitting(seqs: readonly number[], options: FetchOptions): FetchedDocument[] | Promise<FetchedDocument[]> {
    const show = shower(options, this.#state.schema.analysis, this.#workbench);
    const fitting = new FittingDocuments(options.bytesMax ?? Number.POSITIVE_INFINITY);
    if (seqs.length > FETCH_DIRECT_MAX) return this.#fitGroups(seqs, show, fitting);
    for (const seq of seqs) if (!fitting.add(show(this.#shown(seq)))) break;
    return fitting.documents;
  }

  /** Reads the documents in groups, to avoid reading documents that will not fit. */
  async #fitGroups(
    seqs: readonly number[],
    show: Show,
    fitting: FittingDocuments,
  ): Promise<FetchedDocument[]> {
    let bytes = 0;
    let group = FETCH_FIRST_GROUP;
    for (let at = 0; at < seqs.length; ) {
      for (const record of await this.#stored(seqs.slice(at, at + group))) {
        bytes += record?.raw.length ?? 0;
        if (!fitting.add(show(record))) return fitting.documents;
      }
      at += group;
      group = Math.floor((FETCH_GROUP_BYTES * at) / Math.max(1, bytes));
      group = Math.min(Math.max(1, group), FETCH_GROUP_MAX);
    }
    return fitting.documents;
  }

  /** Returns the newest committed version of a document, or no bytes if there is none. */
  get(request: GetRequest): Uint8Array {
    const record = readVersion(this.#state, this.#state.snapshots.newest, request);
    return record === undefined ? NOTHING : project(record, WHOLE, this.#workbench);
  }

  /**
   * Returns the stored documents as NDJSON, about EXPORT_BYTES at most. `count` in the result is the number
   * of seqs covered, at least one.
   */
  async exportLines(seqs: readonly number[]): Promise<ExportLines> {
    const parts: Uint8Array[] = [];
    let count = 0;
    let bytes = 0;
    let group = EXPORT_FIRST_GROUP;
    while (count < seqs.length && bytes < EXPORT_BYTES) {
      const records = await this.#stored(seqs.slice(count, count + group));
      for (const record of records) {
        if (record === null) continue;
        const document = project(record, WHOLE, this.#workbench);
        parts.push(document.includes(0x0a) ? oneLine(document) : document, LINE_END);
        bytes += document.length + 1;
      }
      count += records.length;
      group = Math.max(1, Math.floor(((EXPORT_BYTES - bytes) * count) / Math.max(1, bytes)));
    }
    return { count, lines: Buffer.concat(parts) };
  }

  /** Returns the seqs of the documents that are live in a generation, ascending. */
  allSeqs({ generation, afterSeq, limit }: AllSeqsRequest): number[] {
    const { engine, snapshots } = this.#state;
    return liveSeqs(engine, snapshots.at(generation).entries, afterSeq, limit);
  }

  /**
   * Reads stored documents in the order of `seqs`; null for a document deleted since the snapshot. Throws if
   * a document is damaged or missing.
   */
  async #stored(seqs: readonly number[]): Promise<(DocumentRecord | null)[]> {
    const { uid, home } = this.#state;
    const keys = seqs.map((seq) => documentKey(uid, seq));
    const values = await home.store.getMany(keys);
    return values.map((value, i) => this.#decoded(seqs[i]!, keys[i]!, value));
  }

  /**
   * Reads a document through the cache. Used only for small requests, whose documents are likely to be shown
   * again.
   */
  #shown(seq: number): DocumentRecord | null {
    const { uid, home } = this.#state;
    const known = home.documents.get(uid, seq);
    if (known !== undefined) return known;
    const key = documentKey(uid, seq);
    const record = this.#decoded(seq, key, home.store.getSync(key));
    if (record !== null) home.documents.put(uid, seq, record);
    return record;
  }

  #decoded(seq: number, key: Uint8Array, value: Uint8Array | undefined): DocumentRecord | null {
    if (value !== undefined) return decodeDocument(key, value);
    checkGone(this.#state, seq);
    return null;
  }
}

/** Replaces line breaks in JSON with spaces. Line breaks can only occur between tokens. */
function oneLine(document: Uint8Array): Uint8Array {
  return document.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte));
}
