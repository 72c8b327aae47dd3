// All shards and all open indexes: the coordinator's one mutable root. Opens, changes and drops indexes,
// sends writes under a new generation and publishes it, hands out snapshots to read from, and brings a
// restarted shard back. Knows nothing of HTTP and nothing of what a query or a document means.
import { join } from "node:path";
import type { EngineModule } from "../../engine-wasm/host/engine-module.js";
import type { Workbench } from "../../engine-wasm/host/workbench.js";
import {
  decodeOpenReply,
  decodeStatsReply,
  encodeClose,
  encodeDrop,
  encodeOpen,
  encodePing,
  encodeSchema,
  encodeShutdown,
  encodeStats,
  type IndexStats,
  type OpenReply,
} from "../../shards/protocol/control.js";
import { isUnreadable, type ShardError } from "../../shards/protocol/errors.js";
import { decodeDeleteWhereReply, encodeDeleteWhere } from "../../shards/protocol/program.js";
import { decodeEmptyReply } from "../../shards/protocol/reply.js";
import {
  decodeSnapshotWriteReply,
  encodeSnapshotDrop,
  encodeSnapshotTake,
  encodeSnapshotWrite,
  type WrittenSnapshot,
} from "../../shards/protocol/snapshot.js";
import { decodeWriteReply, type WriteFailure, type WriteStamp } from "../../shards/protocol/write.js";
import type { IndexRecord } from "../catalog/types.js";
import { SkeinError } from "../errors.js";
import type { Limits } from "../limits.js";
import type { Logger } from "../log.js";
import type { QueryTrace } from "../metrics/query-trace.js";
import type { IndexReading, ShardReading } from "../metrics/readings.js";
import type { Recorder } from "../metrics/recorder.js";
import { loadEngine } from "./engine-files.js";
import { IndexState } from "./index-state.js";
import { sumStats } from "./index-stats.js";
import { viewOf } from "./index-view.js";
import type { Subject } from "./quarantine.js";
import { followRebuild } from "./rebuild.js";
import { damageSentence, decodeReply } from "./shard-errors.js";
import { type Message, ShardPool } from "./shard-pool.js";
import { ShardReads, searchDeadline } from "./shard-reads.js";
import { ShardSurvey } from "./shard-survey.js";
import { type CallShard, Snapshot } from "./snapshot.js";
import { type TextAnalyser, textAnalyser } from "./text-analyser.js";
import { WriteGate } from "./write-gate.js";

export interface ClusterOptions {
  readonly dataDir: string;
  readonly shards: number;
  readonly durability: "fsync" | "os";
  readonly limits: Limits;
  readonly log: Logger;
  readonly recorder: Recorder;
}

export class Cluster {
  readonly limits: Limits;
  readonly log: Logger;
  readonly dataDir: string;
  readonly recorder: Recorder;
  readonly workbench: Workbench;
  readonly engine: EngineModule;
  readonly #pool: ShardPool;
  readonly #indexes = new Map<number, IndexState>();
  readonly #gate = new WriteGate();
  /** By uid: what is damaged in an index, as the first shard that met it says. */
  readonly #damage = new Map<number, string>();
  readonly #beforeStop: (() => Promise<void>)[] = [];
  readonly #reads: ShardReads;
  readonly #survey: ShardSurvey;

