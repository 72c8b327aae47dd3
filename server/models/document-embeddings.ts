// Requests vectors for documents. Sends their texts in batches of bounded size, several requests at a time,
// and none while the circuit refuses requests. The first batch to fail aborts the others. Knows nothing about
// where texts come from.
import { underSignals } from "../ground/jobs/deadline.js";
import { Slots } from "../ground/jobs/slots.js";
import type { Limits } from "../ground/limits.js";
import { asFailure, BatchEmbedding, type BatchEmbeddingOptions, noVector } from "./batch-embedding.js";
import type { Circuit } from "./circuit.js";
import { cutText, sendableText } from "./document-text.js";
import { EndpointError } from "./model-server.js";

export interface DocumentEmbeddingsOptions extends BatchEmbeddingOptions {
  readonly circuit: Circuit;
  /** Aborts all requests. */
  readonly signal: AbortSignal;
  /** Called with each batch's outcome: null for success, otherwise the failure. */
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
   * Returns one vector per text. Blank and refused texts get zeros; each refusal is passed to `refused`.
   * Throws the signal's reason, or EndpointError if a batch fails, whose `afterMs` says when to retry.
   */
  async embed(
    texts: readonly string[],
    signal: AbortSignal,
    refused: (refusal: EndpointError) => void,
  ): Promise<Float32Array[]> {
    const { circuit, limits, meter, signal: ending } = this.#options;
    const vectors = texts.map(noVector);
    const cut = texts.map((text) => cutText(sendableText(text), limits.embeddingTextCharactersMax));
    const batches = batchesOf(cut, limits);
    if (batches.length === 0) return vectors;
    if (!circuit.enter())
      throw new EndpointError("the model's server has failed and is not asked for now", {
        afterMs: circuit.restMs,
      });
    const refusals: EndpointError[] = [];
    const batch = new BatchEmbedding(this.#options, (refusal) => refusals.push(refusal));
    try {
      await underSignals([signal, ending], (stop) =>
        this.#inBatches(batches, stop, async (places) => {
          const found = await batch.embed(
            places.map((at) => cut[at] as string),
            stop.signal,
          );
          for (const [i, at] of places.entries()) vectors[at] = found[i] ?? noVector();
        }),
      );
    } catch (error) {
      if (signal.aborted) circuit.gaveUp();
      signal.throwIfAborted();
      throw this.#over(asFailure(error));
    }
    this.#over(null);
    meter.refused += refusals.length;
    for (const refusal of refusals) refused(refusal);
    return vectors;
  }

  /** Runs the batches, several at a time. The first batch to fail aborts the others. */
  async #inBatches(
    batches: readonly (readonly number[])[],
    stop: AbortController,
    embed: (batch: readonly number[]) => Promise<void>,
  ): Promise<void> {
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

  /** Reports the outcome to the circuit and to `told`, and returns it. */
  #over<T extends EndpointError | null>(failure: T): T {
    const { circuit, told } = this.#options;
    if (failure === null) circuit.succeeded();
    else circuit.failed(failure.afterMs);
    told(failure);
    return failure;
  }
}

/** Groups the positions of the non-blank texts into batches of bounded size. */
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
