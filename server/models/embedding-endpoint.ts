// The interface through which the rest of Skein uses an embedding server. A query gets its vector quickly or
// not at all. For documents, the caller gets either the vectors or an error, and tries again later after an
// error. Stores nothing on disk.
import type { Limits } from "../ground/limits.js";
import type { EmbeddingMeters } from "../ground/metrics/recorder.js";
import { type Clock, SYSTEM_CLOCK } from "../ground/outbound/patience.js";
import { Circuit } from "./circuit.js";
import { DocumentEmbeddings } from "./document-embeddings.js";
import { cutText, sendableText } from "./document-text.js";
import type { EmbeddingModel } from "./embedding-request.js";
import { EndpointError } from "./model-server.js";
import { QueryEmbeddings } from "./query-embeddings.js";
import type { CachedVectors } from "./vector-cache.js";

/**
 * Number of consecutive failed query requests that open the query circuit. A single failure proves little,
 * because the query itself may have caused it.
 */
const QUERY_FAILURES_MAX = 3;

export interface EmbeddingEndpointOptions {
  readonly model: EmbeddingModel;
  readonly cache: CachedVectors;
  readonly limits: Limits;
  readonly meters: EmbeddingMeters;
  readonly clock?: Clock;
  /** Returns a random number from 0 to 1, like Math.random, the default. */
  readonly random?: () => number;
}

export interface EndpointState {
  /** "down" means that requests have failed; the endpoint is tried again after a pause. */
  readonly status: "up" | "down";
  /** The most recent failure, even if the endpoint has since recovered. */
  readonly lastError: string | null;
  /** ISO 8601, UTC. */
  readonly lastErrorAt: string | null;
  readonly lastSuccessAt: string | null;
}

export class EmbeddingEndpoint {
  readonly #model: EmbeddingModel;
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  readonly #circuits: readonly Circuit[];
  readonly #queries: QueryEmbeddings;
  readonly #documents: DocumentEmbeddings;
  #lastError: string | null = null;
  #lastErrorAt: string | null = null;
  #lastSuccessAt: string | null = null;

  constructor(options: EmbeddingEndpointOptions) {
    const { model, cache, limits, meters, clock = SYSTEM_CLOCK, random = Math.random } = options;
    this.#model = model;
    this.#limits = limits;
    this.#clock = clock;
    const common = { model, clock, signal: this.#closing.signal, told: this.#told };
    const queryCircuit = new Circuit(QUERY_FAILURES_MAX, clock, random);
    // A request for documents fails only after several retries, so one failure is enough to open this
    // circuit.
    const documentCircuit = new Circuit(1, clock, random);
    this.#circuits = [queryCircuit, documentCircuit];
    this.#queries = new QueryEmbeddings({
      ...common,
      cache,
      circuit: queryCircuit,
      meter: meters.query,
      msMax: limits.embeddingQueryMsMax,
    });
    this.#documents = new DocumentEmbeddings({
      ...common,
      circuit: documentCircuit,
      meter: meters.document,
      random,
      limits,
    });
  }

  /**
   * Returns the vector for a query's text. It may have any length except 0, and is shared, so the caller must
   * not change it. Returns null if the text is blank, the endpoint is down or too slow, or the signal aborts;
   * the search then runs without a vector. Never rejects.
   */
  embedQuery(text: string, signal: AbortSignal = new AbortController().signal): Promise<Float32Array | null> {
    return this.#queries.embed(cutText(sendableText(text), this.#limits.embeddingTextCharactersMax), signal);
  }

  /**
   * Returns the vectors for document texts, in order. Blank texts get zeros, and so does a text that the
   * endpoint refuses while it accepts others; `refused` is then called with the reason. Throws the signal's
   * reason or EndpointError. The latter is thrown after several failed tries, or at once while the endpoint
   * is down, in which case `afterMs` says for how long.
   */
  embedDocuments(
    texts: readonly string[],
    signal: AbortSignal,
    refused: (refusal: EndpointError) => void = () => undefined,
  ): Promise<Float32Array[]> {
    return this.#documents.embed(texts, signal, refused);
  }

  get state(): EndpointState {
    return {
      status: this.#circuits.some(({ isOpen }) => isOpen) ? "down" : "up",
      lastError: this.#lastError,
      lastErrorAt: this.#lastErrorAt,
      lastSuccessAt: this.#lastSuccessAt,
    };
  }

  /** Fails pending requests and closes the connections. */
  close(): void {
    this.#closing.abort(new EndpointError("the endpoint is no longer used"));
    this.#model.server.close();
  }

  readonly #told = (failure: EndpointError | null): void => {
    const now = new Date(this.#clock.now()).toISOString();
    if (failure === null) this.#lastSuccessAt = now;
    else {
      this.#lastError = failure.message;
      this.#lastErrorAt = now;
    }
  };
}
