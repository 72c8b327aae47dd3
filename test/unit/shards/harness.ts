// A shard without a thread: messages are encoded, handled and decoded as in a worker.

import { expect } from "vitest";
import {
  FLAG_FACET,
  FLAG_INDEX,
  FLAG_SORT,
  TYPE_INT32,
  TYPE_STRING,
} from "../../../engine-wasm/assembly/layout.js";
import { loadEngine } from "../../../engine-wasm/host/instance/engine-files.js";
import type { EngineModule } from "../../../engine-wasm/host/instance/engine-module.js";
import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import {
  EVERY_DOCUMENT,
  encodeSearch,
  type SearchProgram,
} from "../../../engine-wasm/host/programs/search-program.js";
import type { Embedder } from "../../../engine-wasm/host/vectors/embedder.js";
import { handle } from "../../../shards/handle.js";
import { LargeWork } from "../../../shards/index/large-work.js";
import type { VectorPolicy } from "../../../shards/protocol/control.js";
import * as control from "../../../shards/protocol/control.js";
import {
  decodeAllSeqsReply,
  decodeExportReply,
  type ExportLines,
  encodeAllSeqs,
  encodeExport,
} from "../../../shards/protocol/export.js";
import { decodeGetReply, encodeGet } from "../../../shards/protocol/fetch.js";
import type { Action } from "../../../shards/protocol/ops.js";
import * as program from "../../../shards/protocol/program.js";
import { decodeEmptyReply } from "../../../shards/protocol/reply.js";
import * as unseen from "../../../shards/protocol/unseen.js";
import { decodeWriteReply, encodeWrite, type WriteReply } from "../../../shards/protocol/write.js";
import { Shard } from "../../../shards/shard.js";
import type { Store } from "../../../shards/storage/store.js";
import { decodeSearchResult } from "../../oracle/decoded-result.js";
import { filterOf } from "../../oracle/filter-operations.js";

export const UID = 7;

export const SCHEMA: control.ShardSchema = {
  version: 1,
  fields: [
    { slot: 0, name: "title", type: TYPE_STRING, flags: FLAG_INDEX, language: 0 },
    { slot: 1, name: "price", type: TYPE_INT32, flags: FLAG_INDEX | FLAG_SORT | FLAG_FACET, language: 0 },
  ],
  analysis: { symbolsToIndex: "", tokenSeparators: "" },
};

let loaded: Promise<EngineModule> | null = null;

export function engineModule(): Promise<EngineModule> {
  loaded ??= loadEngine("checked");
  return loaded;
}

/** A document; `body` is a value, or JSON text. */
export interface TestDocument {
  id: string;
  body?: unknown;
}

export const NO_VECTORS: VectorPolicy = { source: "none", origin: 0 };

/** Opens a shard without opening any index. */
export async function openShard(
  store: Store,
  workbench: Workbench,
  reports: string[],
  embedder?: (model: Uint8Array) => Embedder,
  sync = true,
): Promise<Shard> {
  const module = await engineModule();
  return Shard.open({
    store,
    sync,
    mergeSliceMs: 3,
    documentBytesMax: 1024 * 1024,
    queries: new Int32Array(1),
    large: new LargeWork(new Int32Array(1), 0),
    engine: () => module.engine(),
    embedder: embedder ?? ((model) => module.embedder(model)),
    workbench,
    report: (message, error) => reports.push(`${message}: ${error}`),
  });
}

/** Plays the coordinator of a single shard with a single index. Assigns numbers to writes and documents. */
export class TestShard {
  readonly shard: Shard;
  readonly workbench: Workbench;
  readonly reports: string[];
  generation = 0;
  nextSeq = 1;
  /** The oldest generation in use; null if only the newest is. */
  oldest: number | null = null;
  /** What writes say of the index: see WriteHead. */
  published = 0;
  shards = 1;

  private constructor(shard: Shard, workbench: Workbench, reports: string[]) {
    this.shard = shard;
    this.workbench = workbench;
    this.reports = reports;
  }

  /** `embedder` replaces the function that creates a model's embedder in the engine. */
  static async open(
    store: Store,
    schema = SCHEMA,
    vectors = NO_VECTORS,
    embedder?: (model: Uint8Array) => Embedder,
    sync = true,
    published = 0,
  ): Promise<TestShard> {
    const workbench = (await engineModule()).workbench();
    const reports: string[] = [];
    const shard = await openShard(store, workbench, reports, embedder, sync);
    const test = new TestShard(shard, workbench, reports);
    const status = control.decodeOpenReply(
      await test.ask(control.encodeOpen({ uid: UID, schema, made: false, vectors, published })),
    );
    test.generation = status.generation;
    test.nextSeq = status.maxSeq + 1;
    return test;
  }

