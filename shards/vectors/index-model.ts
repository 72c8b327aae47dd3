// Runs the current model of one index in one shard: keeps the model and the embedder instance, and handles
// their failures. index-vectors decides whether the index uses a model for its vectors.
import { VECTOR_BYTES } from "../../engine-wasm/assembly/layout.js";
import { EngineError } from "../../engine-wasm/host/engine-error.js";
import type { EmbeddedPart, Embedder } from "../../engine-wasm/host/vectors/embedder.js";
import type { LentModel } from "../../engine-wasm/host/vectors/model-reader.js";
import { SHARD_BAD_MESSAGE, ShardError } from "../protocol/errors.js";
import type { NumberedModel } from "../protocol/vectors.js";
import { EnvelopeError } from "../storage/envelope.js";
import {
  deleteStrayModels,
  type ModelRecord,
  readModel,
  readModelRecord,
  writeModel,
} from "./model-store.js";
import type { Pauses, VectorsHome } from "./vectors-home.js";

/** Memory that an embedder may keep beyond the size of its model. */
const EMBEDDER_BYTES_MAX = 32 * 1024 * 1024;
/**
 * Maximum number of loans per embedder. Loans occupy the embedder's memory until it is dropped, so an
 * embedder that has reached this number is dropped before the next loan.
 */
const LOANS_MAX = 256;
/**
 * After this many consecutive failures, background work gives up on a segment instead of retrying it later.
 */
const FAILURES_MAX = 3;

/** A model lent to another thread, and its `lentNumber`. */
export interface NumberedLoan {
  readonly number: number;
  readonly lent: LentModel;
}

export class IndexModel {
  readonly #uid: number;
  readonly #home: VectorsHome;
  #record: ModelRecord | null = null;
  /** The embedder, or a promise while it is being loaded. */
  #embedder: Embedder | Promise<Embedder | null> | null = null;
  /** Consecutive failures of background work. */
  #failures = 0;
  #number = 1;
  /** Called when the current model changes or is removed, and when its embedder's memory is abandoned. */
  onChange: () => void = () => undefined;

  private constructor(uid: number, home: VectorsHome) {
    this.#uid = uid;
    this.#home = home;
  }

  static async open(uid: number, home: VectorsHome): Promise<IndexModel> {
    const model = new IndexModel(uid, home);
    try {
      model.#record = await readModelRecord(home.store, uid);
      await deleteStrayModels(home.store, uid, model.#record);
    } catch (error) {
      if (!(error instanceof EnvelopeError)) throw error;
      home.report(`index ${uid}: its model cannot be read, so another one will be trained`, error);
    }
    return model;
  }

  /** Null if there is no model or its record cannot be read. */
  get record(): ModelRecord | null {
    return this.#record;
  }

  /** Sets the current model. Throws ShardError SHARD_BAD_MESSAGE if the bytes are not a model. */
  async set({ bytes, ...described }: NumberedModel): Promise<void> {
    const { store, sync, report } = this.#home;
    const embedder = this.#newEmbedder(bytes);
    const record = { ...described, bytes: bytes.length };
    await writeModel(store, this.#uid, record, bytes, sync);
    this.#inForce(record, embedder);
    await deleteStrayModels(store, this.#uid, record).catch((error: unknown) =>
      report(`index ${this.#uid}: a replaced model is not deleted yet`, error),
    );
  }

  /** Called after the model was deleted from the database. */
  forget(): void {
    this.#inForce(null, null);
  }

  #inForce(record: ModelRecord | null, embedder: Embedder | null): void {
    this.#record = record;
    this.#embedder = embedder;
    this.#number++;
    this.onChange();
  }

  /** The next use creates a fresh embedder. */
  #dropEmbedder(): void {
    this.#inForce(this.#record, null);
  }

  /**
   * Identifies the model together with the memory from which it is read. Never reused. Unrelated to the
   * number in the model's record.
   */
  get lentNumber(): number {
    return this.#number;
  }

