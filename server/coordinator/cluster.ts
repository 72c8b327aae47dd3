// All shards and all open indexes: the coordinator's one mutable root. Opens, changes and drops indexes,
// sends writes under a new generation and publishes it, hands out snapshots to read from, and brings a
// restarted shard back. Knows nothing of HTTP and nothing of what a query or a document means.
import { setTimeout as sleep } from "node:timers/promises";
import type { EngineModule } from "../../engine-wasm/host/engine-module.js";
import type { Workbench } from "../../engine-wasm/host/workbench.js";
import {
  decodeOpenReply,
  decodeStatsReply,
  encodeDrop,
  encodeOpen,
  encodePing,
  encodeSchema,
  encodeShutdown,
  encodeStats,
  type IndexStats,
} from "../../shards/protocol/control.js";
import { decodeDeleteWhereReply, encodeDeleteWhere } from "../../shards/protocol/program.js";
import { decodeEmptyReply } from "../../shards/protocol/reply.js";
import { decodeWriteReply, type WriteFailure, type WriteStamp } from "../../shards/protocol/write.js";
import type { IndexRecord } from "../catalog/types.js";
import { SkeinError } from "../errors.js";
import type { Limits } from "../limits.js";
import type { Logger } from "../log.js";
import { loadEngine } from "./engine-files.js";
import { IndexState } from "./index-state.js";
import { viewOf } from "./index-view.js";
import { ReadBatcher } from "./read-batcher.js";
import { decodeReply } from "./shard-errors.js";
import { type Message, ShardPool } from "./shard-pool.js";
import { Snapshot } from "./snapshot.js";
import { type TextAnalyser, textAnalyser } from "./text-analyser.js";

export interface ClusterOptions {
  readonly dataDir: string;
  readonly shards: number;
  readonly durability: "fsync" | "os";
  readonly limits: Limits;
  readonly log: Logger;
}

const REBUILD_POLL_MS = 200;

export class Cluster {
  readonly limits: Limits;
  readonly log: Logger;
  readonly workbench: Workbench;
  readonly engine: EngineModule;
  readonly #pool: ShardPool;
  readonly #indexes = new Map<number, IndexState>();
  readonly #beforeStop: (() => Promise<void>)[] = [];
  /** By shard; empty with one shard, where sharing messages gains nothing. */
  readonly #batchers: readonly ReadBatcher[];

