// Sends a model server one request for the vectors of some texts, and validates the answer. Never retries.
import { FIXED_LIMITS } from "../ground/limits.js";
import type { EmbeddingMeter } from "../ground/metrics/recorder.js";
import { badAnswer, type EmbeddingWire } from "./embedding-wires.js";
import type { ModelServer } from "./model-server.js";

const { vectorNumbers: NUMBERS } = FIXED_LIMITS;

/** The server, the model and the request format. */
export interface EmbeddingModel {
  readonly wire: Pick<EmbeddingWire, "body" | "vectors">;
  readonly server: Pick<ModelServer, "post" | "close">;
  readonly name: string;
}

/**
 * Returns one vector per text, as the model computed it. Vectors may have any length except 0. Throws
 * EndpointError, or the signal's reason.
 */
export async function requestVectors(
  { wire, server, name }: EmbeddingModel,
  texts: readonly string[],
  meter: EmbeddingMeter,
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const startedMs = performance.now();
  try {
    const answer = await server.post(wire.body(name, texts), signal);
    const vectors = wire.vectors(answer, texts.length).map(vectorOf);
    meter.answered(texts.length, performance.now() - startedMs);
    return vectors;
  } catch (error) {
    meter.failed(performance.now() - startedMs);
    throw error;
  }
}

function vectorOf(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding)) throw badAnswer("with something other than a vector");
  if (embedding.length !== NUMBERS) {
    throw badAnswer(
      `with vectors of ${embedding.length} numbers where ${NUMBERS} were asked for; choose a model that supports that length`,
    );
  }
  const vector = new Float32Array(NUMBERS);
  let isZero = true;
  for (let i = 0; i < NUMBERS; i++) {
    const number: unknown = embedding[i];
    if (typeof number !== "number")
      throw badAnswer("with a vector that contains something other than numbers");
    vector[i] = number;
    if (!Number.isFinite(vector[i])) throw badAnswer("with a vector that has an infinite number");
    if (vector[i] !== 0) isZero = false;
  }
  if (isZero) throw badAnswer("with a vector of zeros");
  return vector;
}
