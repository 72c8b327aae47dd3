// Keeps the embedding endpoints named in index settings. Indexes of a tenant that name the same server, model
// and key share an endpoint with its connections and cached vectors. An endpoint is closed when no index
// names it any longer.
import type { Catalog } from "../catalog/catalog.js";
import { EMBEDDER_SOURCES } from "../catalog/definition/embedder-sources.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { CatalogState } from "../catalog/state.js";
import { type Secrets, UnreadableSecretError } from "../ground/data-dir/secrets.js";
import type { Limits } from "../ground/limits.js";
import type { Recorder } from "../ground/metrics/recorder.js";
import type { AddressRules } from "../ground/outbound/addresses.js";
import type { Network } from "../ground/outbound/connector.js";
import { openApiKey } from "./api-keys.js";
import { EmbeddingEndpoint } from "./embedding-endpoint.js";
import type { EmbeddingModel } from "./embedding-request.js";
import { EMBEDDING_WIRES, type EmbeddingWire } from "./embedding-wires.js";
import { EndpointError, ModelServer } from "./model-server.js";
import { VectorCache } from "./vector-cache.js";

const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

export interface EmbeddingEndpointsOptions {
  readonly catalog: Pick<Catalog, "state" | "watch">;
  readonly secrets: Secrets;
  /** Limits the addresses that the servers may have. */
  readonly addresses: AddressRules;
  readonly limits: Limits;
  readonly recorder: Pick<Recorder, "embeddings" | "embeddingCache">;
  readonly network?: Network;
}

/** An index's endpoint, and the record whose settings name it. */
interface Known {
  readonly record: IndexRecord;
  readonly name: string;
}

export class EmbeddingEndpoints {
  readonly #options: EmbeddingEndpointsOptions;
  readonly #cache: VectorCache;
  readonly #endpoints = new Map<string, EmbeddingEndpoint>();
  /** Keyed by index uid. */
  readonly #known = new Map<number, Known>();

  constructor(options: EmbeddingEndpointsOptions) {
    this.#options = options;
    this.#cache = new VectorCache(options.limits.embeddingCacheBytesMax, options.recorder.embeddingCache);
    options.catalog.watch((state) => this.#follow(state));
  }

  /**
   * Returns the endpoint named in an index's current settings, or null if its vectors do not come from an
   * endpoint.
   */
  of({ uid }: Pick<IndexRecord, "uid">): EmbeddingEndpoint | null {
    const record = this.#options.catalog.state.indexes.get(uid);
    if (record === undefined) return null;
    const known = this.#known.get(uid);
    return known?.record === record ? this.#endpoints.get(known.name)! : this.#learn(record);
  }

  /** Fails all pending requests. */
  close(): void {
    for (const endpoint of this.#endpoints.values()) endpoint.close();
    this.#endpoints.clear();
    this.#known.clear();
  }

  #follow({ indexes }: CatalogState): void {
    const changed = [...this.#known].filter(([uid, { record }]) => indexes.get(uid) !== record);
    if (changed.length === 0) return;
    for (const [uid] of changed) {
      this.#known.delete(uid);
      const record = indexes.get(uid);
      if (record !== undefined) this.#learn(record);
    }
    const named = new Set(Array.from(this.#known.values(), ({ name }) => name));
    for (const [name, endpoint] of this.#endpoints) {
      if (named.has(name)) continue;
      this.#endpoints.delete(name);
      endpoint.close();
    }
  }

  #learn(record: IndexRecord): EmbeddingEndpoint | null {
    const { source, url, model } = record.settings.embedder;
    const { wire: wireName } = EMBEDDER_SOURCES[source];
    if (wireName === null || url === null || model === null) return null;
    const wire = EMBEDDING_WIRES[wireName];
    const apiKey = this.#apiKeyOf(record);
    const name = JSON.stringify([record.tenant, wireName, url, model, apiKey]);
    this.#known.set(record.uid, { record, name });
    let endpoint = this.#endpoints.get(name);
    if (endpoint === undefined) {
      endpoint = this.#open({ wire, name: model, server: this.#serverOf(wire, url, apiKey) });
      this.#endpoints.set(name, endpoint);
    }
    return endpoint;
  }

  #open(model: EmbeddingModel): EmbeddingEndpoint {
    const { limits, recorder } = this.#options;
    return new EmbeddingEndpoint({ model, cache: this.#cache.part(), limits, meters: recorder.embeddings });
  }

  #serverOf(
    { root, path }: EmbeddingWire,
    url: string,
    apiKey: string | null | undefined,
  ): EmbeddingModel["server"] {
    const { addresses, network } = this.#options;
    if (apiKey === undefined) return UNREADABLE_KEY;
    return new ModelServer({
      url: new URL(url),
      root,
      path,
      apiKey,
      addresses,
      answerBytesMax: ANSWER_BYTES_MAX,
      ...(network === undefined ? {} : { network }),
    });
  }

  /** Returns the index's API key: null if it has none, undefined if it cannot be read. */
  #apiKeyOf(record: IndexRecord): string | null | undefined {
    try {
      return openApiKey(this.#options.secrets, record, "embedder");
    } catch (error) {
      if (error instanceof UnreadableSecretError) return undefined;
      throw error;
    }
  }
}

/** Used instead of a server whose key cannot be read. Requests fail without anything being sent. */
const UNREADABLE_KEY: EmbeddingModel["server"] = {
  post: () =>
    Promise.reject(new EndpointError("the stored API key cannot be read; set embedder.api_key again")),
  close: () => undefined,
};