  private constructor(options: ClusterOptions, engine: EngineModule) {
    this.limits = options.limits;
    this.log = options.log;
    this.engine = engine;
    this.workbench = engine.workbench();
    const { dataDir, durability, limits } = options;
    this.#pool = new ShardPool({
      shards: options.shards,
      workerData: (shard) => ({
        shard,
        dataDir,
        durability,
        mergeSliceMs: limits.mergeSliceMsMax,
        documentBytesMax: limits.documentBytesMax,
        engine: engine.parts,
      }),
      ping: encodePing,
      checkPing: decodeEmptyReply,
      limits,
      log: options.log,
      recover: (shard, ask) => this.#reopenAll(shard, ask),
    });
    this.#batchers = Array.from(
      { length: options.shards > 1 ? options.shards : 0 },
      (_, shard) => new ReadBatcher((request) => this.#pool.ask(shard, request)),
    );
  }

  /** Starts the shards; no index is open yet. Throws what stopped one of them. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const cluster = new Cluster(options, await loadEngine());
    await cluster.#pool.start();
    return cluster;
  }

  get shards(): number {
    return this.#pool.count;
  }

  /** Loads an index in every shard, or creates it there. */
  async openIndex(record: IndexRecord): Promise<void> {
    const schema = viewOf(record).shardSchema;
    const replies = await this.#everywhere(() => encodeOpen({ uid: record.uid, schema }), decodeOpenReply);
    const state = new IndexState(record, replies);
    this.#indexes.set(record.uid, state);
    await this.#followRebuild(state);
  }

  /** Removes the index and all its stored data. */
  async dropIndex(uid: number): Promise<void> {
    this.#indexes.delete(uid);
    await this.#everywhere(() => encodeDrop(uid), decodeEmptyReply);
  }

  /** The fields or the analysis settings changed; the shards re-index in the background. */
  async applySchema(record: IndexRecord): Promise<void> {
    const state = this.#state(record.uid);
    const schema = viewOf(record).shardSchema;
    await this.#everywhere(() => encodeSchema({ uid: record.uid, schema }), decodeEmptyReply);
    state.record = record;
    await this.#followRebuild(state);
  }

  /** Live documents of an open index; 0 for one that is not open. */
  records(uid: number): number {
    return this.#indexes.get(uid)?.documents ?? 0;
  }

  rebuilding(uid: number): boolean {
    return this.#indexes.get(uid)?.rebuilding ?? false;
  }

  /** Summed over the shards. */
  async stats(record: IndexRecord): Promise<IndexStats> {
    const stats = await this.#everywhere(() => encodeStats(record.uid), decodeStatsReply);
    const total = (of: (one: IndexStats) => number): number => stats.reduce((sum, one) => sum + of(one), 0);
    return {
      liveDocs: total((one) => one.liveDocs),
      deletedRows: total((one) => one.deletedRows),
      segments: total((one) => one.segments),
      segmentBytes: total((one) => one.segmentBytes),
      memoryBytes: total((one) => one.memoryBytes),
      terms: total((one) => one.terms),
      staleSegments: total((one) => one.staleSegments),
      merging: stats.some((one) => one.merging),
      queuedBytes: total((one) => one.queuedBytes),
    };
  }

  /** Every shard is up and answers. */
  async ready(): Promise<boolean> {
    if (!this.#pool.open) return false;
    try {
      await this.#everywhere(encodePing, decodeEmptyReply);
      return true;
    } catch (error) {
      this.log.debug({ err: error }, "not ready");
      return false;
    }
  }

  /** Work that must end before the shards do. */
  beforeStop(end: () => Promise<void>): void {
    this.#beforeStop.push(end);
  }

  /** Waits for the requests inside, closes the storage and ends the threads. */
  async stop(): Promise<void> {
    await Promise.all(this.#beforeStop.map((end) => end()));
    this.#indexes.clear();
    await this.#pool.close(encodeShutdown);
  }

  analyser(record: IndexRecord): TextAnalyser {
    return textAnalyser(this.workbench, viewOf(record));
  }

  /** See IndexState.documentsMax. */
  documentsMax(uid: number): number {
    return this.#state(uid).documentsMax;
  }

  /** The index as of now; release it when done. */
  snapshot(uid: number): Snapshot {
    return new Snapshot(this.#state(uid), this.shards, (shard, request, decode) =>
      this.read(shard, request, decode),
    );
  }

  /** One read from one shard. Throws SkeinError for what the shard or its thread refuses. */
  async read<T>(shard: number, request: Message, decode: (reply: Uint8Array) => T): Promise<T> {
    const batcher = this.#batchers[shard];
    return decodeReply(await (batcher?.ask(request) ?? this.#pool.ask(shard, request)), decode);
  }

  /**
   * Sends one write with `seqs` sequence numbers to the shards that `encode` has a message for and resolves when it is durable there and
   * visible to reads. The messages are made and sent in the same turn, so writes reach every shard in the
   * order of their generations. Rejects when a shard failed; its part may be stored all the same.
   */
  async write(
    uid: number,
    seqs: number,
    encode: (stamp: WriteStamp) => ReadonlyMap<number, Message>,
  ): Promise<WriteFailure[]> {
    const state = this.#state(uid);
    const replies = await this.#publish(state, (generation, oldestGeneration) => {
      const stamp = { uid, generation, oldestGeneration, firstSeq: state.takeSeqs(seqs) };
      return Array.from(encode(stamp), async ([shard, message]) => {
        const reply = await this.#call(shard, message, decodeWriteReply);
        state.setLiveDocs(shard, reply.liveDocs);
        return reply.failures;
      });
    });
    return replies.flat();
  }

  /** Deletes the documents that match a search program; the number deleted, visible when resolved. */
  async deleteWhere(uid: number, program: Uint8Array): Promise<number> {
    const state = this.#state(uid);
    const deleted = await this.#publish(state, (generation, oldestGeneration) =>
      Array.from({ length: this.shards }, async (_, shard) => {
        const request = encodeDeleteWhere({ uid, generation, oldestGeneration, program });
        const reply = await this.#call(shard, request, decodeDeleteWhereReply);
        state.setLiveDocs(shard, reply.liveDocs);
        return reply.deleted;
      }),
    );
    return deleted.reduce((sum, count) => sum + count, 0);
  }

  /** Runs a write under a new generation, which is finished in every case: later ones must become visible. */
  async #publish<T>(
    state: IndexState,
    send: (generation: number, oldestGeneration: number) => Promise<T>[],
  ): Promise<T[]> {
    const { generations } = state;
    const generation = generations.begin();
    let results: PromiseSettledResult<T>[];
    try {
      results = await Promise.allSettled(send(generation, generations.oldest));
    } finally {
      generations.finish(generation);
    }
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    await generations.visible(generation);
    return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  /** Sent at once, in the order of the calls. */
  async #call<T>(shard: number, request: Message, decode: (reply: Uint8Array) => T): Promise<T> {
    return decodeReply(await this.#pool.ask(shard, request), decode);
  }

  #state(uid: number): IndexState {
    const state = this.#indexes.get(uid);
    if (state === undefined)
      throw new SkeinError("SK-SE-503", "The index is not open; retry in a moment.", { retryAfter: 1 });
    return state;
  }

  #everywhere<T>(encode: () => Message, decode: (reply: Uint8Array) => T): Promise<T[]> {
    return Promise.all(
      Array.from({ length: this.shards }, (_, shard) => this.#call(shard, encode(), decode)),
    );
  }

  async #reopenAll(shard: number, ask: (request: Message) => Promise<Uint8Array>): Promise<void> {
    for (const state of this.#indexes.values()) {
      const { uid } = state.record;
      const reply = decodeOpenReply(await ask(encodeOpen({ uid, schema: viewOf(state.record).shardSchema })));
      state.setLiveDocs(shard, reply.liveDocs);
    }
  }

  /** Sets `rebuilding` from the shards and keeps looking until nothing is stale. */
  async #followRebuild(state: IndexState): Promise<void> {
    const stale = async (): Promise<boolean> => (await this.stats(state.record)).staleSegments > 0;
    if (state.rebuilding) return;
    state.rebuilding = await stale();
    if (!state.rebuilding) return;
    const poll = async (): Promise<void> => {
      while (this.#indexes.get(state.record.uid) === state && state.rebuilding) {
        await sleep(REBUILD_POLL_MS, undefined, { ref: false });
        try {
          state.rebuilding = await stale();
        } catch (error) {
          this.log.warn(
            { err: error, uid: state.record.uid },
            "cannot tell how far re-indexing is; asking again",
          );
        }
      }
    };
    void poll();
  }
}
