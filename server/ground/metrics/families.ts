// The list of metrics: name, help, labels, and where the values come from. Plain data, without the metrics
// library. docs/OPERATIONS.md has the same list for operators, and a test compares the two.
import type { IndexStats } from "../../../shards/protocol/control.js";
import type { HistogramValues } from "./histogram.js";
import { QUERY_PHASES } from "./query-trace.js";
import type { IndexReading, Readings, ShardReading } from "./readings.js";
import { type DocumentSource, EMBEDDING_PURPOSES } from "./recorder.js";
import type { RecorderValues } from "./recorder-values.js";

type Labels = Readonly<Record<string, string | number>>;
type Samples<T> = readonly (readonly [labels: Labels, value: T])[];

export interface NumberFamily {
  readonly type: "counter" | "gauge";
  /** Name without the prefix that all metrics share. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  samples(recorder: RecorderValues, readings: Readings): Samples<number>;
}

export interface HistogramFamily {
  readonly type: "histogram";
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  samples(recorder: RecorderValues): Samples<HistogramValues>;
}

/**
 * Value of the labels index and tenant in the sample for all indexes that are not listed by name. Cannot be
 * an index name.
 */
export const OTHERS = "(others)";

const SOURCES: readonly DocumentSource[] = ["batch", "import", "single", "feed"];

export const HISTOGRAMS: readonly HistogramFamily[] = [
  {
    type: "histogram",
    name: "http_request_duration_seconds",
    help: "From the request's arrival to the handing over of its reply.",
    labels: ["method", "route"],
    samples: (recorder) =>
      requestsOf(recorder).map(({ method, route, durations }) => [{ method, route }, durations]),
  },
  {
    type: "histogram",
    name: "query_duration_seconds",
    help: "Answered queries, without HTTP: the sum of their phases.",
    labels: [],
    samples: (recorder) => [[{}, recorder.queries]],
  },
  {
    type: "histogram",
    name: "query_phase_duration_seconds",
    help: "Where answered queries spent their time.",
    labels: ["phase"],
    samples: (recorder) => QUERY_PHASES.map((phase) => [{ phase }, recorder.phases[phase]]),
  },
  {
    type: "histogram",
    name: "index_opening_duration_seconds",
    help: "How long it took to load an index.",
    labels: [],
    samples: (recorder) => [[{}, recorder.openings]],
  },
  {
    type: "histogram",
    name: "embedding_request_duration_seconds",
    help: "How long requests to endpoints that make vectors took.",
    labels: ["purpose"],
    samples: ({ embeddings }) =>
      EMBEDDING_PURPOSES.map((purpose) => [{ purpose }, embeddings[purpose].durations]),
  },
];

export const NUMBERS: readonly NumberFamily[] = [
  {
    type: "counter",
    name: "http_requests_total",
    help: "Requests by route template, method and status.",
    labels: ["method", "route", "status"],
    samples: (recorder) =>
      requestsOf(recorder).flatMap(({ method, route, byStatus }) =>
        Array.from(byStatus, ([status, count]) => [{ method, route, status }, count] as const),
      ),
  },
  {
    type: "gauge",
    name: "http_requests_in_flight",
    help: "Requests whose reply has not been handed over yet.",
    labels: [],
    samples: (recorder) => [[{}, recorder.requestsInFlight]],
  },
  {
    type: "gauge",
    name: "http_unsent_bytes",
    help: "Bytes of finished replies that their clients have not taken yet.",
    labels: [],
    samples: (_, { unsentBytes }) => [[{}, unsentBytes]],
  },
  {
    type: "counter",
    name: "slow_queries_total",
    help: "Queries that took at least slow_query_ms, answered or not.",
    labels: [],
    samples: (recorder) => [[{}, recorder.slowQueries]],
  },
  {
    type: "counter",
    name: "understood_queries_total",
    help: "Queries that were asked in other words than they were typed.",
    labels: [],
    samples: (recorder) => [[{}, recorder.understoodQueries]],
  },
  {
    type: "counter",
    name: "log_lines_dropped_total",
    help: "Log lines that could not be written.",
    labels: [],
    samples: (recorder) => [[{}, recorder.logLinesDropped]],
  },
  {
    type: "counter",
    name: "query_log_rows_total",
    help: "Searches and events that were taken for the query log.",
    labels: [],
    samples: (recorder) => [[{}, recorder.queryLog.rows]],
  },
  {
    type: "counter",
    name: "query_log_rows_dropped_total",
    help: "Searches that were not logged because the disk takes nothing.",
    labels: [],
    samples: (recorder) => [[{}, recorder.queryLog.dropped]],
  },
  {
    type: "counter",
    name: "audit_lines_total",
    help: "Lines of the audit log that were written.",
    labels: [],
    samples: ({ audit }) => [[{}, audit.lines]],
  },
  {
    type: "counter",
    name: "audit_lines_dropped_total",
    help: "Lines of the audit log that could not be written; the server's log has them.",
    labels: [],
    samples: ({ audit }) => [[{}, audit.dropped]],
  },
  {
    type: "counter",
    name: "local_reads_total",
    help: "Reads of small indexes that the HTTP thread answered in the shards' memories, or left to the shards.",
    labels: ["result"],
    samples: ({ localReads }) => [
      [{ result: "answered" }, localReads.answered],
      [{ result: "left" }, localReads.left],
    ],
  },
  {
    type: "counter",
    name: "cache_requests_total",
    help: "What caches were asked for and whether they had it.",
    labels: ["cache", "result"],
    samples: ({ answerCache, expansionCache, embeddingCache }) => [
      [{ cache: "answer", result: "hit" }, answerCache.hits],
      [{ cache: "answer", result: "miss" }, answerCache.misses],
      [{ cache: "expansion", result: "hit" }, expansionCache.hits],
      [{ cache: "expansion", result: "miss" }, expansionCache.misses],
      [{ cache: "embedding", result: "hit" }, embeddingCache.hits],
      [{ cache: "embedding", result: "miss" }, embeddingCache.misses],
    ],
  },
  {
    type: "counter",
    name: "embedding_requests_total",
    help: "Requests to endpoints that make vectors.",
    labels: ["purpose", "result"],
    samples: ({ embeddings }) =>
      EMBEDDING_PURPOSES.flatMap((purpose) => {
        const { requests, failures } = embeddings[purpose];
        return [
          [{ purpose, result: "ok" }, requests - failures] as const,
          [{ purpose, result: "error" }, failures] as const,
        ];
      }),
  },
  {
    type: "counter",
    name: "embedding_texts_total",
    help: "Texts whose vectors came from an endpoint.",
    labels: ["purpose"],
    samples: ({ embeddings }) =>
      EMBEDDING_PURPOSES.map((purpose) => [{ purpose }, embeddings[purpose].texts]),
  },
  {
    type: "counter",
    name: "embedding_documents_refused_total",
    help: "Documents whose text an endpoint refused while it took others, so that they have no vector.",
    labels: [],
    samples: ({ embeddings }) => [[{}, embeddings.document.refused]],
  },
  {
    type: "counter",
    name: "embedding_queries_missed_total",
    help: "Queries that ran without the vector of an endpoint because it was down or too slow.",
    labels: [],
    samples: ({ embeddings }) => [[{}, embeddings.query.missed]],
  },
  {
    type: "counter",
    name: "documents_total",
    help: "Documents written or refused, by the way they came in.",
    labels: ["source", "result"],
    samples: ({ documents }) =>
      SOURCES.flatMap((source) => [
        [{ source, result: "accepted" }, documents[source].accepted] as const,
        [{ source, result: "rejected" }, documents[source].rejected] as const,
      ]),
  },
  {
    type: "counter",
    name: "document_bytes_total",
    help: "Bytes of documents that arrived, decompressed.",
    labels: ["source"],
    samples: ({ documents }) => SOURCES.map((source) => [{ source }, documents[source].bytes]),
  },
  {
    type: "counter",
    name: "feed_runs_total",
    help: "Runs of data sources that are over, by status.",
    labels: ["status"],
    samples: ({ feedRuns }) => Array.from(feedRuns, ([status, count]) => [{ status }, count]),
  },
  {
    type: "gauge",
    name: "data_source_overdue",
    help: "1 for a data source that has not followed its feed for three periods of its schedule.",
    labels: ["index", "tenant", "source"],
    samples: (_, { overdueSources }) => overdueSources.map((labels) => [{ ...labels }, 1]),
  },
  {
    type: "counter",
    name: "http_thread_active_seconds_total",
    help: "Time in which the event loops of the threads that take requests were not waiting, all together.",
    labels: [],
    samples: ({ activeSeconds }) => [[{}, activeSeconds]],
  },
  ofShard("gauge", "shard_up", "1 when the shard answered this scrape in time.", ({ up }) => (up ? 1 : 0)),
  ofShard("gauge", "shard_answer_seconds", "How long a small question waited in this scrape.", (shard) =>
    shard.answerMs === null ? null : shard.answerMs / 1000,
  ),
  ofShard("counter", "shard_requests_total", "Messages sent to the thread.", ({ sent }) => sent),
  ofShard(
    "counter",
    "shard_active_seconds_total",
    "Time in which the thread's event loop was not waiting.",
    ({ activeSeconds }) => activeSeconds,
  ),
  ofShard("gauge", "shard_requests_inside", "Messages sent and not answered yet.", ({ inside }) => inside),
  ofShard("gauge", "shard_requests_waiting", "Messages that wait for a restart.", ({ waiting }) => waiting),
  ofShard("counter", "shard_refused_total", "Requests refused by a full queue.", ({ refused }) => refused),
  ofShard("counter", "shard_restarts_total", "Unexpected ends of the thread.", ({ restarts }) => restarts),
  {
    type: "gauge",
    name: "shard_requests_inside_max",
    help: "With this many messages inside, a shard refuses more.",
    labels: [],
    samples: (_, { shardRequestsMax }) => [[{}, shardRequestsMax]],
  },
  {
    type: "gauge",
    name: "indexes",
    help: "Indexes by status.",
    labels: ["status"],
    samples: (_, { statuses }) => Array.from(statuses, ([status, count]) => [{ status }, count]),
  },
  {
    type: "gauge",
    name: "indexes_loaded",
    help: "Indexes that are loaded or being loaded.",
    labels: [],
    samples: (_, { residency }) => [[{}, residency.loaded]],
  },
  {
    type: "counter",
    name: "index_openings_total",
    help: "Indexes loaded.",
    labels: [],
    samples: (_, { residency }) => [[{}, residency.openings]],
  },
  {
    type: "counter",
    name: "index_unloads_total",
    help: "Indexes unloaded because nobody used them or others needed their place.",
    labels: [],
    samples: (_, { residency }) => [[{}, residency.unloads]],
  },
  {
    type: "gauge",
    name: "index_documents",
    help: "Live documents.",
    labels: ["index", "tenant"],
    samples: (_, { indexes, otherDocuments }) => [
      ...indexes.map((index) => [namesOf(index), index.documents] as const),
      ...(otherDocuments === null ? [] : [[{ index: OTHERS, tenant: OTHERS }, otherDocuments] as const]),
    ],
  },
  ofIndex("index_generation", "Number of the last write that reads see.", ({ generation }) => generation),
  ofIndex("index_pending_writes", "Writes under way.", ({ pendingWrites }) => pendingWrites),
  ofStats("index_deleted_rows", "Rows of replaced or deleted documents.", (stats) => stats.deletedRows),
  ofStats("index_segments", "Segments in all shards.", (stats) => stats.segments),
  ofStats("index_stale_segments", "Segments still to be re-indexed.", (stats) => stats.staleSegments),
  ofStats("index_segment_bytes", "Bytes of the segments on disk.", (stats) => stats.segmentBytes),
  ofStats("index_memory_bytes", "Bytes of WebAssembly memory.", (stats) => stats.memoryBytes),
  ofStats(
    "index_queued_bytes",
    "Bytes of documents that wait for their commit.",
    (stats) => stats.queuedBytes,
  ),
  ofStats("index_merging", "1 while a merge or re-index is under way.", (stats) => (stats.merging ? 1 : 0)),
  {
    type: "gauge",
    name: "disk_free_bytes",
    help: "Free bytes on the file system of the data directory.",
    labels: [],
    samples: (_, { disk }) => (disk === null ? [] : [[{}, disk.freeBytes]]),
  },
  {
    type: "gauge",
    name: "disk_size_bytes",
    help: "Size of the file system of the data directory.",
    labels: [],
    samples: (_, { disk }) => (disk === null ? [] : [[{}, disk.sizeBytes]]),
  },
];

function requestsOf({ requests }: RecorderValues) {
  return Array.from(requests, ([route, byMethod]) =>
    Array.from(byMethod, ([method, meter]) => ({ method, route, ...meter })),
  ).flat();
}

function namesOf({ name, tenant }: IndexReading): Labels {
  return { index: name, tenant };
}

/** A metric with one sample for each shard whose value is known. */
function ofShard(
  type: NumberFamily["type"],
  name: string,
  help: string,
  value: (shard: ShardReading) => number | null,
): NumberFamily {
  const sample = (shard: ShardReading): Samples<number> => {
    const known = value(shard);
    return known === null ? [] : [[{ shard: shard.shard }, known]];
  };
  return { type, name, help, labels: ["shard"], samples: (_, { shards }) => shards.flatMap(sample) };
}

function ofIndex(name: string, help: string, value: (index: IndexReading) => number): NumberFamily {
  const samples: NumberFamily["samples"] = (_, { indexes }) =>
    indexes.map((index) => [namesOf(index), value(index)]);
  return { type: "gauge", name, help, labels: ["index", "tenant"], samples };
}

/**
 * A metric with one sample for each index, except indexes for which some shard has not reported: a partial
 * sum would look like a loss of documents.
 */
function ofStats(name: string, help: string, value: (stats: IndexStats) => number): NumberFamily {
  const samples: NumberFamily["samples"] = (_, { indexes }) =>
    indexes.flatMap((index) => (index.stats === null ? [] : [[namesOf(index), value(index.stats)] as const]));
  return { type: "gauge", name, help, labels: ["index", "tenant"], samples };
}
