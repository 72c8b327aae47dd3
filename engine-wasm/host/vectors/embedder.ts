// Computes vectors for rows and queries with an embedded model. An embedder has its own instance, which
// contains the model and, while a segment is being embedded, the parts of that segment listed in
// feature-parts.ts. It works on bytes and terms; the caller stores the vectors.
import { SEG_HEADER_BYTES, SEG_ROWS, VECTOR_BYTES } from "../../assembly/layout.js";
import { statusError } from "../engine-error.js";
import type { EngineInstance } from "../wasm/memory.js";
import { type FeatureParts, featureParts } from "./feature-parts.js";
import { type ModelInfo, modelInfo } from "./model-info.js";
import type { LentModel } from "./model-reader.js";
import { type QueryTerm, vectorOfTerms } from "./query-terms.js";

export interface EmbeddedPart {
  /** The first record's row. */
  row: number;
  /** Row count of the whole segment. */
  rows: number;
  /** A view of the instance's memory, valid until the instance is used for anything else. */
  records: Uint8Array;
}

const COPIED_AT_ONCE = 1024 * 1024;
/** A reader's scratch, large enough for a query of a few hundred words. */
const READER_SCRATCH_BYTES = 32 * 1024;

export class Embedder {
  readonly #instance: EngineInstance;
  readonly #model: number;
  readonly info: Readonly<ModelInfo>;
  #loans = 0;

  /** Copies the model into the instance. Throws EngineError("damaged") if it is inconsistent. */
  constructor(instance: EngineInstance, model: Uint8Array) {
    this.#instance = instance;
    this.#model = instance.region(model);
    const status = instance.run((kernels) => kernels.checkModel(this.#model, model.length));
    if (status !== 0) {
      instance.release(this.#model);
      throw statusError(-status);
    }
    this.info = modelInfo(model);
  }

  /**
   * Embeds all rows of a segment, whether live or deleted. Returns their concatenated records (VECTOR_BYTES
   * each). Works for less than a millisecond between yields. Several calls may be in progress at once. Throws
   * EngineError("damaged" or "memory").
   */
  *embed(segment: Uint8Array): Generator<void, Uint8Array<ArrayBuffer>> {
    let records = new Uint8Array(0);
    let at = 0;
    for (const part of this.embedParts(segment)) {
      if (part !== null) {
        if (at === 0) records = new Uint8Array(part.rows * VECTOR_BYTES);
        records.set(part.records, at);
        at += part.records.length;
      }
      yield;
    }
    return records;
  }

  /**
   * Like `embed`, but yields parts, each with the records of the next few rows. For segments whose records
   * should not all be in memory at once. A yielded null is a pause without records. If `segment` is a
   * function, it is called again after each pause, because memory growth invalidates views.
   */
  *embedParts(segment: Uint8Array | (() => Uint8Array)): Generator<EmbeddedPart | null, void> {
    const now = (): FeatureParts => featureParts(typeof segment === "function" ? segment() : segment);
    const { header, bytes, skipped } = now();
    const length = bytes - header.length;
    const instance = this.#instance;
    const region = instance.reserve(bytes);
    let state = 0;
    try {
      instance.view().set(now().header, region);
      for (let at = 0; at < length; at += COPIED_AT_ONCE) {
        const part = now().lists.subarray(at, at + COPIED_AT_ONCE);
        instance.view().set(part, region + SEG_HEADER_BYTES + at);
        yield null;
      }
      state = instance.address(
        instance.run((kernels) => kernels.embedBegin(this.#model, region, bytes, skipped)),
      );
      yield* this.#parts(state, instance.view().readUInt32LE(region + SEG_ROWS));
    } finally {
      if (instance.usable) {
        if (state !== 0) instance.run((kernels) => kernels.embedEnd(state));
        instance.release(region);
      }
    }
  }

  *#parts(state: number, rows: number): Generator<EmbeddedPart | null, void> {
    const instance = this.#instance;
    const from = instance.run((kernels) => kernels.embedRecords(state)) >>> 0;
    for (let row = 0; row < rows; ) {
      const made = instance.run((kernels) => kernels.embedStep(state));
      if (made < 0) throw statusError(made);
      const records = instance.view().subarray(from, from + made * VECTOR_BYTES);
      yield made === 0 ? null : { row, rows, records };
      row += made;
    }
  }

  /** Computes a query's vector from its terms; see vectorOfTerms. */
  query(terms: readonly QueryTerm[]): Float32Array | null {
    return vectorOfTerms(this.#instance, this.#model, terms);
  }

  /**
   * Lets another thread compute query vectors in this memory. A loan cannot be ended. Throws
   * EngineError("memory").
   */
  lend(): LentModel {
    const scratch = this.#instance.reserve(READER_SCRATCH_BYTES);
    this.#loans++;
    const { memory } = this.#instance;
    return { memory, model: this.#model, scratch, scratchBytes: READER_SCRATCH_BYTES };
  }

  /** Number of loans so far. */
  get loans(): number {
    return this.#loans;
  }

  /** Peak linear memory usage. It never shrinks, so after a large segment only a fresh embedder uses less. */
  memoryBytes(): number {
    return this.#instance.memoryBytes();
  }
}
