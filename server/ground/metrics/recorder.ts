// Counts the server's own activity. The counts are numbers in memory since startup, cheap enough for every
// request. Depends neither on the library that prints them nor on the code that counts.
import { DurationHistogram } from "./histogram.js";
import { QUERY_PHASES, type QueryPhase, type QueryTrace } from "./query-trace.js";

const REQUEST_BOUNDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
] as const;
const PHASE_BOUNDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
] as const;

/**
 * Methods that appear as a label. All others are counted as "other", so that clients cannot create new time
 * series.
 */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** The way in which documents reached the server. */
export type DocumentSource = "batch" | "import" | "single" | "feed";

/** Counters for one combination of route template and method. */
interface RequestMeter {
  readonly byStatus: Map<number, number>;
  readonly durations: DurationHistogram;
}

interface DocumentMeter {
  accepted: number;
  rejected: number;
  bytes: number;
}

/** A cache's hits and misses. */
export class CacheMeter {
  hits = 0;
  misses = 0;
}

/** What a vector is requested for: to answer a query, or to store it with a document. */
export const EMBEDDING_PURPOSES = ["query", "document"] as const;
export type EmbeddingPurpose = (typeof EMBEDDING_PURPOSES)[number];

/** Counts requests to embedding endpoints. */
export class EmbeddingMeter {
  requests = 0;
  failures = 0;
  /** Number of texts whose vectors arrived. */
  texts = 0;
  /** Number of document texts that the endpoint refused although it accepted others. */
  refused = 0;
  /** Number of queries answered without a vector because the vector did not arrive in time. */
  missed = 0;
  readonly durations = new DurationHistogram(REQUEST_BOUNDS);

  answered(texts: number, ms: number): void {
    this.requests++;
    this.texts += texts;
    this.durations.observe(ms / 1000);
  }

  failed(ms: number): void {
    this.requests++;
    this.failures++;
    this.durations.observe(ms / 1000);
  }
}

export type EmbeddingMeters = Readonly<Record<EmbeddingPurpose, EmbeddingMeter>>;

/** Counts the rows of the query log. */
export class LogMeter {
  rows = 0;
  /** Number of rows lost because the disk did not accept them. */
  dropped = 0;
}

/** Counts reads of small indexes that the HTTP thread tried to do itself. */
export class LocalReadMeter {
  answered = 0;
  /** Number of these reads that it had to leave to the shards. */
  left = 0;
}

/** Counts the lines of the audit log. */
export class AuditMeter {
  lines = 0;
  /** Number of lines that could not be written. */
  dropped = 0;
}

export class Recorder {
  readonly queryLog = new LogMeter();
  readonly audit = new AuditMeter();
  readonly localReads = new LocalReadMeter();
  readonly answerCache = new CacheMeter();
  readonly expansionCache = new CacheMeter();
  readonly embeddingCache = new CacheMeter();
  readonly embeddings: EmbeddingMeters = { query: new EmbeddingMeter(), document: new EmbeddingMeter() };
  readonly queries = new DurationHistogram(PHASE_BOUNDS);
  readonly phases = Object.fromEntries(
    QUERY_PHASES.map((phase) => [phase, new DurationHistogram(PHASE_BOUNDS)]),
  ) as Record<QueryPhase, DurationHistogram>;
  /** How long it took to load an index that a request needed but found unloaded. */
  readonly openings = new DurationHistogram(PHASE_BOUNDS);
  readonly documents: Readonly<Record<DocumentSource, DocumentMeter>> = {
    batch: { accepted: 0, rejected: 0, bytes: 0 },
    import: { accepted: 0, rejected: 0, bytes: 0 },
    single: { accepted: 0, rejected: 0, bytes: 0 },
    feed: { accepted: 0, rejected: 0, bytes: 0 },
  };
  /** Number of finished data source runs, by status. */
  readonly feedRuns = new Map<string, number>();
  /**
   * Number of reads that this thread sent directly to each shard, by shard number. The shard pool counts the
   * reads sent by the owner thread.
   */
  readonly shardReads = new Map<number, number>();
  slowQueries = 0;
  understoodQueries = 0;
  logLinesDropped = 0;
  requestsInFlight = 0;
  readonly #requests = new Map<string, Map<string, RequestMeter>>();

