// Requests vectors for queries, which wait only briefly for them. Queries with the same text share a request.
// While the maximum number of requests is in flight, further texts are collected for the next request. A
// request that is too late for its queries counts as failed at once, but its result is still cached. While
// the circuit refuses requests, queries do not wait at all.
import { TIMER_MS_MAX, withDeadline, within } from "../ground/jobs/deadline.js";
import type { EmbeddingMeter } from "../ground/metrics/recorder.js";
import type { Clock } from "../ground/outbound/patience.js";
import type { Circuit } from "./circuit.js";
import { type EmbeddingModel, requestVectors } from "./embedding-request.js";
import { EndpointError } from "./model-server.js";
import type { CachedVectors } from "./vector-cache.js";

/**
 * Timeout (ms) of one request. It may be longer than a query waits, because a late vector is still worth
 * caching.
 */
const REQUEST_MS_MAX = 5_000;
const REQUESTS_AT_ONCE = 4;
const TEXTS_PER_REQUEST = 32;
const TEXTS_WAITING_MAX = 256;

export interface QueryEmbeddingsOptions {
  readonly model: EmbeddingModel;
  readonly cache: CachedVectors;
  readonly circuit: Circuit;
  readonly meter: EmbeddingMeter;
  readonly clock: Clock;
  /** Maximum time (ms) that a query waits. */
  readonly msMax: number;
  /** Aborts all requests. */
  readonly signal: AbortSignal;
  /**
   * Called with each request's outcome: null for success, otherwise the failure. A request that misses its
   * deadline is reported twice: first with a timeout error, then with its outcome.
   */
  readonly told: (failure: EndpointError | null) => void;
}

/** A text whose vector has been requested or is about to be. */
interface Wanted {
  readonly text: string;
  readonly sinceMs: number;
  /** Resolves to null if no vector arrives in time. */
  readonly vector: Promise<Float32Array | null>;
  readonly settle: (vector: Float32Array | null) => void;
}

export class QueryEmbeddings {
  readonly #options: QueryEmbeddingsOptions;
  /** All texts that have been sent or are waiting, keyed by text. */
  readonly #wanted = new Map<string, Wanted>();
  /** Texts not sent yet, oldest first. */
  #waiting: Wanted[] = [];
  #requests = 0;

  constructor(options: QueryEmbeddingsOptions) {
    this.#options = options;
  }

  /** Returns the text's vector, or null if the text is blank or no vector arrives in time. Never rejects. */
  async embed(text: string, signal: AbortSignal): Promise<Float32Array | null> {
    if (text.trim() === "") return null;
    const known = this.#options.cache.get(text);
    if (known !== undefined) return known;
    const vector = await this.#awaited(text, signal);
    if (vector === null) this.#options.meter.missed++;
    return vector;
  }

  async #awaited(text: string, signal: AbortSignal): Promise<Float32Array | null> {
    const wanted = this.#wanted.get(text) ?? this.#want(text);
    if (wanted === null) return null;
    return within(wanted.vector, this.#options.msMax, () => null, signal).catch(() => null);
  }

  #want(text: string): Wanted | null {
    const { circuit, clock, signal } = this.#options;
    if (circuit.isResting || signal.aborted || this.#waiting.length >= TEXTS_WAITING_MAX) return null;
    // The open circuit allows an attempt, but late requests use up all request slots, so this text would wait
    // in vain.
    if (circuit.isOpen && this.#requests >= REQUESTS_AT_ONCE) return null;
    let settle: Wanted["settle"] = () => undefined;
    const vector = new Promise<Float32Array | null>((resolve) => {
      settle = resolve;
    });
    const wanted = { text, sinceMs: clock.now(), vector, settle };
    this.#wanted.set(text, wanted);
    this.#waiting.push(wanted);
    this.#send();
    return wanted;
  }

  /**
   * Sends waiting texts as long as the number of concurrent requests permits. Drops texts that have waited
   * too long for their queries.
   */
  #send(): void {
    const { circuit, clock, msMax } = this.#options;
    if (circuit.isResting) for (const wanted of this.#waiting.splice(0)) this.#settle(wanted, null);
    while (this.#requests < REQUESTS_AT_ONCE && this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, TEXTS_PER_REQUEST);
      const fresh = batch.filter(({ sinceMs }) => clock.now() - sinceMs < msMax);
      for (const wanted of batch) if (!fresh.includes(wanted)) this.#settle(wanted, null);
      if (fresh.length === 0) continue;
      if (circuit.enter()) void this.#request(fresh);
      else for (const wanted of fresh) this.#settle(wanted, null);
    }
  }

  /**
   * Requests one batch of vectors. A late answer does not close the circuit: otherwise every query would wait
   * in vain for a server that is always late.
   */
  async #request(batch: readonly Wanted[]): Promise<void> {
    const { circuit, clock, msMax, told } = this.#options;
    const sentMs = clock.now();
    let failure: EndpointError | null = null;
    let isLate = false;
    const late = (): void => {
      isLate = true;
      circuit.failed(null);
      told(new EndpointError(`the model took longer than ${msMax} ms`));
    };
    const timer = setTimeout(
      () => {
        late();
        // The texts remain in `#wanted`, so that they are not requested again while this request runs.
        for (const { settle } of batch) settle(null);
        this.#send();
      },
      Math.min(msMax, TIMER_MS_MAX),
    );
    this.#requests++;
    try {
      const vectors = await this.#vectorsOf(batch.map(({ text }) => text));
      for (const [i, wanted] of batch.entries()) this.#settle(wanted, vectors[i] as Float32Array);
      if (!isLate && clock.now() - sentMs > msMax) late();
    } catch (error) {
      failure = error instanceof EndpointError ? error : lateFailure(error);
      for (const wanted of batch) this.#settle(wanted, null);
    } finally {
      clearTimeout(timer);
    }
    if (!isLate && failure === null) circuit.succeeded();
    else if (!isLate) circuit.failed(failure?.afterMs ?? null);
    told(failure);
    this.#requests--;
    this.#send();
  }

  #vectorsOf(texts: readonly string[]): Promise<Float32Array[]> {
    const { model, meter, signal } = this.#options;
    return withDeadline(signal, REQUEST_MS_MAX, (inTime) => requestVectors(model, texts, meter, inTime));
  }

  #settle(wanted: Wanted, vector: Float32Array | null): void {
    this.#wanted.delete(wanted.text);
    if (vector !== null) this.#options.cache.put(wanted.text, vector);
    wanted.settle(vector);
  }
}

/** Returns the failure for a request that was ended by its signal. */
export function lateFailure(cause: unknown): EndpointError {
  return new EndpointError("the model's server did not answer in time", { cause, isPassing: true });
}
