// One index in one shard. Connects the index's reader, writer and maintenance to a single state and engine
// instance. After a fault, the owner replaces the whole object.

import type { Engine } from "../../engine-wasm/host/instance/engine.js";
import type { LentMemory } from "../../engine-wasm/host/instance/sharing.js";
import { discardMemory } from "../../engine-wasm/host/runtime/discards.js";
import { Lane } from "../../engine-wasm/host/runtime/lane.js";
import type { IndexStats, OpenReply, ShardSchema, VectorPolicy } from "../protocol/control.js";
import type { AllSeqsRequest, ExportLines } from "../protocol/export.js";
import type { FetchedDocument, FetchRequest, GetRequest } from "../protocol/fetch.js";
import type { AdoptRequest } from "../protocol/move.js";
import type { PageReply, PageRequest } from "../protocol/page.js";
import type { DeleteWhereReply, DeleteWhereRequest, ProgramRequest } from "../protocol/program.js";
import type { UnseenRequest } from "../protocol/unseen.js";
import type {
  EmbedReply,
  EmbedRequest,
  NumberedModel,
  PendingDocument,
  PendingRequest,
  PutVectorsRequest,
  SampledDocument,
  SampleRequest,
  SimilaritiesRequest,
} from "../protocol/vectors.js";
import type { UnreadWrite, WriteReply, WriteRequest } from "../protocol/write.js";
import type { NumberedLoan } from "../vectors/index-model.js";
import type { LargeWork } from "./large-work.js";
import { READER_SCRATCH_BYTES, READER_SCRATCH_DOCUMENT_BYTES } from "./limits.js";
import { changeSchema, openIndex } from "./open-index.js";
import { Reader } from "./read/reader.js";
import type { Slices } from "./slices.js";
import type { IndexHome, ShardIndexState } from "./state.js";
import { Maintenance } from "./upkeep/maintenance.js";
import { adoptDocuments } from "./write/adopt.js";
import { pendingDocuments, putVectors } from "./write/given-vectors.js";
import { setModel } from "./write/set-model.js";
import { Writer } from "./write/writer.js";

export interface IndexOptions {
  home: IndexHome;
  /** A fresh engine that nothing else uses. */
  engine: Engine;
  /**
   * True if the index has been created before. If the database lacks it nevertheless, opening throws instead
   * of creating it again.
   */
  made: boolean;
  /** See OpenRequest. */
  published: number;
  /** Source of the index's vectors. */
  vectors: VectorPolicy;
  slices: Slices;
  large: LargeWork;
  /** Called when a background job fails. The job is retried unless the index is closed. */
  onFault(error: unknown): void;
}

export class IndexShard {
  readonly #state: ShardIndexState;
  readonly #reader: Reader;
  readonly #writer: Writer;
  readonly #maintenance: Maintenance;
  readonly #lane = new Lane();
  readonly #slices: Slices;