  /** True if the shard answers synchronously, before its thread can do other work. */
  answersAtOnce(message: Uint8Array): boolean {
    return !(handle(this.shard, message) instanceof Promise);
  }

  async ask(message: Uint8Array): Promise<Uint8Array> {
    return handle(this.shard, message);
  }

  async write(action: Action, documents: TestDocument[]): Promise<WriteReply> {
    const request = {
      ...this.#head(),
      action,
      documents: documents.map(({ id, body }, index) => ({
        index,
        seq: this.nextSeq++,
        id,
        hash: this.workbench.hash(id),
        raw: Buffer.from(typeof body === "string" ? body : body === undefined ? "" : JSON.stringify(body)),
      })),
    };
    return decodeWriteReply(await this.ask(encodeWrite(request)));
  }

  async get(id: string): Promise<unknown> {
    const bytes = decodeGetReply(await this.ask(encodeGet({ uid: UID, id, hash: this.workbench.hash(id) })));
    return bytes === null ? null : JSON.parse(Buffer.from(bytes).toString());
  }

  async seqs(generation = this.generation): Promise<number[]> {
    return decodeAllSeqsReply(
      await this.ask(encodeAllSeqs({ uid: UID, generation, afterSeq: 0, limit: 1_000_000 })),
    );
  }

  async export(seqs: number[]): Promise<ExportLines> {
    return decodeExportReply(await this.ask(encodeExport({ uid: UID, seqs })));
  }

  /** Returns all of a generation's documents by id, in seq order. */
  async documents(generation = this.generation): Promise<Map<string, unknown>> {
    const seqs = await this.seqs(generation);
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < seqs.length; ) {
      const { count, lines } = await this.export(seqs.slice(at));
      pieces.push(lines);
      at += count;
    }
    const text = Buffer.concat(pieces).toString();
    const values =
      text === ""
        ? []
        : text
            .trimEnd()
            .split("\n")
            .map((line) => JSON.parse(line) as { id: string });
    return new Map(values.map((value) => [value.id, value]));
  }

  /** Returns the matching documents' seqs, ascending. */
  async search(more: Partial<SearchProgram> = {}, generation = this.generation): Promise<number[]> {
    const asked = { ...EVERY_DOCUMENT, ...more };
    const oldestGeneration = this.oldest ?? this.generation;
    const request = { uid: UID, generation, oldestGeneration, program: encodeSearch(asked) };
    const result = decodeSearchResult(
      program.decodeResult(await this.ask(program.encodeSearchRequest(request))),
      asked,
    );
    return result.rows.map(({ seq }) => seq).sort((a, b) => a - b);
  }

  async deleteWhere(more: Partial<SearchProgram>): Promise<program.DeleteWhereReply> {
    const request = { ...this.#head(), program: encodeSearch({ ...EVERY_DOCUMENT, ...more }) };
    return program.decodeDeleteWhereReply(await this.ask(program.encodeDeleteWhere(request)));
  }

  /**
   * Counts the documents older than `beforeSeq` that are not in `seqs`, then deletes them. Expects as many
   * deletions as were counted.
   */
  async deleteUnseen(beforeSeq: number, seqs: readonly number[]): Promise<program.DeleteWhereReply> {
    const kept = new unseen.SeqSet();
    for (const seq of seqs) kept.add(seq);
    const request = { ...this.#head(), beforeSeq, kept };
    const count = unseen.decodeCountUnseenReply(await this.ask(unseen.encodeCountUnseen(request)));
    const reply = program.decodeDeleteWhereReply(await this.ask(unseen.encodeDeleteUnseen(request)));
    expect(reply.deleted).toBe(count);
    return reply;
  }

  /** Begins the next generation. */
  #head() {
    const oldestGeneration = this.oldest ?? this.generation;
    const { published, shards } = this;
    return { uid: UID, generation: ++this.generation, oldestGeneration, published, shards };
  }

  async stats(): Promise<control.IndexStats> {
    return control.decodeStatsReply(await this.ask(control.encodeStats(UID)));
  }

  /** Resolves once no background work is running. */
  async settled(): Promise<void> {
    while ((await this.stats()).merging) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  async drop(): Promise<void> {
    decodeEmptyReply(await this.ask(control.encodeDrop(UID)));
  }

  async changeSchema(schema: control.ShardSchema): Promise<void> {
    decodeEmptyReply(await this.ask(control.encodeSchema({ uid: UID, schema })));
  }

  async close(): Promise<void> {
    decodeEmptyReply(await this.ask(control.encodeShutdown()));
  }
}

/** Returns a search for documents with a price from `low` to `high`, both included. */
export function priceBetween(low: number, high: number): Partial<SearchProgram> {
  return { filter: filterOf({ op: "intRange", slot: 1, low: BigInt(low), high: BigInt(high) }) };
}
