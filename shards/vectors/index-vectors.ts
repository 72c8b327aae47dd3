// The vectors of one index in one shard: where they come from, the embedded model, the codes of the segments, and what is asked
// of them. A stored vector is the truth; codes follow from it. Whoever changes codes works in the index's lane.
import { VECTOR_BYTES } from "../../engine-wasm/assembly/layout.js";
import { EngineError } from "../../engine-wasm/host/engine-error.js";
import type { Engine } from "../../engine-wasm/host/instance/engine.js";
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import { codesLength } from "../../engine-wasm/host/vectors/codes.js";
import type { Embedder } from "../../engine-wasm/host/vectors/embedder.js";
import type { IndexStats, VectorPolicy } from "../protocol/control.js";
import type { EmbedReply, EmbedRequest, NumberedModel } from "../protocol/vectors.js";
import { type LiveSegment, type OpenSegment, SegmentCodes } from "../segments/open-segment.js";
import { DamagedBytesError, EnvelopeError } from "../storage/envelope.js";
import { vectorKey, vectorRanges } from "../storage/keyspace.js";
import type { Store } from "../storage/store.js";
import { type ModelRecord, readModel, readModelRecord, writeModel } from "./model-store.js";
import type { RecentVectors } from "./recent-vectors.js";
import { isComparable, type Space, spaceOf } from "./space.js";
import { readCodes } from "./stored-codes.js";
import { decodeVector, type NewVectors, type VectorRecord } from "./vector-record.js";

/** What the vectors of an index get from its shard. */
export interface VectorsHome {
  store: Store;
  sync: boolean;
  vectors: RecentVectors;
  workbench(): Workbench;
  /** A fresh instance with this model. Throws EngineError("damaged"). */
  embedder(model: Uint8Array): Embedder;
  /** Something went wrong that no request will hear of. */
  report(message: string, error: unknown): void;
}

const EMBEDDING_NAME = Buffer.from('"embedding"');
/** A name may be written with escapes. */
const ESCAPED_ASCII = Buffer.from("\\u00");
/** Lets others have their turn between two pieces of work. */
export interface Pauses {
  pause(): Promise<void>;
}

/** Memory that an embedder may keep beside its model. */
const EMBEDDER_BYTES_MAX = 32 * 1024 * 1024;
const NO_VECTOR = new Uint8Array(VECTOR_BYTES);

export class IndexVectors {
  readonly #uid: number;
  readonly #home: VectorsHome;
  readonly #engine: Engine;
  #policy: VectorPolicy;
  #model: ModelRecord | null;
  #embedder: Promise<Embedder | null> | null = null;
  /** Something of a source that is not in force may still be stored. */
  #leftovers = true;

  private constructor(
    uid: number,
    home: VectorsHome,
    engine: Engine,
    policy: VectorPolicy,
    model: ModelRecord | null,
  ) {
    this.#uid = uid;
    this.#home = home;
    this.#engine = engine;
    this.#policy = policy;
    this.#model = model;
  }

  static async open(
    uid: number,
    home: VectorsHome,
    engine: Engine,
    policy: VectorPolicy,
  ): Promise<IndexVectors> {
    let model: ModelRecord | null = null;
    try {
      model = await readModelRecord(home.store, uid);
    } catch (error) {
      if (!(error instanceof EnvelopeError)) throw error;
      home.report(`index ${uid}: its model cannot be read, so another one will be trained`, error);
    }
    return new IndexVectors(uid, home, engine, policy, model);
  }

  get policy(): VectorPolicy {
    return this.#policy;
  }

