// The vectors of one batch of texts: failures that may pass are tried again after growing pauses, and of a batch that fails for
// the sake of one text this text is found. It is found by halving: the batch, then the text itself, which is mostly too long for
// the model. A text that is refused alone and short counts as refused only if the server takes a harmless one right afterwards:
// a server that refuses everything has failed. Knows nothing of where texts come from.
import { withDeadline } from "../ground/jobs/deadline.js";
import { FIXED_LIMITS, type Limits } from "../ground/limits.js";
import type { EmbeddingMeter } from "../ground/metrics/recorder.js";
import type { Clock } from "../ground/outbound/patience.js";
import { jittered } from "./circuit.js";
import { cutText } from "./document-text.js";
import { type EmbeddingModel, requestVectors } from "./embedding-request.js";
import { EndpointError, UnreachableError } from "./model-server.js";
import { lateFailure } from "./query-embeddings.js";

/** Before each try after the first. */
const PAUSES_MS = [500, 2_000, 8_000, 30_000];
/** A server that wants to be left alone for longer is given up; the circuit waits as long as it says. */
const AWAITED_PAUSE_MS_MAX = 60_000;
/** What servers answer with to a text that they cannot take. Other refusals are about the key, the address or the load. */
const REFUSALS = new Set([400, 413, 422]);
/** Some servers answer so, too. It may also pass, so it counts only when it comes again. */
const BROKEN = 500;
/** A text that is refused although it is as short as this is not refused for its length. */
const SHORTENED_CHARACTERS_MIN = 200;
/** Every model can embed it, and no policy forbids it. */
const HARMLESS = ["test"];

export interface BatchEmbeddingOptions {
  readonly model: EmbeddingModel;
  readonly meter: EmbeddingMeter;
  readonly clock: Clock;
  readonly random: () => number;
  readonly limits: Limits;
}

/** Null: the server refuses this text, and takes others. */
export type TextVector = Float32Array | null;

export class BatchEmbedding {
  readonly #options: BatchEmbeddingOptions;
  readonly #refused: (refusal: EndpointError) => void;
  /** The server has taken a harmless text since it began to refuse others. */
  #takesOthers = false;

  /** `refused` hears why a text got null. */
  constructor(options: BatchEmbeddingOptions, refused: (refusal: EndpointError) => void) {
    this.#options = options;
    this.#refused = refused;
  }

  /**
   * For each text its vector, which may be that of its beginning, or null. Throws EndpointError when the server fails for
   * another reason than a text, or the signal's reason. One bad text among n takes about 2 log n requests more, and one for
   * each time that it is shortened.
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

  /** Of texts that the server has refused together. */
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
    // Asked for each text: the server may have begun to refuse everything meanwhile.
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

/** An answer that is none may be so because of one text, too: its vector is zeros, or cannot be written as JSON. */
function mayBeOfOneText(failure: EndpointError, tries: number): boolean {
  const { status, isPassing } = failure;
  if (status === null) return !isPassing && !(failure instanceof UnreachableError);
  return REFUSALS.has(status) || (status === BROKEN && tries > 0);
}

export function asFailure(error: unknown): EndpointError {
  return error instanceof EndpointError ? error : lateFailure(error);
}

/** What stands for the vector of a text that has none. */
export function noVector(): Float32Array {
  return new Float32Array(FIXED_LIMITS.vectorNumbers);
}
