// Warms a thread up: sends it queries made from an index's own documents before clients send theirs. They
// pass through the same phases and the same code. In a new thread, V8 has compiled hardly any of it, so the
// first queries cost several times as much CPU as later ones.
import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { IndexRecord } from "../catalog/records/index-record.js";
import {
  type SampleDocument,
  sampleQueries,
  type WarmUpQuery,
  warmUpQueries,
} from "../search/warm-up-queries.js";
import { OwnQuery } from "./own-query.js";
import { queryRoutes } from "./routes/query.js";
import { HttpService } from "./service.js";
import type { SearchServices } from "./services.js";
import { uncountedServices } from "./uncounted-services.js";

export interface WarmUpWanted {
  readonly uid: number;
  /** Number of documents in the index. A front-end that has not read the index does not know it. */
  readonly documents: number;
  readonly queriesMax: number;
  /** Time (ms) that the queries may take in all, if there are more than a few. */
  readonly msMax: number;
}

/** The service that answers this thread's clients. */
type Clients = Pick<HttpService<SearchServices>, "isServing" | "isStopping" | "isQuiet">;

/** The documents of a larger page are not used, because parsing them would take too long. */
const PAGE_BYTES_MAX = 1024 * 1024;
/** Number of queries that a thread runs even if they take longer than allowed. */
const QUERIES_MIN = 20;
/** While clients are served, a query is sent only if none of theirs has arrived for this long (ms). */
const QUIET_MS = 50;
/** Time (ms) after which a warm-up ends that clients keep from going on: their queries warm the thread. */
const PATIENCE_MS = 10_000;
const OK = 200;

export class WarmUp {
  readonly #services: SearchServices;
  readonly #clients: Clients;
  readonly #service: HttpService<SearchServices>;
  /** The bootstrap key of `#service`, which no other service accepts. */
  readonly #key = randomBytes(24).toString("hex");

  constructor(services: SearchServices, clients: Clients) {
    this.#services = services;
    this.#clients = clients;
    this.#service = new HttpService(uncountedServices(services, this.#key), queryRoutes);
    this.#service.serve();
  }

  /**
   * Runs queries on the index, at most one per turn of the event loop. Ends early when one of them fails or
   * the thread stops. Resolves with the number of queries answered. Never rejects.
   */
  async run({ uid, documents, queriesMax, msMax }: WarmUpWanted): Promise<number> {
    const { indexes, tenants } = this.#services.catalog.state;
    const record = indexes.get(uid);
    const tenant = tenants.get(record?.tenant ?? -1)?.name;
    if (record === undefined || tenant === undefined) return 0;
    const patienceEndsMs = performance.now() + PATIENCE_MS;
    let tookMs = 0;
    let answered = 0;
    for await (const query of this.#queries(record, tenant, documents)) {
      if (answered >= queriesMax || (answered >= QUERIES_MIN && tookMs >= msMax)) break;
      await nextTurn();
      while (!this.#mayGoOn()) {
        if (this.#clients.isStopping || performance.now() > patienceEndsMs) return answered;
        await sleep(QUIET_MS, undefined, { ref: false });
      }
      const startedMs = performance.now();
      if ((await this.#ask(record, tenant, query, isAnswered)) !== true) break;
      tookMs += performance.now() - startedMs;
      answered++;
    }
    return answered;
  }

  #mayGoOn(): boolean {
    const { isServing, isStopping } = this.#clients;
    return !isStopping && (!isServing || this.#clients.isQuiet(QUIET_MS));
  }

  async *#queries(record: IndexRecord, tenant: string, documents: number): AsyncGenerator<WarmUpQuery> {
    const sample: SampleDocument[] = [];
    for (const query of sampleQueries(documents))
      sample.push(...((await this.#ask(record, tenant, query, documentsIn)) ?? []));
    yield* warmUpQueries(record, sample);
  }

  /** Returns what `read` makes of the answer's JSON; null if the query was refused. */
  async #ask<T>(
    { name }: IndexRecord,
    tenant: string,
    query: WarmUpQuery,
    read: (json: Uint8Array) => T,
  ): Promise<T | null> {
    const headers = {
      authorization: `Bearer ${this.#key}`,
      "x-skein-tenant": tenant,
      "content-type": "application/json",
    };
    const path = `/v1/indexes/${encodeURIComponent(name)}/query`;
    const answer = this.#service.handle(new OwnQuery(path, headers, Buffer.from(JSON.stringify(query))));
    const sent = answer instanceof Promise ? await answer : answer;
    try {
      const { status, body } = sent.reply;
      return status === OK && body instanceof Uint8Array ? read(body) : null;
    } finally {
      sent.finished(undefined);
    }
  }
}

function isAnswered(): boolean {
  return true;
}

function documentsIn(json: Uint8Array): SampleDocument[] {
  if (json.byteLength > PAGE_BYTES_MAX) return [];
  const { hits } = JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString()) as {
    readonly hits: readonly { readonly document: SampleDocument }[];
  };
  return hits.map(({ document }) => document);
}