  private constructor(options: ClusterOptions, engine: EngineModule) {
    this.limits = options.limits;
    this.log = options.log;
    this.dataDir = options.dataDir;
    this.recorder = options.recorder;
    this.engine = engine;
    this.workbench = engine.workbench();
    const { dataDir, durability, limits } = options;
    this.#pool = new ShardPool({
      shards: options.shards,
      workerData: (shard, beats) => ({
        shard,
        shardsDir: join(dataDir, "shards"),
        durability,
        mergeSliceMs: limits.mergeSliceMsMax,
        documentBytesMax: limits.documentBytesMax,
        engine: { ...engine.parts, memoryBytesMax: limits.engineBytesMax },
        beats,
      }),
      ping: encodePing,
      checkPing: decodeEmptyReply,
      limits,
      log: options.log,
      recover: (shard, ask) => this.#reopenAll(shard, ask),
    });
    const ask = (shard: number, request: Message) => this.#pool.ask(shard, request);
    this.#reads = new ShardReads(options.shards, ask, this.log);
    this.#survey = new ShardSurvey(options.shards, ask);
  }

  /** Starts the shards; no index is open yet. Throws what stopped one of them. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const cluster = new Cluster(options, await loadEngine());
    try {
      await cluster.#pool.start();
    } catch (error) {
      await cluster.#pool.close(encodeShutdown);
      throw error;
    }
    return cluster;
  }

  get shards(): number {
    return this.#pool.count;
  }

  /** Loads an index in every shard, or creates it there. */
  async openIndex(record: IndexRecord): Promise<void> {
    const schema = viewOf(record).shardSchema;
    let replies: OpenReply[];
    try {
      replies = await this.#everywhere(() => encodeOpen({ uid: record.uid, schema }), decodeOpenReply);
    } catch (error) {
      await this.#closeEverywhere(record.uid);
      throw error;
    }
    const state = new IndexState(record, replies, this.recorder.expansionCache);
    this.#indexes.set(record.uid, state);
    await this.#followRebuild(state);
  }

  /** Removes the index and all its stored data. */
  async dropIndex(uid: number): Promise<void> {
    this.#indexes.delete(uid);
    await this.#everywhere(() => encodeDrop(uid), decodeEmptyReply);
    this.#damage.delete(uid);
  }

  /** The fields or the analysis settings changed; the shards re-index in the background. */
  async applySchema(record: IndexRecord): Promise<void> {
    const state = this.#state(record.uid);
    const schema = viewOf(record).shardSchema;
    state.rebuilding = true;
    try {
      await this.#everywhere(() => encodeSchema({ uid: record.uid, schema }), decodeEmptyReply);
      state.record = record;
    } finally {
      await this.#followRebuild(state);
    }
  }

  /** Live documents of an open index; 0 for one that is not open. */
  records(uid: number): number {
    return this.#indexes.get(uid)?.documents ?? 0;
  }

  rebuilding(uid: number): boolean {
    return this.#indexes.get(uid)?.rebuilding ?? false;
  }

  /** What is known to be damaged in the index, in one sentence. An open index goes on serving what is whole. */
  damage(uid: number): string | undefined {
    return this.#damage.get(uid);
  }

  /** Indexes in which damage was met, open or not. */
  get damaged(): readonly number[] {
    return [...this.#damage.keys()];
  }

  /** Summed over the shards. */
  async stats(record: IndexRecord): Promise<IndexStats> {
    const stats = await this.#everywhere(() => encodeStats(record.uid), decodeStatsReply);
    return sumStats(stats);
  }

  /** What the shards say about themselves and these indexes within the time. Never rejects. */
  async survey(uids: readonly number[], msMax: number) {
    const { answerMs, stats } = await this.#survey.take(uids, msMax);
    const shards = this.#pool.readings().map((reading, shard): ShardReading => {
      const waited = answerMs[shard] ?? null;
      return { shard, up: waited !== null, answerMs: waited, ...reading };
    });
    return { shards, stats };
  }

  /** How far an open index is, null for one that is not open. */
  progress(uid: number): Pick<IndexReading, "documents" | "generation" | "pendingWrites"> | null {
    const state = this.#indexes.get(uid);
    if (state === undefined) return null;
    const { published, pending } = state.generations;
    return { documents: state.documents, generation: published, pendingWrites: pending };
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

  /** The index as of now; release it when done. Its questions enter their phases in `trace`. */
  snapshot(uid: number, trace?: QueryTrace): Snapshot {
    const call: CallShard = (shard, request, decode, subject) => this.read(shard, request, decode, subject);
    return new Snapshot(this.#state(uid), this.shards, call, searchDeadline(this.limits), trace);
  }

  /** One read from one shard, see ShardReads. Throws SkeinError for what the shard or its thread refuses. */
  read<T>(shard: number, request: Message, decode: (reply: Uint8Array) => T, subject?: Subject): Promise<T> {
    const decoded = (reply: Uint8Array): T =>
      decodeReply(reply, decode, (error) => this.#onDamage(shard, error));
    return this.#reads.read(shard, request, decoded, subject);
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

  /**
   * Runs the work while no write is under way in any shard: what it sees there has every write as a whole or not
   * at all. Undefined when the writes under way did not end within `msMax`.
   */
  betweenWrites<T>(msMax: number, work: () => Promise<T>): Promise<T | undefined> {
    return this.#gate.quiet(msMax, work);
  }

  /** Every shard keeps its database as it is now under this id, until it is written or dropped. */
  async takeSnapshot(id: string): Promise<void> {
    await this.#everywhere(() => encodeSnapshotTake(id), decodeEmptyReply);
  }

  writeSnapshot(shard: number, id: string, path: string): Promise<WrittenSnapshot> {
    return this.#call(shard, encodeSnapshotWrite(id, path), decodeSnapshotWriteReply);
  }

  /** Also ends a running writeSnapshot. A shard that does not answer has lost it already. */
  async dropSnapshot(id: string): Promise<void> {
    try {
      await this.#everywhere(() => encodeSnapshotDrop(id), decodeEmptyReply);
    } catch (error) {
      this.log.debug({ err: error, snapshot: id }, "a shard has no snapshot to drop");
    }
  }

  /** Runs a write under a new generation, which is finished in every case: later ones must become visible. */
  async #publish<T>(
    state: IndexState,
    send: (generation: number, oldestGeneration: number) => Promise<T>[],
  ): Promise<T[]> {
    await this.#gate.enter();
    const { generations } = state;
    const generation = generations.begin();
    let results: PromiseSettledResult<T>[];
    try {
      results = await Promise.allSettled(send(generation, generations.oldest));
    } finally {
      generations.finish(generation);
      this.#gate.leave();
    }
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    await generations.visible(generation);
    return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  /** Sent at once, in the order of the calls. */
  async #call<T>(shard: number, request: Message, decode: (reply: Uint8Array) => T): Promise<T> {
    const reply = await this.#pool.ask(shard, request);
    return decodeReply(reply, decode, (error) => this.#onDamage(shard, error));
  }

  #onDamage(shard: number, error: ShardError): void {
    const { uid, message } = error;
    if (uid === undefined || this.#damage.has(uid)) return;
    this.#damage.set(uid, damageSentence(error));
    const index = this.#indexes.get(uid)?.record.name;
    this.log.error({ index, uid, shard, found: message }, "stored data of an index cannot be read");
  }

  /** Gives back what some shards have loaded of an index that another one could not open. */
  async #closeEverywhere(uid: number): Promise<void> {
    try {
      await this.#everywhere(() => encodeClose(uid), decodeEmptyReply);
    } catch (error) {
      this.log.debug({ err: error, uid }, "an index that did not open could not be unloaded");
    }
  }

  #state(uid: number): IndexState {
    const state = this.#indexes.get(uid);
    if (state !== undefined) return state;
    const damage = this.#damage.get(uid);
    if (damage !== undefined) throw new SkeinError("SK-SE-503", damage, { retryAfter: 60 });
    throw new SkeinError("SK-SE-503", "The index is not open; retry in a moment.", { retryAfter: 1 });
  }

  #everywhere<T>(encode: () => Message, decode: (reply: Uint8Array) => T): Promise<T[]> {
    return Promise.all(
      Array.from({ length: this.shards }, (_, shard) => this.#call(shard, encode(), decode)),
    );
  }

  async #reopenAll(shard: number, ask: (request: Message) => Promise<Uint8Array>): Promise<void> {
    for (const state of this.#indexes.values()) {
      const { uid } = state.record;
      const reply = await ask(encodeOpen({ uid, schema: viewOf(state.record).shardSchema }));
      try {
        state.setLiveDocs(shard, decodeOpenReply(reply).liveDocs);
      } catch (error) {
        // the shard answers every request for it with what is damaged; the other indexes go on
        if (!isUnreadable(error)) throw error;
        this.#onDamage(shard, error);
      }
    }
  }

  /** Sets `rebuilding` from the shards and keeps looking until nothing is stale. */
  #followRebuild(state: IndexState): Promise<void> {
    const { uid } = state.record;
    return followRebuild(state, {
      staleSegments: async () => (await this.stats(state.record)).staleSegments,
      wanted: () => this.#indexes.get(uid) === state && !this.#damage.has(uid),
      log: this.log,
    });
  }
}
