// Endpoints for tests: on loopback, which is allowed, without randomness, and with pauses that are recorded
// instead of waited for.
import { DEFAULT_LIMITS, type Limits } from "../../../../server/ground/limits.js";
import { Recorder } from "../../../../server/ground/metrics/recorder.js";
import type { Clock } from "../../../../server/ground/outbound/patience.js";
import { EmbeddingEndpoint } from "../../../../server/models/embedding-endpoint.js";
import { EMBEDDING_WIRES } from "../../../../server/models/embedding-wires.js";
import { ModelServer, type ModelServerOptions } from "../../../../server/models/model-server.js";
import { VectorCache } from "../../../../server/models/vector-cache.js";
import { TestClock } from "../ground/outbound/fetching.js";

export const API_KEY = "sk-test-0123456789";
const LOOPBACK = { allowPrivate: false, allowHosts: ["127.0.0.1"] };

export interface TestEndpoint {
  readonly endpoint: EmbeddingEndpoint;
  readonly recorder: Recorder;
}

export function modelServer(url: string, more: Partial<ModelServerOptions> = {}): ModelServer {
  return new ModelServer({
    url: new URL(url),
    root: EMBEDDING_WIRES.openai.root,
    path: EMBEDDING_WIRES.openai.path,
    apiKey: API_KEY,
    addresses: LOOPBACK,
    answerBytesMax: 1 << 20,
    ...more,
  });
}

/** Creates an endpoint. Queries wait without a time limit unless `limits` sets one. */
export function endpointAt(
  url: string,
  limits: Partial<Limits> = {},
  clock: Clock = new TestClock(),
): TestEndpoint {
  const recorder = new Recorder();
  const endpoint = new EmbeddingEndpoint({
    model: { wire: EMBEDDING_WIRES.openai, name: "small", server: modelServer(url) },
    cache: new VectorCache(1 << 20, recorder.embeddingCache).part(),
    limits: { ...DEFAULT_LIMITS, embeddingQueryMsMax: 600_000, ...limits },
    meters: recorder.embeddings,
    clock,
    random: () => 0,
  });
  return { endpoint, recorder };
}

/** Returns the error that rejects the promise. Throws if the promise resolves. */
export function failureOf(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => {
      throw new Error("it did not fail");
    },
    (error: Error) => error,
  );
}

export const NEVER = new AbortController().signal;
