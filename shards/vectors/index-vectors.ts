// Manages the vectors of one index in one shard: their source, the embedded model, the segments' codes, and
// vector queries. Stored vectors are the source of truth; codes are derived from them. Changes to codes must
// run in the index's lane.
import { VECTOR_BYTES } from "../../engine-wasm/assembly/layout.js";
import { EngineError } from "../../engine-wasm/host/engine-error.js";
import type { Engine } from "../../engine-wasm/host/instance/engine.js";
import { codesLength } from "../../engine-wasm/host/vectors/codes.js";
import type { Embedder } from "../../engine-wasm/host/vectors/embedder.js";
import { type SlotsOfIndex, WITHOUT_VECTOR } from "../../engine-wasm/host/vectors/vector-slots.js";
import type { IndexStats, VectorPolicy } from "../protocol/control.js";
import type { EmbedReply, EmbedRequest, NumberedModel } from "../protocol/vectors.js";
import { type LiveSegment, type OpenSegment, SegmentCodes } from "../segments/open-segment.js";
import { DamagedBytesError, EnvelopeError } from "../storage/envelope.js";
import { codesOf, modelsOf, numberOfKey, vectorKey, vectorsOf } from "../storage/keyspace.js";
import type { KeyRange } from "../storage/store.js";
import { IndexModel, type NumberedLoan } from "./index-model.js";
import type { ModelRecord } from "./model-store.js";
import { isComparable, type Space, spaceOf } from "./space.js";
import { readCodes } from "./stored-codes.js";
import { decodeVector, type NewVectors, type VectorRecord } from "./vector-record.js";
import type { VectorsHome } from "./vectors-home.js";

const EMBEDDING_NAME = Buffer.from('"embedding"');
/** The start of an escaped ASCII character. JSON may spell member names with such escapes. */
const ESCAPED_ASCII = Buffer.from("\\u00");

export class IndexVectors {
  readonly #uid: number;
  readonly #home: VectorsHome;
  readonly #engine: Engine;
  #policy: VectorPolicy;
  /** May contain a model even while another source of vectors is active. */
  readonly #model: IndexModel;
  /** Slots of vectors recently compared with queries. All of these vectors are currently comparable. */
  readonly #slots: SlotsOfIndex = new Map();
  /** True if vectors or models from an earlier source may still be stored. */
  #leftovers = true;
  /**
   * True if the engine ran out of memory for codes. Segments without current codes then get none until the
   * index is reopened.
   */
  lacksRoom = false;
  /** Documents whose stored vectors are damaged and must be made again. */
  readonly damaged = new Set<number>();
  /** Documents whose damaged vectors have been logged. */
  readonly #reported = new Set<number>();
  /** Called when the set of comparable vectors changes. */
  onSpace: () => void = () => undefined;

  private constructor(
    uid: number,
    home: VectorsHome,
    engine: Engine,
    policy: VectorPolicy,
    model: IndexModel,
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
    const model = await IndexModel.open(uid, home);
    const vectors = new IndexVectors(uid, home, engine, policy, model);
    model.onChange = () => vectors.#changed();
    vectors.#changed();
    return vectors;
  }

  get policy(): VectorPolicy {
    return this.#policy;
  }

  /** Null while vectors cannot be made. */
  get space(): Space | null {
    return spaceOf(this.#policy, this.#model.record);
  }

  /** True if documents may have stored vectors. */
  get mayBeStored(): boolean {
    return this.#policy.source !== "none" || this.#leftovers;
  }

  get model(): ModelRecord | null {
    return this.#policy.source === "documents" ? this.#model.record : null;
  }

  setPolicy(policy: VectorPolicy): void {
    const { source, origin } = this.#policy;
    if (policy.source === source && policy.origin === origin) return;
    this.#policy = policy;
    this.#leftovers = true;
    this.#changed();
  }

  /** Signals that the comparable vectors or the active model have changed. */
  #changed(): void {
    this.#slots.clear();
    this.#engine.showModel(this.model === null ? 0 : this.#model.lentNumber);
    this.#engine.vectorsChanged();
    this.onSpace();
  }

  /** Lends the active model for another thread's queries; see IndexModel. */
  lendModel(): Promise<NumberedLoan | null> {
    return this.embedding?.lend() ?? Promise.resolve(null);
  }

  /** True if this model would become active. Models have no use while another source of vectors is active. */
  wants({ number }: NumberedModel): boolean {
    return this.#policy.source === "documents" && number > (this.#model.record?.number ?? 0);
  }