  /** Null while no vectors can be made. */
  get space(): Space | null {
    return spaceOf(this.#policy, this.#model);
  }

  /** Documents may have a stored vector. */
  get mayBeStored(): boolean {
    return this.#policy.source !== "none" || this.#leftovers;
  }

  get model(): ModelRecord | null {
    return this.#policy.source === "documents" ? this.#model : null;
  }

  setPolicy(policy: VectorPolicy): void {
    const { source, origin } = this.#policy;
    if (policy.source === source && policy.origin === origin) return;
    this.#policy = policy;
    this.#leftovers = true;
  }

  /** Puts a model in force. One that is not newer changes nothing. Throws EngineError("damaged"). */
  async setModel({ bytes, ...described }: NumberedModel): Promise<void> {
    if (this.#model !== null && described.number <= this.#model.number) return;
    const embedder = this.#home.embedder(bytes);
    const record = { ...described, bytes: bytes.length };
    await writeModel(this.#home.store, this.#uid, record, bytes, this.#model, this.#home.sync);
    this.#model = record;
    this.#embedder = Promise.resolve(embedder);
  }

  /** The model in force, to be handed to a shard that lacks it. Null when there is none that can be read. */
  async storedModel(): Promise<NumberedModel | null> {
    const record = this.model;
    const bytes = record === null ? null : await this.#readModel(record);
    return record === null || bytes === null ? null : { ...record, bytes };
  }

  /** There are to be no vectors, but some may be left. */
  get mustClear(): boolean {
    return this.#leftovers && this.#policy.source === "none";
  }

  /** Deletes all that is stored of vectors. To be run in the index's lane. */
  async clear(): Promise<void> {
    if (!this.mustClear) return;
    for (const range of vectorRanges(this.#uid)) {
      for await (const _ of this.#home.store.keys(range)) {
        await this.#home.store.clear(range);
        break;
      }
    }
    this.#leftovers = false;
    this.#model = null;
    this.#embedder = null;
    this.forgetRead();
  }

  /** The embedder of the model in force; null when there is none, or it cannot be read. */
  embedder(): Promise<Embedder | null> {
    const { model } = this;
    if (model === null) return Promise.resolve(null);
    this.#embedder ??= this.#loadEmbedder(model);
    return this.#embedder;
  }

  async #loadEmbedder(model: ModelRecord): Promise<Embedder | null> {
    const bytes = await this.#readModel(model);
    return bytes === null ? null : this.#home.embedder(bytes);
  }

  /** What cannot be read is given up: the coordinator sends another one. */
  async #readModel(model: ModelRecord): Promise<Uint8Array | null> {
    try {
      return await readModel(this.#home.store, this.#uid, model);
    } catch (error) {
      if (!(error instanceof EnvelopeError)) throw error;
      this.#home.report(
        `index ${this.#uid}: its model cannot be read, so another one will be trained`,
        error,
      );
      if (this.#model === model) this.#model = null;
      return null;
    }
  }

  /** The codes of a segment that a query may be compared with, 0 for none. */
  addressOf({ codes }: OpenSegment): number {
    const { space } = this;
    return codes !== null && space !== null && isComparable(codes.origin, space) ? codes.address : 0;
  }

  /** Gives a new segment the codes of its vectors. */
  attach(segment: OpenSegment, { origin, vectors, waiting }: NewVectors): void {
    const codes = this.newCodes(segment, origin);
    if (vectors.length > 0) this.#engine.fillCodes(codes.address, 0, vectors);
    codes.waiting = waiting;
    codes.settled = true;
    segment.replaceCodes(codes);
  }

  /** Codes of a segment without any vector. */
  newCodes({ record }: OpenSegment, origin: number): SegmentCodes {
    return new SegmentCodes(this.#engine, this.#engine.newCodes(record.rows), record.rows, origin);
  }

  /** Gives a segment the codes that are stored for it, if any can be used. */
  async load(segment: OpenSegment): Promise<void> {
    const { space } = this;
    const stored = space === null ? null : await readCodes(this.#home.store, this.#uid, segment.record.id);
    if (space === null || stored === null || !isComparable(stored.origin, space)) return;
    const { rows } = segment.record;
    if (stored.bytes.length !== codesLength(rows)) return;
    try {
      const address = this.#engine.attachCodes(stored.bytes);
      const codes = new SegmentCodes(this.#engine, address, rows, stored.origin);
      codes.stored = true;
      segment.replaceCodes(codes);
    } catch (error) {
      if (!(error instanceof EngineError && error.code === "damaged")) throw error;
    }
  }

  /** Vectors of all rows of a segment from the model; null when there is no model. */
  async embedAll(segment: Uint8Array, turns: Pauses): Promise<Uint8Array | null> {
    const embedder = await this.embedder();
    if (embedder === null) return null;
    const steps = embedder.embed(segment);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await turns.pause();
    }
  }

  /** The same row by row, for segments of any size. Nothing comes when there is no model. */
  async *embedRows(
    segment: Uint8Array,
    turns: Pauses,
  ): AsyncGenerator<{ row: number; vector: Uint8Array }, void> {
    const embedder = await this.embedder();
    if (embedder === null) return;
    for (const part of embedder.embedParts(segment)) {
      for (let i = 0; part !== null && i < part.records.length / VECTOR_BYTES; i++) {
        const vector = part.records.slice(i * VECTOR_BYTES, (i + 1) * VECTOR_BYTES);
        yield { row: part.row + i, vector };
      }
      await turns.pause();
    }
    // Linear memory never shrinks: after a large segment a fresh instance takes less.
    if (embedder.memoryBytes() > embedder.info.bytes + EMBEDDER_BYTES_MAX) this.#embedder = null;
  }

  /** The vector that a document brings along; null for one without. */
  pushedVector(raw: Uint8Array): Uint8Array | null {
    const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
    return bytes.includes(EMBEDDING_NAME) || bytes.includes(ESCAPED_ASCII)
      ? this.#home.workbench().vectorOfJson(raw)
      : null;
  }

  /** The stored vector of a document; undefined when there is none that can be compared. A damaged one counts as none. */
  read(seq: number): VectorRecord | undefined {
    const { space } = this;
    if (space === null) return undefined;
    const known = this.#home.vectors.get(this.#uid, seq);
    if (known !== undefined && isComparable(known.origin, space)) return known;
    const key = vectorKey(this.#uid, seq);
    const record = this.decoded(key, this.#home.store.getSync(key));
    if (record !== undefined) this.#home.vectors.put(this.#uid, seq, record);
    return record;
  }

  /** As `read`, of a value that was read. */
  decoded(key: Uint8Array, value: Uint8Array | undefined): VectorRecord | undefined {
    const { space } = this;
    if (value === undefined || space === null) return undefined;
    try {
      const record = decodeVector(key, value);
      return isComparable(record.origin, space) ? record : undefined;
    } catch (error) {
      if (!(error instanceof DamagedBytesError)) throw error;
      this.#home.report(`index ${this.#uid}: a vector cannot be read`, error);
      return undefined;
    }
  }

  /** Stored vectors were replaced. */
  forgetRead(): void {
    this.#home.vectors.clear();
  }

  /** Cosines of the query and documents; NaN for a document without a vector. */
  similarities(query: Float32Array, seqs: readonly number[]): Float32Array {
    return this.#home.workbench().similarities(query, this.#vectors(seqs));
  }

  /** The vector of a query's terms, and vectors of documents. */
  async embed({ terms, seqs }: EmbedRequest): Promise<EmbedReply> {
    const embedder = terms.length === 0 ? null : await this.embedder();
    return { query: embedder?.query(terms) ?? null, vectors: this.#vectors(seqs) };
  }

  #vectors(seqs: readonly number[]): Uint8Array {
    const vectors = new Uint8Array(seqs.length * VECTOR_BYTES);
    for (const [i, seq] of seqs.entries()) vectors.set(this.read(seq)?.vector ?? NO_VECTOR, i * VECTOR_BYTES);
    return vectors;
  }

  /** Documents with and without a vector, and what the codes take of memory. */
  stats(entries: readonly LiveSegment[], liveRows: (segment: OpenSegment) => number): VectorStats {
    let vectors = 0;
    let pending = 0;
    let codesBytes = 0;
    const { space } = this;
    for (const { segment } of entries) {
      const { codes } = segment;
      const isCurrent = codes?.settled === true && codes.origin === space?.origin;
      if (codes !== null) codesBytes += codes.bytes;
      if (codes !== null && this.addressOf(segment) !== 0) vectors += this.#engine.codesCount(codes.address);
      if (this.#policy.source !== "none") pending += isCurrent ? codes.waiting.length : liveRows(segment);
    }
    const { model } = this;
    return {
      vectors,
      pending,
      codesBytes,
      modelNumber: model?.number ?? 0,
      modelBytes: model?.bytes ?? 0,
      modelDocuments: model?.documents ?? 0,
      modelFields: model?.fields ?? 0,
      modelTrainedAt: model?.trainedAt ?? 0,
      modelTookMs: model?.tookMs ?? 0,
    };
  }
}

type VectorStats = Pick<
  IndexStats,
  | "vectors"
  | "pending"
  | "codesBytes"
  | "modelNumber"
  | "modelBytes"
  | "modelDocuments"
  | "modelFields"
  | "modelTrainedAt"
  | "modelTookMs"
>;