  shardRead(shard: number): void {
    this.shardReads.set(shard, (this.shardReads.get(shard) ?? 0) + 1);
  }

  logLineDropped(): void {
    this.logLinesDropped++;
  }

  requestStarted(): void {
    this.requestsInFlight++;
  }

  /** Counts a finished request. `route` is the template in the route table, never the actual path. */
  requestFinished(method: string, route: string, status: number, ms: number): void {
    this.requestsInFlight--;
    const meter = this.#requests.get(route)?.get(method) ?? this.#meter(method, route);
    meter.byStatus.set(status, (meter.byStatus.get(status) ?? 0) + 1);
    meter.durations.observe(ms / 1000);
  }

  /** Counts an answered query. Its trace must have been stopped. */
  queryAnswered(trace: QueryTrace): void {
    this.queries.observe(trace.totalMs / 1000);
    if (trace.understood) this.understoodQueries++;
    for (const phase of QUERY_PHASES)
      if (phase !== "open" || trace.phaseMs(phase) > 0)
        this.phases[phase].observe(trace.phaseMs(phase) / 1000);
  }

  documentsTaken(source: DocumentSource, accepted: number, rejected: number): void {
    const meter = this.documents[source];
    meter.accepted += accepted;
    meter.rejected += rejected;
  }

  /** Counts bytes of documents received; compressed bodies count after decompression. */
  documentBytes(source: DocumentSource, bytes: number): void {
    this.documents[source].bytes += bytes;
  }

  feedRunEnded(status: string): void {
    this.feedRuns.set(status, (this.feedRuns.get(status) ?? 0) + 1);
  }

  /** A copy of all counts so far, in a form that can be sent to another thread (recorder-values.ts). */
  values() {
    const { queries, openings, slowQueries, understoodQueries, logLinesDropped, requestsInFlight } = this;
    return {
      /** How long this thread's event loop has been active since the thread started, in seconds. */
      activeSeconds: performance.eventLoopUtilization().active / 1000,
      queryLog: { ...this.queryLog },
      audit: { ...this.audit },
      localReads: { ...this.localReads },
      answerCache: { ...this.answerCache },
      expansionCache: { ...this.expansionCache },
      embeddingCache: { ...this.embeddingCache },
      embeddings: mapped(this.embeddings, (meter) => ({ ...meter, durations: meter.durations.values() })),
      queries: queries.values(),
      phases: mapped(this.phases, (histogram) => histogram.values()),
      openings: openings.values(),
      documents: mapped(this.documents, (meter) => ({ ...meter })),
      feedRuns: new Map(this.feedRuns),
      shardReads: new Map(this.shardReads),
      slowQueries,
      understoodQueries,
      logLinesDropped,
      requestsInFlight,
      /** By route template and method. */
      requests: mappedValues(this.#requests, (byMethod) =>
        mappedValues(byMethod, ({ byStatus, durations }) => ({
          byStatus: new Map(byStatus),
          durations: durations.values(),
        })),
      ),
    };
  }

  #meter(given: string, route: string): RequestMeter {
    const method = METHODS.has(given) ? given : "other";
    let byMethod = this.#requests.get(route);
    if (byMethod === undefined) {
      byMethod = new Map();
      this.#requests.set(route, byMethod);
    }
    let meter = byMethod.get(method);
    if (meter === undefined) {
      meter = { byStatus: new Map(), durations: new DurationHistogram(REQUEST_BOUNDS) };
      byMethod.set(method, meter);
    }
    return meter;
  }
}

function mapped<K extends string, T, U>(record: Readonly<Record<K, T>>, to: (value: T) => U): Record<K, U> {
  return Object.fromEntries(Object.entries<T>(record).map(([name, value]) => [name, to(value)])) as Record<
    K,
    U
  >;
}

function mappedValues<K, T, U>(map: ReadonlyMap<K, T>, to: (value: T) => U): Map<K, U> {
  return new Map(Array.from(map, ([key, value]) => [key, to(value)]));
}