  /**
   * True if there is no readable model. The numbers under which an earlier model's vectors are stored may
   * then be reused by a new model.
   */
  get lacksModel(): boolean {
    return this.#model.record === null;
  }

  /**
   * Activates a model for which `wants` returned true. Throws ShardError SHARD_BAD_MESSAGE if the bytes are
   * not a model.
   */
  setModel(model: NumberedModel): Promise<void> {
    return this.#model.set(model);
  }

  /**
   * Returns the active model, which will be copied to a shard that lacks it. Null if there is no readable
   * model.
   */
  async storedModel(): Promise<NumberedModel | null> {
    const record = this.model;
    const bytes = record === null ? null : await this.#model.bytes();
    return record === null || bytes === null ? null : { ...record, bytes };
  }

  /** True if the index must not have vectors but some may be left over. */
  get mustClear(): boolean {
    return this.#leftovers && this.#policy.source === "none";
  }

  /** Deletes all stored vectors, codes and models. Must run in the index's lane. */
  async clear(): Promise<void> {
    if (!this.mustClear) return;
    await this.clearVectors();
    await this.#clearRange(modelsOf(this.#uid)); // last, because a new model may reuse the number
    this.#leftovers = false;
    this.#model.forget();
  }

  /** The model that embeds documents. Null if documents are not embedded or the model is unreadable. */
  get embedding(): IndexModel | null {
    return this.model === null ? null : this.#model;
  }

  /** Deletes vectors and codes. Must run in the index's lane. */
  async clearVectors(): Promise<void> {
    await this.#clearRange(codesOf(this.#uid));
    await this.#clearRange(vectorsOf(this.#uid));
    this.damaged.clear();
    this.forgetRead();
  }

  async #clearRange(range: KeyRange): Promise<void> {
    for await (const _ of this.#home.store.keys(range)) return this.#home.store.clear(range);
  }

  /** Returns a segment's codes if queries may be compared with them; otherwise null. */
  comparableCodes({ codes }: OpenSegment): SegmentCodes | null {
    const { space } = this;
    return codes !== null && space !== null && isComparable(codes.origin, space) ? codes : null;
  }

  /** Creates a new segment's codes from its rows' vectors. */
  attach(segment: OpenSegment, { origin, vectors, waiting }: NewVectors): void {
    const codes = this.newCodes(segment, origin);
    if (vectors.length > 0) this.#engine.fillCodes(codes.address, 0, vectors);
    codes.waiting = waiting;
    codes.settled = true;
    segment.replaceCodes(codes);
  }

