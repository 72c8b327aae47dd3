// The vectors of documents: texts in batches of bounded size, some requests at a time, failures that may pass tried again after
// growing pauses. A server that refuses a batch may only refuse one text of it, mostly because it is too long for the model:
// the batch is halved, and a text that is refused alone is shortened. Knows nothing of where texts come from.
import { underSignals, withDeadline } from "../jobs/deadline.js";
import { Slots } from "../jobs/slots.js";
import type { Limits } from "../limits.js";
import { FIXED_LIMITS } from "../limits.js";
import type { EmbeddingMeter } from "../metrics/recorder.js";
import type { Clock } from "../outbound/patience.js";
import { type Circuit, jittered } from "./circuit.js";
import { cutText } from "./document-text.js";
import { type EmbeddingModel, requestVectors } from "./embedding-request.js";
import { EndpointError } from "./model-server.js";
import { lateFailure } from "./query-embeddings.js";

/** Before each try after the first. */
const PAUSES_MS = [500, 2_000, 8_000, 30_000];
/** A server that wants to be left alone for longer is given up; the circuit waits as long as it says. */
const AWAITED_PAUSE_MS_MAX = 60_000;
/** What servers answer with to a text that they cannot take. */
const REFUSALS = new Set([400, 413, 422]);
/** A text that is refused although it is as short as this is not refused for its length. */
const SHORTENED_CHARACTERS_MIN = 200;

export interface DocumentEmbeddingsOptions {
  readonly model: EmbeddingModel;
  readonly circuit: Circuit;
  readonly meter: EmbeddingMeter;
  readonly clock: Clock;
  readonly random: () => number;
  readonly limits: Limits;
  /** Ends everything. */
  readonly signal: AbortSignal;
  /** Hears how each batch went: null, or why it was given up. */
  readonly told: (failure: EndpointError | null) => void;
}

export class DocumentEmbeddings {
  readonly #options: DocumentEmbeddingsOptions;
  readonly #slots: Slots;

  constructor(options: DocumentEmbeddingsOptions) {
    this.#options = options;
    this.#slots = new Slots(options.limits.embeddingRequestsAtOnceMax);
  }

  /**
   * One vector for each text; a blank text has zeros. Throws EndpointError when a batch is given up, whose `afterMs` says when to
   * come again, or the signal's reason.
   */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const { circuit, limits, signal: ending } = this.#options;
    const vectors = texts.map((): Float32Array => new Float32Array(FIXED_LIMITS.vectorNumbers));
    const cut = texts.map((text) => cutText(text.trim(), limits.embeddingTextCharactersMax));
    const batches = batchesOf(cut, limits);
    if (batches.length === 0) return vectors;
    if (!circuit.enter())
      throw new EndpointError("the model's server has failed and is left alone", { afterMs: circuit.restMs });
    try {
      await underSignals([signal, ending], (stop) => this.#embedBatches(batches, cut, vectors, stop));
    } catch (error) {
      if (signal.aborted) circuit.gaveUp();
      signal.throwIfAborted();
      throw this.#over(asFailure(error));
    }
    this.#over(null);
    return vectors;
  }

  /** Puts the vectors in their places. The first batch that is given up ends the others. */
  async #embedBatches(
    batches: readonly (readonly number[])[],
    texts: readonly string[],
    vectors: Float32Array[],
    stop: AbortController,
  ): Promise<void> {
    const embed = async (batch: readonly number[]): Promise<void> => {
      const found = await this.#embedBatch(
        batch.map((at) => texts[at] as string),
        stop.signal,
      );
      for (const [i, at] of batch.entries()) vectors[at] = found[i] as Float32Array;
    };
    const left = [...batches];
    const work = async (): Promise<void> => {
      for (let batch = left.shift(); batch !== undefined; batch = left.shift()) {
        const next = batch;
        await this.#slots.run(stop.signal, () => embed(next));
      }
    };
    const workers = Math.min(batches.length, this.#options.limits.embeddingRequestsAtOnceMax);
    try {
      await Promise.all(Array.from({ length: workers }, work));
    } catch (error) {
      stop.abort(error);
      throw error;
    }
  }

  /** Tells how it went. */
  #over<T extends EndpointError | null>(failure: T): T {
    const { circuit, told } = this.#options;
    if (failure === null) circuit.succeeded();
    else circuit.failed(failure.afterMs);
    told(failure);
    return failure;
  }

  async #embedBatch(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const { model, meter, clock, random, limits } = this.#options;
    for (let tries = 0; ; tries++) {
      try {
        return await withDeadline(signal, limits.embeddingRequestMsMax, (inTime) =>
          requestVectors(model, texts, meter, inTime),
        );
      } catch (error) {
        signal.throwIfAborted();
        const failure = asFailure(error);
        if (REFUSALS.has(failure.status ?? 0)) return await this.#embedLess(texts, failure, signal);
        const pauseMs = PAUSES_MS[tries];
        if (!failure.isPassing || pauseMs === undefined) throw failure;
        const waitMs = Math.max(jittered(pauseMs, random), failure.afterMs ?? 0);
        if (waitMs > AWAITED_PAUSE_MS_MAX) throw failure;
        await clock.pause(waitMs, signal);
      }
    }
  }

  /** Of texts that the server has refused together. Throws `refusal` when it refuses a short text. */
  async #embedLess(
    texts: readonly string[],
    refusal: EndpointError,
    signal: AbortSignal,
  ): Promise<Float32Array[]> {
    const half = Math.ceil(texts.length / 2);
    if (texts.length > 1) {
      const first = await this.#embedBatch(texts.slice(0, half), signal);
      return [...first, ...(await this.#embedBatch(texts.slice(half), signal))];
    }
    const [text] = texts as [string];
    if (text.length <= SHORTENED_CHARACTERS_MIN) throw refusal;
    return this.#embedBatch([cutText(text, text.length >> 1)], signal);
  }
}

/** The places of the texts that are not blank, in batches of bounded size. */
function batchesOf(texts: readonly string[], limits: Limits): number[][] {
  const batches: number[][] = [];
  let characters = 0;
  for (const [at, text] of texts.entries()) {
    if (text === "") continue;
    const batch = batches.at(-1);
    characters += text.length;
    const isFull =
      batch === undefined ||
      batch.length >= limits.embeddingBatchTextsMax ||
      characters > limits.embeddingBatchCharactersMax;
    if (!isFull) batch.push(at);
    else {
      batches.push([at]);
      characters = text.length;
    }
  }
  return batches;
}

function asFailure(error: unknown): EndpointError {
  return error instanceof EndpointError ? error : lateFailure(error);
}
