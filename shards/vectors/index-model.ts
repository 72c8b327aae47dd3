// The embedded model of one index in one shard: the one in force, the instance that embeds with it, and what becomes of both when
// they fail. Whether vectors come from a model at all is the business of index-vectors.
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

/** Memory that an embedder may keep beside its model. */
const EMBEDDER_BYTES_MAX = 32 * 1024 * 1024;
/** What an embedder lends lies in its memory until it goes; with more loans it does. */
const LOANS_MAX = 256;
/** Background work embeds a segment after so many failures in a row no more. */
const FAILURES_MAX = 3;

/** A model that is lent to another thread, with its `lentNumber`. */
export interface NumberedLoan {
  readonly number: number;
  readonly lent: LentModel;
}

export class IndexModel {
  readonly #uid: number;
  readonly #home: VectorsHome;
  #record: ModelRecord | null = null;
  /** A promise while it is loaded. */
  #embedder: Embedder | Promise<Embedder | null> | null = null;
  /** Of background work, in a row. */
  #failures = 0;
  #number = 1;
  /** Called when another model is in force or none, and when the memory of its embedder is left. */
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

  /** Null when there is none that can be read. */
  get record(): ModelRecord | null {
    return this.#record;
  }

  /** Puts a model in force. Throws ShardError SHARD_BAD_MESSAGE for bytes that are no model. */
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

  /** It is deleted from the database. */
  forget(): void {
    this.#inForce(null, null);
  }

  #inForce(record: ModelRecord | null, embedder: Embedder | null): void {
    this.#record = record;
    this.#embedder = embedder;
    this.#number++;
    this.onChange();
  }

  /** The next use gets a fresh one. */
  #dropEmbedder(): void {
    this.#inForce(this.#record, null);
  }

  /** A number for the model and the memory that it is read in, never one from before. Unlike that of the record it means nothing. */
  get lentNumber(): number {
    return this.#number;
  }

  /** For another thread. Null when there is no model, or it has changed meanwhile. Throws EngineError("memory"). */
  async lend(): Promise<NumberedLoan | null> {
    if (!(this.#embedder instanceof Promise) && (this.#embedder?.loans ?? 0) >= LOANS_MAX)
      this.#dropEmbedder();
    const number = this.#number;
    const embedder = await this.embedder();
    return embedder === null || number !== this.#number ? null : { number, lent: embedder.lend() };
  }

  /** The bytes of the model in force; null when they cannot be read. */
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

  /** The embedder of the model in force, at once when it was loaded before; null when there is none, or it cannot be read. */
  embedder(): Embedder | null | Promise<Embedder | null> {
    const model = this.#record;
    if (model === null) return null;
    if (this.#embedder !== null) return this.#embedder;
    const loading = this.#loadEmbedder(model);
    this.#embedder = loading;
    const loaded = (embedder: Embedder | null): void => {
      if (this.#embedder === loading) this.#embedder = embedder;
    };
    loading.then(loaded, () => loaded(null)); // after a failure the next call tries again
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

  /** What cannot be read is given up: the coordinator sends another one. */
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
   * Vectors of all rows of a new segment from the model; null when there is no model. Also null when the embedder fails: its
   * documents are stored all the same, and background work tries again.
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
   * The same row by row, for segments of any size, of which `segment` gives the bytes. Nothing comes when the model with this
   * number is not in force. Throws when the embedder fails, so that the caller comes again later; but after some failures in
   * a row no more rows come: the rest has no vectors until the index is opened again.
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
          const records = new Uint8Array(part.records); // the caller may do other work with the instance
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
    // Linear memory never shrinks: after a large segment a fresh instance takes less.
    if (embedder.memoryBytes() > embedder.info.bytes + EMBEDDER_BYTES_MAX) this.#dropEmbedder();
  }

  /** Undefined at the end, which is also where the embedder has failed too often. */
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

  /** Throws unless it has happened too often. No error of the engine: the one of the index has not failed. */
  #segmentFailed(error: unknown): null {
    if (!(error instanceof EngineError)) throw error;
    this.#dropEmbedder();
    this.#failures++;
    if (this.#failures < FAILURES_MAX) throw new Error("documents could not be embedded", { cause: error });
    const message = "documents cannot be embedded; they have no vectors until the index is opened again";
    this.#home.report(`index ${this.#uid}: ${message}`, error);
    return null;
  }

  /** The failure of an embedder is not that of the index's engine. The next use gets a fresh one. */
  #embedderFailed(error: unknown): void {
    if (!(error instanceof EngineError)) throw error;
    this.#home.report(`index ${this.#uid}: documents could not be embedded`, error);
    this.#dropEmbedder();
  }
}
