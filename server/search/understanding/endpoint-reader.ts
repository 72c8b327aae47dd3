// Asks a language model to interpret queries. It runs on an OpenAI-compatible server that the tenant chose.
// Sends one request per query, waits no longer than the configured timeout, and caches answers. An answer is
// only a claim, which endpoint-answer.ts validates.
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import type { Catalog } from "../../catalog/catalog.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { type Secrets, UnreadableSecretError } from "../../ground/data-dir/secrets.js";
import { SkeinError } from "../../ground/errors.js";
import { settled, type Work } from "../../ground/jobs/work.js";
import type { Limits } from "../../ground/limits.js";
import type { AddressRules } from "../../ground/outbound/addresses.js";
import { openApiKey } from "../../models/api-keys.js";
import { ChatEndpoint } from "../../models/chat-endpoint.js";
import { EndpointError } from "../../models/model-server.js";
import type { QueriedIndex } from "../matching/queried-index.js";
import { type Claim, questionOf, readClaim } from "./endpoint-answer.js";
import type { IndexFacts } from "./facts.js";

/** Maximum number of cached answers. */
const ANSWERS_MAX = 1_000;

/**
 * Time (ms) without requests to a model server after it has failed, so that not every query waits for a
 * timeout.
 */
const REST_MS = 2_000;
const UNDER_WAY_MAX = 32;

/**
 * An index's endpoint, kept until its record changes. Null if the index has none or its API key cannot be
 * read.
 */
interface Known {
  readonly record: IndexRecord;
  readonly endpoint: ChatEndpoint | null;
}

export interface EndpointReaderOptions {
  readonly catalog: Pick<Catalog, "watch">;
  readonly secrets: Secrets;
  readonly addresses: AddressRules;
  readonly limits: Limits;
}

export class EndpointReader {
  readonly #options: EndpointReaderOptions;
  /** Keyed by index state, the caller's filter, and text. */
  readonly #claims = new ClockCache<string, Claim>(ANSWERS_MAX);
  readonly #underWay = new Map<string, Promise<Claim | null>>();
  /** Keyed by index uid. */
  readonly #known = new Map<number, Known>();
  /**
   * The time at which each index's endpoint may be asked again after a failure. A change of settings creates
   * a new record, whose endpoint may be asked immediately.
   */
  readonly #resting = new WeakMap<IndexRecord, number>();

  constructor(options: EndpointReaderOptions) {
    this.#options = options;
    options.catalog.watch(({ indexes }) => {
      for (const [uid, { record }] of this.#known) if (indexes.get(uid) !== record) this.#forget(uid);
    });
  }

  /**
   * Returns the model's reading of a query, or null if the model is not asked or its answer is late or
   * unusable.
   */
  *read(
    text: string,
    { state, record }: QueriedIndex,
    within: string,
    facts: IndexFacts,
  ): Work<Claim | null> {
    const key = JSON.stringify([state, within, text]);
    const known = this.#claims.get(key);
    if (known !== undefined) return known;
    const asked = this.#underWay.get(key);
    if (asked !== undefined) return yield* settled(asked);
    if (
      this.#underWay.size >= UNDER_WAY_MAX ||
      Date.now() < (this.#resting.get(record) ?? Number.NEGATIVE_INFINITY)
    )
      return null;
    const work = this.#ask(text, record, facts);
    this.#underWay.set(key, work);
    try {
      const claim = yield* settled(work);
      if (claim !== null) this.#claims.set(key, claim);
      return claim;
    } finally {
      this.#underWay.delete(key);
    }
  }

  /** Aborts all requests in progress, which then fail. */
  close(): void {
    for (const uid of this.#known.keys()) this.#forget(uid);
  }

  async #ask(text: string, record: IndexRecord, facts: IndexFacts): Promise<Claim | null> {
    const endpoint = this.#endpointOf(record);
    if (endpoint === null) return null;
    try {
      const answer = await endpoint.inTime(new AbortController().signal, (signal) =>
        endpoint.ask(questionOf(text, facts), signal),
      );
      return readClaim(answer, this.#options.limits);
    } catch (error) {
      // The answer is not a valid claim, but the endpoint may answer other queries well.
      if (error instanceof SkeinError) return null;
      if (!(error instanceof EndpointError)) throw error;
      this.#resting.set(record, Date.now() + REST_MS);
      return null;
    }
  }

  #endpointOf(record: IndexRecord): ChatEndpoint | null {
    const known = this.#known.get(record.uid);
    if (known?.record === record) return known.endpoint;
    this.#forget(record.uid);
    const endpoint = this.#open(record);
    this.#known.set(record.uid, { record, endpoint });
    return endpoint;
  }

  /**
   * Returns the endpoint in the index's settings. Null if there is none or its stored key cannot be read:
   * nothing must be sent without the key.
   */
  #open(record: IndexRecord): ChatEndpoint | null {
    const { secrets, addresses } = this.#options;
    const { url, model, timeout_ms: msMax } = record.settings.ai;
    if (url === null || model === null) return null;
    try {
      const apiKey = openApiKey(secrets, record, "ai");
      return new ChatEndpoint({ url: new URL(url), model, apiKey, msMax }, addresses);
    } catch (error) {
      if (error instanceof UnreadableSecretError) return null;
      throw error;
    }
  }

  #forget(uid: number): void {
    this.#known.get(uid)?.endpoint?.close();
    this.#known.delete(uid);
  }
}
