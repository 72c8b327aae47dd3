// All shards and all indexes: the coordinator's one mutable root. Sends writes under a new generation and publishes
// it, and hands out views to read from; whatever touches an index has it open meanwhile (open-indexes.ts). Knows
// nothing of HTTP and nothing of what a query or a document means.
import { join } from "node:path";
import type { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import { encodePing, encodeShutdown, type IndexStats } from "../../shards/protocol/control.js";
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
import { fault } from "../fault.js";
import type { Limits } from "../limits.js";
import type { Logger } from "../log.js";
import type { QueryTrace } from "../metrics/query-trace.js";
import type { IndexReading, ShardReading } from "../metrics/readings.js";
import type { Recorder } from "../metrics/recorder.js";
import { viewOf } from "../schema/index-view.js";
import { type TextAnalyser, textAnalyser } from "../schema/text-analyser.js";
import { loadEngine } from "../threads/engine-files.js";
import type { Subject } from "../threads/quarantine.js";
import { QueryLoad } from "../threads/query-load.js";
import { decodeReply } from "../threads/shard-errors.js";
import { type Message, ShardPool } from "../threads/shard-pool.js";
import { ShardReads, searchDeadline } from "../threads/shard-reads.js";
import { AnswerCache, type Question } from "./answer-cache.js";
import type { IndexScale, IndexState } from "./index-state.js";
import { type IndexUse, OpenIndexes } from "./open-indexes.js";
import { QuietWrites } from "./quiet-writes.js";
import { type CallShard, ReadView } from "./read-view.js";
import { ShardSurvey } from "./shard-survey.js";
import { WriteGate } from "./write-gate.js";

export interface ClusterOptions {
  readonly dataDir: string;
  readonly shards: number;
  readonly durability: "fsync" | "os";
  readonly limits: Limits;
  readonly log: Logger;
  readonly recorder: Recorder;
}

/** What became of a write, document by document. */
export interface WriteOutcome {
  readonly failures: readonly WriteFailure[];
  /** Shards that have kept nothing of their part, or may have kept it all, as the error says. */
  readonly refused: readonly { readonly shard: number; readonly error: SkeinError }[];
}

export class Cluster {
  readonly limits: Limits;
  readonly log: Logger;
  readonly dataDir: string;
  readonly recorder: Recorder;
  readonly workbench: Workbench;
  readonly engine: EngineModule;
  readonly queries = new QueryLoad();
  readonly #pool: ShardPool;
  readonly #indexes: OpenIndexes;
  readonly #gate = new WriteGate();
  readonly #quiet: QuietWrites;
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
        queries: this.queries.shared,
      }),
      ping: encodePing,
      checkPing: decodeEmptyReply,
      limits,
      log: options.log,
      recover: (shard, ask) => this.#indexes.recover(shard, ask),
    });
    const ask = (shard: number, request: Message) => this.#pool.ask(shard, request);
    const answers = new AnswerCache(limits.rememberedAnswersBytesMax, options.recorder.answerCache);
    this.#indexes = new OpenIndexes({ ...options, ask, answers });
    this.#reads = new ShardReads(this.#pool, this.log);
    this.#survey = new ShardSurvey(options.shards, ask);
    this.#quiet = new QuietWrites({
      generations: (uid) => this.#indexes.find(uid)?.generations,
      everywhere: (encode, decode) => this.#everywhere(encode, decode),
      log: this.log,
    });
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

  /** Learns where stored indexes stand. They are opened when they are needed. */
  adoptIndexes(records: readonly IndexRecord[]): Promise<void> {
    return this.#indexes.adopt(records);
  }

  /** Opens every adopted index once, see OpenIndexes. Never rejects. */
  lookAtIndexes(): Promise<void> {
    return this.#indexes.lookAtAll();
  }

  /** Runs work that `betweenWrites` sees as a whole or not at all. It must not write documents. */
  async asOneWrite<T>(work: () => Promise<T>): Promise<T> {
    await this.#gate.enter();
    try {
      return await work();
    } finally {
      this.#gate.leave();
    }
  }

  /** Makes a new index in every shard. */
  createIndex(record: IndexRecord): Promise<void> {
    return this.#indexes.create(record);
  }

  /** Removes the index and all its stored data. */
  dropIndex(uid: number): Promise<void> {
    return this.#indexes.drop(uid);
  }

  /** The fields or the analysis settings changed; the shards re-index in the background. */
  applySchema(record: IndexRecord): Promise<void> {
    return this.#indexes.applySchema(record);
  }

  /** Live documents; 0 for an index that cannot be opened. */
  records(uid: number): number {
    return this.#indexes.find(uid)?.documents ?? 0;
  }

  rebuilding(uid: number): boolean {
    return this.#indexes.find(uid)?.rebuilding ?? false;
  }

  /** Damage was met in the index, or it did not open when it was last needed. */
  failing(uid: number): boolean {
    return this.#indexes.isFailing(uid);
  }

  /** Why the index cannot be opened; undefined for one that can. One with damage may be open and serve what is whole. */
  unopenable(uid: number): string | undefined {
    return this.#indexes.find(uid) === undefined ? this.#indexes.damage(uid) : undefined;
  }

  /** Numbers of indexes. */
  get indexCounts() {
    const { failing, unseen, residency } = this.#indexes;
    const { loaded, openings, unloads } = residency;
    return { failing, unseen, loaded, openings, unloads };
  }

  /** Summed over the shards. */
  stats(record: IndexRecord): Promise<IndexStats> {
    return this.#indexes.stats(record.uid);
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

  /** How far an index is, null for one that cannot be opened. */
  progress(uid: number): Pick<IndexReading, "documents" | "generation" | "pendingWrites"> | null {
    const state = this.#indexes.find(uid);
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
    this.#indexes.stop();
    await this.#pool.close(encodeShutdown);
  }

  analyser(record: IndexRecord): TextAnalyser {
    return textAnalyser(this.workbench, viewOf(record));
  }

  /** How large an index is, for the plan of a query. */
  scale(uid: number): IndexScale {
    const { documents, documentsMax } = this.#indexes.state(uid);
    return { shards: this.shards, documents, documentsMax };
  }

  /** As IndexState.recall; null for an index that is not open. */
  recall(uid: number, question: Question): Uint8Array | null {
    const use = this.#indexes.useOpen(uid);
    const content = use?.state.recall(question) ?? null;
    use?.end();
    return content;
  }

  /** The index as of now; release it when done. Its questions enter their phases in `trace`. */
  async readView(uid: number, trace?: QueryTrace): Promise<ReadView> {
    const { state, end } = this.#indexes.useOpen(uid) ?? (await this.#opened(uid, trace));
    const call: CallShard = (shard, request, decode, subject) => this.#read(shard, request, decode, subject);
    return new ReadView(state, this.shards, call, searchDeadline(this.limits), end, trace);
  }

  async #opened(uid: number, trace: QueryTrace | undefined): Promise<IndexUse> {
    trace?.enter("open");
    const use = await this.#indexes.use(uid);
    trace?.enter("plan");
    return use;
  }

  /** One read of the newest state from one shard. Throws SkeinError for what the shard or its thread refuses. */
  async read<T>(uid: number, shard: number, request: Message, decode: (reply: Uint8Array) => T): Promise<T> {
    const { end } = await this.#indexes.use(uid);
    try {
      return await this.#read(shard, request, decode);
    } finally {
      end();
    }
  }

  /**
   * Sends one write with `seqs` sequence numbers to the shards that `encode` has a message for and resolves when it is durable there and
   * visible to reads. The messages are made and sent in the same turn, so writes reach every shard in the
   * order of their generations. Rejects when all of them refused it, or one failed in a way that nobody foresaw.
   */
  async write(
    uid: number,
    seqs: number,
    encode: (stamp: WriteStamp) => ReadonlyMap<number, Message>,
  ): Promise<WriteOutcome> {
    const replies = await this.#publish(uid, (state, generation, oldestGeneration) => {
      const stamp = { uid, generation, oldestGeneration, firstSeq: state.takeSeqs(seqs) };
      return Array.from(encode(stamp), async ([shard, message]) => {
        try {
          const reply = await this.#call(shard, message, decodeWriteReply);
          state.setLiveDocs(shard, reply.liveDocs);
          return reply.failures;
        } catch (error) {
          if (error instanceof SkeinError) return { shard, error };
          throw error;
        }
      });
    });
    const refused = replies.filter((reply) => "error" in reply);
    if (refused.length > 0 && refused.length === replies.length) throw refused[0]!.error;
    return { failures: replies.flatMap((reply) => ("error" in reply ? [] : reply)), refused };
  }

  /** Deletes the documents that match a search program; the number deleted, visible when resolved. */
  async deleteWhere(uid: number, program: Uint8Array): Promise<number> {
    const deleted = await this.#publish(uid, (state, generation, oldestGeneration) =>
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
    uid: number,
    send: (state: IndexState, generation: number, oldestGeneration: number) => Promise<T>[],
  ): Promise<T[]> {
    const { state, end } = await this.#indexes.use(uid);
    try {
      return await this.#publishOpen(state, send);
    } finally {
      end();
    }
  }

  async #publishOpen<T>(
    state: IndexState,
    send: (state: IndexState, generation: number, oldestGeneration: number) => Promise<T>[],
  ): Promise<T[]> {
    await this.#gate.enter();
    const { generations } = state;
    const generation = generations.begin();
    let results: PromiseSettledResult<T>[];
    try {
      fault("write.before-shards");
      results = await Promise.allSettled(send(state, generation, generations.oldest));
      fault("write.after-shards");
    } finally {
      generations.finish(generation);
      this.#gate.leave();
      this.#quiet.written(state.record.uid);
    }
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    await generations.visible(generation);
    return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  /** See ShardReads. */
  #read<T>(shard: number, request: Message, decode: (reply: Uint8Array) => T, subject?: Subject): Promise<T> {
    const decoded = (reply: Uint8Array): T =>
      decodeReply(reply, decode, (error) => this.#indexes.onDamage(shard, error));
    return this.#reads.read(shard, request, decoded, subject);
  }

  /** Sent at once, in the order of the calls. */
  async #call<T>(shard: number, request: Message, decode: (reply: Uint8Array) => T): Promise<T> {
    const reply = await this.#pool.ask(shard, request);
    return decodeReply(reply, decode, (error) => this.#indexes.onDamage(shard, error));
  }

  #everywhere<T>(encode: () => Message, decode: (reply: Uint8Array) => T): Promise<T[]> {
    return Promise.all(
      Array.from({ length: this.shards }, (_, shard) => this.#call(shard, encode(), decode)),
    );
  }
}