  private constructor(state: ShardIndexState, { slices, large, onFault }: IndexOptions) {
    this.#state = state;
    this.#slices = slices;
    this.#reader = new Reader(state);
    this.#maintenance = new Maintenance({ state, lane: this.#lane, slices, large }, onFault);
    this.#writer = new Writer(state, {
      lane: this.#lane,
      room: () => this.#maintenance.room(),
      slices,
      committed: () => this.#maintenance.written(),
    });
  }

  /** Opens the index from the database or creates it. Throws the same errors as openIndex. */
  static async open(uid: number, schema: ShardSchema, options: IndexOptions): Promise<IndexShard> {
    const state = await openIndex(options, uid, schema, options.vectors);
    const index = new IndexShard(state, options);
    index.#maintenance.wake();
    return index;
  }

  /** Counters with which the owner initialises its own, such as the largest sequence number. */
  get status(): OpenReply {
    const { liveDocs, maxSeq, generation } = this.#state;
    return { liveDocs, maxSeq, generation, staleSegments: this.#staleSegments };
  }

  get schema(): ShardSchema {
    return this.#state.schema;
  }

  /** Every write up to this generation is known to be published. */
  get published(): number {
    return this.#state.doubt.published;
  }

  get vectors(): VectorPolicy {
    return this.#state.vectors.policy;
  }

  expand(request: ProgramRequest): Uint8Array {
    this.seen(request.oldestGeneration);
    return this.#reader.expand(request);
  }

  company(request: ProgramRequest): Uint8Array {
    this.seen(request.oldestGeneration);
    return this.#reader.company(request);
  }

  search(request: ProgramRequest): Uint8Array {
    this.seen(request.oldestGeneration);
    const result = this.#reader.search(request);
    this.#maintenance.answered();
    return result;
  }

  explain(request: ProgramRequest): Uint8Array {
    this.seen(request.oldestGeneration);
    return this.#reader.explain(request);
  }

  searchPage(request: PageRequest): PageReply | Promise<PageReply> {
    this.seen(request.oldestGeneration);
    const page = this.#reader.searchPage(request);
    this.#maintenance.answered();
    return page;
  }

  fetch(request: FetchRequest): FetchedDocument[] | Promise<FetchedDocument[]> {
    return this.#reader.fetch(request.seqs, request);
  }

  get(request: GetRequest): Uint8Array {
    return this.#reader.get(request);
  }

  exportLines(seqs: readonly number[]): Promise<ExportLines> {
    return this.#reader.exportLines(seqs);
  }

  allSeqs(request: AllSeqsRequest): number[] {
    return this.#reader.allSeqs(request);
  }

  write(request: UnreadWrite): Promise<WriteReply> {
    this.seen(request.oldestGeneration);
    return this.#writer.write(request);
  }

  /**
   * Returns which of the request's documents the write would add if it ran now, as positions in the request.
   */
  additions(request: WriteRequest): Promise<number[]> {
    return this.#writer.additions(request);
  }

  deleteWhere(request: DeleteWhereRequest): Promise<DeleteWhereReply> {
    this.seen(request.oldestGeneration);
    return this.#writer.deleteWhere(request);
  }

  deleteUnseen(request: UnseenRequest): Promise<DeleteWhereReply> {
    this.seen(request.oldestGeneration);
    return this.#writer.deleteUnseen(request);
  }

  /** Number of documents that the deletion would delete if it ran now. */
  countUnseen(request: UnseenRequest): Promise<number> {
    return this.#writer.countUnseen(request);
  }

  /** Records durably that every write up to this generation is published. */
  recordPublished(generation: number): Promise<void> {
    return this.#lane.run(async () => {
      this.#state.doubt.learn(generation);
      await this.#state.commit([], this.#state.present);
    });
  }

  /** Adds documents under their existing sequence numbers; see adoptDocuments. */
  async adopt(request: AdoptRequest): Promise<void> {
    await this.#maintenance.room();
    await this.#lane.run(() => adoptDocuments(this.#state, request, this.#slices));
    this.#maintenance.written();
  }

  /** Sets a newer schema. New writes use it at once; older segments are re-indexed in the background. */
  async changeSchema(schema: ShardSchema): Promise<void> {
    await this.#lane.run(() => changeSchema(this.#state, schema));
    this.#maintenance.wake();
  }

  /** Sets the source of vectors. The documents' vectors are brought up to date in the background. */
  async setVectors(policy: VectorPolicy): Promise<void> {
    await this.#lane.run(async () => this.#state.vectors.setPolicy(policy));
    this.#maintenance.wake();
  }

  /** Sets the current model; the documents are embedded in the background. */
  async setModel(model: NumberedModel): Promise<void> {
    await this.#lane.run(() => setModel(this.#state, model));
    this.#maintenance.wake();
  }

  storedModel(): Promise<NumberedModel | null> {
    return this.#state.vectors.storedModel();
  }

  embed(request: EmbedRequest): EmbedReply | Promise<EmbedReply> {
    const mending = (reply: EmbedReply): EmbedReply => {
      this.#mendVectors();
      return reply;
    };
    const reply = this.#state.vectors.embed(request);
    return reply instanceof Promise ? reply.then(mending) : mending(reply);
  }

  nearest(request: ProgramRequest): Uint8Array {
    this.seen(request.oldestGeneration);
    const result = this.#reader.nearest(request);
    this.#maintenance.answered();
    return result;
  }

  similarities({ query, seqs }: SimilaritiesRequest): Float32Array {
    const similarities = this.#state.vectors.similarities(query, seqs);
    this.#mendVectors();
    return similarities;
  }

  /** Makes background work repair the vectors that reads found damaged. */
  #mendVectors(): void {
    if (this.#state.vectors.damaged.size > 0) this.#maintenance.wake();
  }

  sample(request: SampleRequest): SampledDocument[] {
    return this.#reader.sample(request);
  }

  pending(request: PendingRequest): Promise<PendingDocument[]> {
    return pendingDocuments(this.#state, request);
  }

  /** Stores vectors that an endpoint has made. Returns the number of documents still waiting for a vector. */
  async putVectors(request: PutVectorsRequest): Promise<number> {
    const pending = await this.#lane.run(() => putVectors(this.#state, request));
    this.#maintenance.written();
    return pending;
  }

  stats(): IndexStats {
    const { entries, liveDocs } = this.#state;
    const segments = entries.map(({ segment }) => segment);
    const sum = (value: (segment: (typeof segments)[number]) => number): number =>
      segments.reduce((total, segment) => total + value(segment), 0);
    return {
      liveDocs,
      deletedRows: sum((segment) => this.#state.deletedCount(segment)),
      segments: segments.length,
      segmentBytes: sum(({ record }) => record.bytes),
      memoryBytes: this.memoryBytes,
      terms: sum(({ terms }) => terms),
      staleSegments: this.#staleSegments,
      merging: this.#maintenance.running,
      maintenanceDue: this.#maintenance.due,
      queuedBytes: this.#writer.queuedBytes,
      ...this.#state.vectors.stats(
        entries,
        (segment) => segment.record.rows - this.#state.deletedCount(segment),
      ),
    };
  }

  /** Size of the WASM memory in bytes. */
  get memoryBytes(): number {
    return this.#state.engine.memoryBytes();
  }

  get #staleSegments(): number {
    return this.#state.entries.filter(({ segment }) => this.#state.isStale(segment)).length;
  }

  /**
   * Stops all of the index's background work. Called once it has failed too often or has found damage. Reads
   * and writes continue.
   */
  stopMaintenance(): void {
    void this.#maintenance.stop();
  }

  /** See Engine.lend. Throws ShardError SHARD_UNAVAILABLE and EngineError("memory"). */
  lend(onEnd: () => void): LentMemory | null {
    this.#state.checkOpen();
    const { engine, liveDocs } = this.#state;
    return engine.lend(READER_SCRATCH_BYTES + liveDocs * READER_SCRATCH_DOCUMENT_BYTES, onEnd);
  }

  /** See IndexVectors.lendModel. */
  lendModel(): Promise<NumberedLoan | null> {
    return this.#state.vectors.lendModel();
  }

  takeBack(lent: LentMemory): void {
    this.#state.engine.takeBack(lent);
  }

  /** Ends all loans of this index's memory to other threads. */
  endLoans(): void {
    this.#state.engine.end();
  }

  /**
   * Stops background work, rejects waiting writes, and waits for the running write. Then, if `storesCodes`,
   * stores the codes that exist only in memory. Idempotent.
   */
  async close(storesCodes = false): Promise<void> {
    this.#state.closed = true;
    this.endLoans();
    this.#writer.close();
    await this.#maintenance.stop();
    await this.#lane.idle();
    if (storesCodes) await this.#maintenance.storeCodes();
    discardMemory(this.memoryBytes);
  }

  /**
   * Called once no read uses a generation below `oldestGeneration`. Releases data that only older generations
   * can see.
   */
  seen(oldestGeneration: number): void {
    this.#state.doubt.seen(oldestGeneration);
    if (this.#state.snapshots.retire(oldestGeneration)) this.#maintenance.released();
    this.#maintenance.seen(oldestGeneration);
  }
}
