// Decides when a warm-up sends its queries, and how many of them. Knows nothing about how they are answered.
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { IndexRecord } from "../catalog/records/index-record.js";
import {
  type SampleDocument,
  sampleQueries,
  type WarmUpQuery,
  warmUpQueries,
} from "../search/warm-up-queries.js";

export interface WarmUpWanted {
  readonly uid: number;
  /** Number of documents in the index. A front-end that has not read the index does not know it. */
  readonly documents: number;
  /** Maximum number of queries, with those that fetch a sample of the documents. */
  readonly queriesMax: number;
  /** Time (ms) that the queries may take in all, if there are more than a few. */
  readonly msMax: number;
}

/** The service that answers this thread's clients. */
export interface Clients {
  readonly isServing: boolean;
  readonly isStopping: boolean;
  /** True if no request is running, and none has arrived for `ms` milliseconds. */
  isQuiet(ms: number): boolean;
}

/**
 * Sends a query. If it is answered, calls `read` with the answer's JSON, which is valid only during the call.
 * Resolves with the reply's status.
 */
export type SendQuery = (query: WarmUpQuery, read: (json: Uint8Array) => void) => Promise<number>;

/** The documents of a larger page are not used, because parsing them would take too long. */
const PAGE_BYTES_MAX = 1024 * 1024;
/** Number of queries that a thread answers even if they take longer than allowed. */
const QUERIES_MIN = 20;
/** While clients are served, a query is sent only if none of theirs has arrived for this long (ms). */
const QUIET_MS = 50;
/** A warm-up that clients keep interrupting ends after this long (ms); their queries warm the thread. */
const PATIENCE_MS = 10_000;
const OK = 200;
const BAD_REQUEST = 400;

export class WarmUpRun {
  readonly #wanted: WarmUpWanted;
  readonly #clients: Clients;
  readonly #send: SendQuery;
  readonly #patienceEndsMs = performance.now() + PATIENCE_MS;
  #sent = 0;
  /** Without the queries that fetch the sample. */
  #answered = 0;
  #tookMs = 0;

  constructor(wanted: WarmUpWanted, clients: Clients, send: SendQuery) {
    this.#wanted = wanted;
    this.#clients = clients;
    this.#send = send;
  }

  /**
   * Runs queries on the index, at most one per turn of the event loop. Ends early when one of them fails or
   * the thread stops. Resolves with the number of queries answered, not counting those that fetch the sample.
   * May be called once.
   */
  async run(record: IndexRecord): Promise<number> {
    const sample: SampleDocument[] = [];
    const take = (json: Uint8Array): void => void sample.push(...documentsIn(json));
    const count = (): void => void this.#answered++;
    for (const query of sampleQueries(this.#wanted.documents)) if (!(await this.#ask(query, take))) return 0;
    for (const query of warmUpQueries(record, sample)) if (!(await this.#ask(query, count))) break;
    return this.#answered;
  }

  /**
   * Sends the query when its turn comes. Resolves with false if the run is over. A query that is refused as
   * invalid does not end it: some documents contain words that cannot be searched for.
   */
  async #ask(query: WarmUpQuery, read: (json: Uint8Array) => void): Promise<boolean> {
    if (!(await this.#turn())) return false;
    const startedMs = performance.now();
    const status = await this.#send(query, read);
    this.#tookMs += performance.now() - startedMs;
    this.#sent++;
    return status === OK || status === BAD_REQUEST;
  }

  /** Resolves in a later turn of the event loop: with true when a query may be sent, false at the end. */
  async #turn(): Promise<boolean> {
    const { queriesMax, msMax } = this.#wanted;
    if (this.#sent >= queriesMax || (this.#answered >= QUERIES_MIN && this.#tookMs >= msMax)) return false;
    await nextTurn();
    while (!this.#clients.isStopping && this.#clients.isServing && !this.#clients.isQuiet(QUIET_MS)) {
      if (performance.now() > this.#patienceEndsMs) return false;
      await sleep(QUIET_MS, undefined, { ref: false });
    }
    return !this.#clients.isStopping;
  }
}

function documentsIn(json: Uint8Array): SampleDocument[] {
  if (json.byteLength > PAGE_BYTES_MAX) return [];
  const { hits } = JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString()) as {
    readonly hits: readonly { readonly document: SampleDocument }[];
  };
  return hits.map(({ document }) => document);
}
