// One request to an OpenAI-compatible server for the vectors of some texts (POST .../embeddings), and the check of what it
// answers. Tries nothing twice.
import { isObject } from "../ground/input/json-value.js";
import { FIXED_LIMITS } from "../ground/limits.js";
import type { EmbeddingMeter } from "../ground/metrics/recorder.js";
import { EndpointError, type ModelServer } from "./model-server.js";

const { vectorNumbers: NUMBERS } = FIXED_LIMITS;

/** The server and the model that are asked. */
export interface EmbeddingModel {
  readonly server: Pick<ModelServer, "post" | "close">;
  readonly name: string;
}

/** One vector for each text, as the model gave it: of any length, but not 0. Throws EndpointError, or the signal's reason. */
export async function requestVectors(
  { server, name }: EmbeddingModel,
  texts: readonly string[],
  meter: EmbeddingMeter,
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const body = { model: name, input: texts, dimensions: NUMBERS, encoding_format: "float" };
  const startedMs = performance.now();
  try {
    const vectors = vectorsOf(await server.post(body, signal), texts.length);
    meter.answered(texts.length, performance.now() - startedMs);
    return vectors;
  } catch (error) {
    meter.failed(performance.now() - startedMs);
    throw error;
  }
}

/** The vectors of an answer in the order of the texts. */
function vectorsOf(answer: unknown, count: number): Float32Array[] {
  const items: unknown = isObject(answer) ? answer.data : undefined;
  if (!Array.isArray(items)) throw nonsense("with no list of vectors");
  if (items.length !== count) throw nonsense(`with ${items.length} vectors for ${count} texts`);
  const vectors = new Array<Float32Array | undefined>(count).fill(undefined);
  items.forEach((item: unknown, i) => {
    if (!isObject(item)) throw nonsense("with no list of vectors");
    const { index = i, embedding } = item;
    if (typeof index !== "number" || !(index in vectors) || vectors[index] !== undefined)
      throw nonsense("with vectors whose index fits no text");
    vectors[index] = vectorOf(embedding);
  });
  return vectors as Float32Array[];
}

function vectorOf(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding)) throw nonsense("with something that is no vector");
  if (embedding.length !== NUMBERS) {
    throw nonsense(
      `with vectors of ${embedding.length} numbers where ${NUMBERS} were asked for; choose a model that can give as many`,
    );
  }
  const vector = new Float32Array(NUMBERS);
  let isZero = true;
  for (let i = 0; i < NUMBERS; i++) {
    const number: unknown = embedding[i];
    if (typeof number !== "number") throw nonsense("with a vector that has something else than numbers");
    vector[i] = number;
    if (!Number.isFinite(vector[i])) throw nonsense("with a vector that has an infinite number");
    if (vector[i] !== 0) isZero = false;
  }
  if (isZero) throw nonsense("with a vector of zeros");
  return vector;
}

function nonsense(what: string): EndpointError {
  return new EndpointError(`the model's server answered ${what}`);
}