  /** Creates codes for a segment; no row has a code yet. */
  newCodes({ record }: OpenSegment, origin: number): SegmentCodes {
    return new SegmentCodes(this.#engine, this.#engine.newCodes(record.rows), record.rows, origin);
  }

  /** Like `newCodes`, but if the engine is out of memory, logs that and returns null. */
  codesIfRoom(segment: OpenSegment, origin: number): SegmentCodes | null {
    try {
      return this.newCodes(segment, origin);
    } catch (error) {
      if (!(error instanceof EngineError && error.code === "memory")) throw error;
      this.lacksRoom = true;
      this.#home.report(`index ${this.#uid}: there is no room for the codes of vectors`, error);
      return null;
    }
  }

  /** Loads a segment's stored codes, if they are usable. */
  async load(segment: OpenSegment): Promise<void> {
    const { space } = this;
    const { rows, id } = segment.record;
    if (space === null) return;
    try {
      const stored = await readCodes(this.#home.store, this.#uid, id);
      if (stored === null || !isComparable(stored.origin, space)) return;
      if (stored.bytes.length !== codesLength(rows)) return;
      const address = this.#engine.attachCodes(stored.bytes);
      const codes = new SegmentCodes(this.#engine, address, rows, stored.origin);
      codes.stored = true;
      segment.replaceCodes(codes);
    } catch (error) {
      if (!(error instanceof EnvelopeError || isRefusal(error))) throw error;
      this.#home.report(
        `index ${this.#uid}: codes of segment ${id} cannot be used and will be recomputed`,
        error,
      );
    }
  }

  /** Returns the vector included in a document; null if there is none. */
  pushedVector(raw: Uint8Array): Uint8Array | null {
    const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
    return bytes.includes(EMBEDDING_NAME) || bytes.includes(ESCAPED_ASCII)
      ? this.#home.workbench().vectorOfJson(raw)
      : null;
  }

  /**
   * Returns a document's stored vector; null if it has none that is comparable. A damaged vector counts as
   * missing.
   */
  #stored(seq: number): Uint8Array | null {
    const { space } = this;
    if (space === null) return null;
    const key = vectorKey(this.#uid, seq);
    const value = this.#home.store.getSync(key);
    if (value === undefined) return null;
    const record = this.#decoded(key, value);
    if (record === null) this.damaged.add(seq);
    return record !== null && isComparable(record.origin, space) ? record.vector : null;
  }

  /** Decodes a stored value if it is a vector of this origin; otherwise returns undefined. */
  ofOrigin(origin: number, key: Uint8Array, value: Uint8Array | undefined): VectorRecord | undefined {
    const record = value === undefined ? undefined : this.#decoded(key, value);
    return record?.origin === origin ? record : undefined;
  }

  /** Decodes a stored vector. Returns null if it is damaged, and logs that once per document. */
  #decoded(key: Uint8Array, value: Uint8Array): VectorRecord | null {
    try {
      return decodeVector(key, value);
    } catch (error) {
      if (!(error instanceof DamagedBytesError)) throw error;
      const seq = numberOfKey(key);
      if (!this.#reported.has(seq))
        this.#home.report(`index ${this.#uid}: a vector cannot be read and will be replaced`, error);
      this.#reported.add(seq);
      return null;
    }
  }

  /** Must be called after stored vectors were replaced. */
  forgetRead(): void {
    this.#slots.clear();
    this.added();
  }

  /**
   * Must be called after documents without a stored vector got one, or after a stored vector was replaced by
   * a comparable one.
   */
  added(): void {
    this.#engine.vectorsChanged();
  }

  /** Returns the cosine between the query and each document; NaN for a document without a vector. */
  similarities(query: Float32Array, seqs: ArrayLike<number>): Float32Array {
    const { vectors } = this.#home;
    try {
      return this.#compared(query, seqs);
    } catch (error) {
      if (error instanceof EngineError) vectors.clear();
      throw error;
    }
  }

  #compared(query: Float32Array, seqs: ArrayLike<number>): Float32Array {
    const { vectors } = this.#home;
    const slots = new Int32Array(seqs.length);
    const unread: number[] = [];
    for (let i = 0; i < seqs.length; i++) {
      const slot = this.#slots.get(seqs[i]!);
      if (slot === undefined) unread.push(i);
      slots[i] = slot ?? WITHOUT_VECTOR;
    }
    const cosines = vectors.similarities(query, slots);
    // Vectors without a slot come last, one at a time, because storing one may evict a slot that is used
    // above.
    for (const i of unread) {
      const record = this.#stored(seqs[i]!);
      if (record !== null)
        cosines[i] = vectors.similarities(query, [vectors.put(this.#slots, seqs[i]!, record)])[0]!;
    }
    return cosines;
  }

  /**
   * Returns the vector for a query's terms, and documents' vectors. Synchronous unless the embedder must be
   * loaded first.
   */
  embed({ terms, seqs }: EmbedRequest): EmbedReply | Promise<EmbedReply> {
    const reply = (embedder: Embedder | null): EmbedReply => ({
      query: embedder?.query(terms) ?? null,
      vectors: this.#vectors(seqs),
    });
    const embedder = terms.length === 0 ? null : (this.embedding?.embedder() ?? null);
    return embedder instanceof Promise ? embedder.then(reply) : reply(embedder);
  }

  /** Returns vector records in the order of the seqs. */
  #vectors(seqs: ArrayLike<number>): Uint8Array {
    const records = new Uint8Array(seqs.length * VECTOR_BYTES);
    for (let i = 0; i < seqs.length; i++) {
      const slot = this.#slots.get(seqs[i]!);
      const record = slot === undefined ? this.#stored(seqs[i]!) : this.#home.vectors.record(slot);
      if (record !== null) records.set(record, i * VECTOR_BYTES);
    }
    return records;
  }

  /** Counts documents with and without a vector, and adds up the memory used by codes. */
  stats(entries: readonly LiveSegment[], liveRows: (segment: OpenSegment) => number): VectorStats {
    let vectors = 0;
    let pending = 0;
    let codesBytes = 0;
    const { space } = this;
    for (const { segment, live } of entries) {
      const { codes } = segment;
      const isCurrent = codes?.settled === true && codes.origin === space?.origin;
      if (codes !== null) codesBytes += codes.bytes;
      if (codes !== null && this.#engine.usable && this.comparableCodes(segment) !== null)
        vectors += this.#engine.codesCount(codes.address, live?.address);
      if (this.#policy.source !== "none") pending += isCurrent ? codes.waiting.size : liveRows(segment);
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

/**
 * True if the engine rejected the codes because of their content or for lack of memory. The index then works
 * without them.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof EngineError && (error.code === "damaged" || error.code === "memory");
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
