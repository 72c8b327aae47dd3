// The read side of one index: programs to the engine, stored documents out. Reads never wait for writes; each
// sees one snapshot.
import { seqsOfResult } from "../../engine-wasm/host/search-result.js";
import type { Workbench } from "../../engine-wasm/host/workbench.js";
import type { AllSeqsRequest } from "../protocol/export.js";
import type { FetchedDocument, FetchOptions, GetRequest } from "../protocol/fetch.js";
import type { PageReply, PageRequest } from "../protocol/page.js";
import type { ProgramRequest } from "../protocol/program.js";
import { Highlighter } from "../query/highlight.js";
import { FETCH_DIRECT_MAX } from "../query/limits.js";
import { project, projectionOf, WHOLE } from "../query/project.js";
import { type DocumentRecord, decodeDocument } from "../segments/document-record.js";
import { documentKey } from "../storage/keyspace.js";
import { liveSeqs } from "./live-seqs.js";
import type { IndexState } from "./state.js";
import { checkGone, readVersion } from "./stored-versions.js";

const NOTHING = new Uint8Array(0);
const LINE_END = Buffer.from("\n");

export class Reader {
  readonly #state: IndexState;

  constructor(state: IndexState) {
    this.#state = state;
  }

  get #workbench(): Workbench {
    return this.#state.home.workbench();
  }

  expand({ generation, program, deadline }: ProgramRequest): Uint8Array {
    const { engine, snapshots } = this.#state;
    return engine.expand(snapshots.at(generation).address, program, deadline || undefined);
  }

  search({ generation, program, deadline }: ProgramRequest): Uint8Array {
    const { engine, snapshots } = this.#state;
    return engine.search(snapshots.at(generation).address, program, deadline || undefined);
  }

  explain({ generation, program, deadline }: ProgramRequest): Uint8Array {
    const { engine, snapshots } = this.#state;
    return engine.explain(snapshots.at(generation).address, program, deadline || undefined);
  }

  async searchPage(request: PageRequest): Promise<PageReply> {
    const result = this.search(request);
    const seqs = seqsOfResult(result, request.offset, request.count);
    return { result, documents: await this.fetch(Array.from(seqs), request.options) };
  }

  /** In the order of the seqs; a document that is not stored is empty. */
  async fetch(
    seqs: readonly number[],
    { fields, excludeFields, highlight }: FetchOptions,
  ): Promise<FetchedDocument[]> {
    const projection = projectionOf(fields, excludeFields);
    const workbench = this.#workbench;
    const highlighter =
      highlight === undefined ? null : new Highlighter(highlight, this.#state.schema.analysis, workbench);
    return (await this.#stored(seqs)).map((record) => {
      if (record === null) return { document: NOTHING, highlight: NOTHING };
      return {
        document: project(record, projection, workbench),
        highlight: highlighter === null ? NOTHING : highlighter.highlight(record.raw),
      };
    });
  }

  /** The newest committed version of a document, empty when there is none. */
  get(request: GetRequest): Uint8Array {
    const record = readVersion(this.#state, this.#state.snapshots.newest, request);
    return record === undefined ? NOTHING : project(record, WHOLE, this.#workbench);
  }

  /** NDJSON of the documents that are stored. */
  async exportLines(seqs: readonly number[]): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for (const record of await this.#stored(seqs)) {
      if (record === null) continue;
      const document = project(record, WHOLE, this.#workbench);
      parts.push(document.includes(0x0a) ? oneLine(document) : document, LINE_END);
    }
    return Buffer.concat(parts);
  }

  /** Seqs of the live documents of a generation, ascending. */
  allSeqs({ generation, afterSeq, limit }: AllSeqsRequest): number[] {
    const { engine, snapshots } = this.#state;
    return liveSeqs(engine, snapshots.at(generation).entries, afterSeq, limit);
  }

  /** In the order of the seqs; null for a document that has died. Throws for one that is damaged or missing. */
  async #stored(seqs: readonly number[]): Promise<(DocumentRecord | null)[]> {
    const { uid, home } = this.#state;
    const keys = seqs.map((seq) => documentKey(uid, seq));
    const values =
      keys.length > FETCH_DIRECT_MAX
        ? await home.store.getMany(keys)
        : keys.map((key) => home.store.getSync(key));
    return values.map((value, i) => {
      if (value !== undefined) return decodeDocument(keys[i]!, value);
      checkGone(this.#state, seqs[i]!);
      return null;
    });
  }
}

/** JSON with its line breaks as blanks: they can only stand between tokens. */
function oneLine(document: Uint8Array): Uint8Array {
  return document.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte));
}