  /**
   * Lends the model to another thread. Returns null if there is no model or if it changed during the call.
   * Throws EngineError("memory").
   */
  async lend(): Promise<NumberedLoan | null> {
    if (!(this.#embedder instanceof Promise) && (this.#embedder?.loans ?? 0) >= LOANS_MAX)
      this.#dropEmbedder();
    const number = this.#number;
    const embedder = await this.embedder();
    return embedder === null || number !== this.#number ? null : { number, lent: embedder.lend() };
  }

  /** Returns the current model's bytes; null if there is no model or its bytes cannot be read. */
  async bytes(): Promise<Uint8Array | null> {
    return this.#record === null ? null : this.#readModel(this.#record);
  }

  #newEmbedder(model: Uint8Array): Embedder {
    try {
      return this.#home.embedder(model);
    } catch (error) {
      if (!(error instanceof EngineError && error.code === "damaged")) throw error;
      throw new ShardError(SHARD_BAD_MESSAGE, `index ${this.#uid}: not a model`, { cause: error });
    }
  }

  /**
   * Returns the current model's embedder, synchronously if it is already loaded. Null if there is no model or
   * it cannot be read.
   */
  embedder(): Embedder | null | Promise<Embedder | null> {
    const model = this.#record;
    if (model === null) return null;
    if (this.#embedder !== null) return this.#embedder;
    const loading = this.#loadEmbedder(model);
    this.#embedder = loading;
    const loaded = (embedder: Embedder | null): void => {
      if (this.#embedder === loading) this.#embedder = embedder;
    };
    loading.then(loaded, () => loaded(null)); // after a failure, the next call tries again
    return loading;
  }

  async #loadEmbedder(model: ModelRecord): Promise<Embedder | null> {
    const bytes = await this.#readModel(model);
    if (bytes === null) return null;
    try {
      return this.#home.embedder(bytes);
    } catch (error) {
      if (!(error instanceof EngineError && error.code === "damaged")) throw error;
      this.#giveUp(model, error);
      return null;
    }
  }

  /** Reads the model. If it cannot be read, abandons it; the coordinator then sends another model. */
  async #readModel(model: ModelRecord): Promise<Uint8Array | null> {
    try {
      return await readModel(this.#home.store, this.#uid, model);
    } catch (error) {
      if (!(error instanceof EnvelopeError)) throw error;
      this.#giveUp(model, error);
      return null;
    }
  }

  #giveUp(model: ModelRecord, error: unknown): void {
    if (this.#record !== model) return;
    this.#home.report(`index ${this.#uid}: its model cannot be read, so another one will be trained`, error);
    this.#inForce(null, null);
  }

  /**
   * Returns the vectors of all rows in a new segment; null if there is no model. If the embedder fails, also
   * returns null: the documents are then stored without vectors, and background work retries.
   */
  async embedAll(segment: Uint8Array, slices: Pauses): Promise<Uint8Array | null> {
    try {
      const embedder = await this.embedder();
      if (embedder === null) return null;
      const steps = embedder.embed(segment);
      for (;;) {
        const step = steps.next();
        if (step.done === true) return step.value;
        await slices.pause();
      }
    } catch (error) {
      this.#embedderFailed(error);
      return null;
    }
  }

  /**
   * Like `embedAll`, but row by row, for segments of any size. `segment` returns the segment's bytes. Yields
   * nothing if model `number` is not the current model. Throws if the embedder fails, so that the caller
   * retries later. After several consecutive failures it ends early instead, and the remaining rows stay
   * without vectors until the index is reopened.
   */
  async *embedRows(
    number: number,
    segment: () => Uint8Array,
    slices: Pauses,
  ): AsyncGenerator<{ row: number; vector: Uint8Array }, void> {
    const embedder = await Promise.resolve(this.embedder()).catch((error: unknown) =>
      this.#segmentFailed(error),
    );
    if (embedder === null || this.#record?.number !== number) return;
    const parts = embedder.embedParts(segment);
    try {
      for (;;) {
        const part = this.#nextPart(parts);
        if (part === undefined) break;
        if (part !== null) {
          // Copied, because the caller may use the instance for other work, which overwrites the records.
          const records = new Uint8Array(part.records);
          for (let i = 0; i < records.length / VECTOR_BYTES; i++) {
            const vector = records.subarray(i * VECTOR_BYTES, (i + 1) * VECTOR_BYTES);
            yield { row: part.row + i, vector };
          }
        }
        await slices.pause();
      }
    } finally {
      parts.return();
    }
    // Linear memory never shrinks, so after a large segment a fresh instance needs less memory.
    if (embedder.memoryBytes() > embedder.info.bytes + EMBEDDER_BYTES_MAX) this.#dropEmbedder();
  }

  /**
   * Returns null for a pause without rows, and undefined at the end or if the embedder has failed too often.
   */
  #nextPart(parts: Generator<EmbeddedPart | null, void>): EmbeddedPart | null | undefined {
    try {
      const step = parts.next();
      if (step.done !== true) return step.value;
      this.#failures = 0;
    } catch (error) {
      this.#segmentFailed(error);
    }
    return undefined;
  }

  /**
   * Throws, so that the caller retries later, unless the embedder has failed too often. Does not throw an
   * EngineError, because the index's engine has not failed.
   */
  #segmentFailed(error: unknown): null {
    if (!(error instanceof EngineError)) throw error;
    this.#dropEmbedder();
    this.#failures++;
    if (this.#failures < FAILURES_MAX) throw new Error("documents could not be embedded", { cause: error });
    const message = "documents cannot be embedded; they have no vectors until the index is opened again";
    this.#home.report(`index ${this.#uid}: ${message}`, error);
    return null;
  }

  /**
   * Handles the error here, because a failed embedder does not mean that the index's engine failed. The next
   * use creates a fresh embedder.
   */
  #embedderFailed(error: unknown): void {
    if (!(error instanceof EngineError)) throw error;
    this.#home.report(`index ${this.#uid}: documents could not be embedded`, error);
    this.#dropEmbedder();
  }
}
