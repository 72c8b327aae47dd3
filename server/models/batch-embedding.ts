// Requests the vectors for one batch of texts. Temporary failures are retried after growing pauses. If a
// single text makes the batch fail, halving the batch finds that text. It is then shortened, because it is
// usually too long for the model. If the server refuses even the short text, and accepts a harmless text
// right afterwards, the text counts as refused. If it refuses the harmless text too, the server has failed.
// Knows nothing about where texts come from.
import { withDeadline } from "../ground/jobs/deadline.js";
import { FIXED_LIMITS, type Limits } from "../ground/limits.js";
import type { EmbeddingMeter } from "../ground/metrics/recorder.js";
import type { Clock } from "../ground/outbound/patience.js";
import { jittered } from "./circuit.js";
import { cutText } from "./document-text.js";
import { type EmbeddingModel, requestVectors } from "./embedding-request.js";
import { EndpointError, UnreachableError } from "./model-server.js";
import { lateFailure } from "./query-embeddings.js";

/** Delays (ms) before the retries, in order. */
const PAUSES_MS = [500, 2_000, 8_000, 30_000];
/**
 * Longest pause (ms) for which a batch waits. If a server demands a longer one, the batch fails and the
 * circuit waits instead.
 */
const AWAITED_PAUSE_MS_MAX = 60_000;
/**
 * HTTP statuses that may mean that the server refuses a text. Other error statuses are about the key, the
 * address or the load.
 */
const REFUSALS = new Set([400, 413, 422]);
/**
 * Some servers also refuse a text with this status. Because it may be a temporary failure, it counts as a
 * refusal only from the second attempt on.
 */
const BROKEN = 500;
/**
 * A text of at most this many characters is not shortened further, because its length cannot be why it was
 * refused.
 */
const SHORTENED_CHARACTERS_MIN = 200;
/** A text that every model can embed and that no content policy forbids. */
const HARMLESS = ["test"];

export interface BatchEmbeddingOptions {
  readonly model: EmbeddingModel;
  readonly meter: EmbeddingMeter;
  readonly clock: Clock;
  readonly random: () => number;
  readonly limits: Limits;
}

/** A text's vector. Null if the server refuses this text but accepts other texts. */
export type TextVector = Float32Array | null;

export class BatchEmbedding {
  readonly #options: BatchEmbeddingOptions;
  readonly #refused: (refusal: EndpointError) => void;
  /**
   * True if the server has accepted a harmless text after refusing other texts, which shows that it refuses
   * only particular texts.
   */
  #takesOthers = false;

  /** `refused` is called once per text that gets null, with the server's reason. */
  constructor(options: BatchEmbeddingOptions, refused: (refusal: EndpointError) => void) {
    this.#options = options;
    this.#refused = refused;
  }

  /**
   * Returns a vector or null for each text. If a text had to be shortened, its vector represents only its
   * beginning. Throws the signal's reason, or EndpointError if the server fails for a reason other than one
   * of the texts. One bad text among n costs about 2 log n extra requests, plus one each time it is
   * shortened.
   */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<TextVector[]> {
    const { clock, random } = this.#options;
    for (let tries = 0; ; tries++) {
      try {
        return await this.#request(texts, signal);
      } catch (error) {
        signal.throwIfAborted();
        const failure = asFailure(error);
        if (mayBeOfOneText(failure, tries)) {
          this.#takesOthers ||= await this.#takesHarmless(signal);
          if (this.#takesOthers) return await this.#embedLess(texts, failure, signal);
        }
        const pauseMs = PAUSES_MS[tries];
        if (!failure.isPassing || pauseMs === undefined) throw failure;
        const waitMs = Math.max(jittered(pauseMs, random), failure.afterMs ?? 0);
        if (waitMs > AWAITED_PAUSE_MS_MAX) throw failure;
        await clock.pause(waitMs, signal);
      }
    }
  }

  /**
   * Retries a batch that the server refused: splits it in half or, if it has only one text, shortens the
   * text. A text that is refused even when short gets null.
   */
  async #embedLess(
    texts: readonly string[],
    refusal: EndpointError,
    signal: AbortSignal,
  ): Promise<TextVector[]> {
    const half = Math.ceil(texts.length / 2);
    if (texts.length > 1) {
      const first = await this.embed(texts.slice(0, half), signal);
      return [...first, ...(await this.embed(texts.slice(half), signal))];
    }
    const [text] = texts as [string];
    if (text.length > SHORTENED_CHARACTERS_MIN) return this.embed([cutText(text, text.length >> 1)], signal);
    // Ask once more for each text that is about to count as refused: by now, the server may refuse
    // everything.
    this.#takesOthers = await this.#takesHarmless(signal);
    if (!this.#takesOthers) throw refusal;
    this.#refused(refusal);
    return [null];
  }

  async #takesHarmless(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#request(HARMLESS, signal);
      return true;
    } catch {
      signal.throwIfAborted();
      return false;
    }
  }

  #request(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const { model, meter, limits } = this.#options;
    return withDeadline(signal, limits.embeddingRequestMsMax, (inTime) =>
      requestVectors(model, texts, meter, inTime),
    );
  }
}

/**
 * True if the failure may be due to a single text in the batch. That includes invalid answers, for example if
 * one text's vector is all zeros or cannot be written as JSON.
 */
function mayBeOfOneText(failure: EndpointError, tries: number): boolean {
  const { status, isPassing } = failure;
  if (status === null) return !isPassing && !(failure instanceof UnreachableError);
  return REFUSALS.has(status) || (status === BROKEN && tries > 0);
}

export function asFailure(error: unknown): EndpointError {
  return error instanceof EndpointError ? error : lateFailure(error);
}

/** Returns zeros, which stand for a vector that does not exist. */
export function noVector(): Float32Array {
  return new Float32Array(FIXED_LIMITS.vectorNumbers);
}
