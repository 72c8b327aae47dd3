// Simulates the server on a machine with any number of cores as a queueing model. A query visits its
// front-end, then all its shards at once, then its front-end again. A thread handles one query at a time and
// needs a core to do so. Queries arrive as a Poisson process. Helper threads also use a core for each query,
// but no query waits for them.

import { type Latencies, summarise } from "../load/drive.js";
import type { Random } from "../random.js";

export interface Machine {
  readonly cores: number;
  readonly frontEnds: number;
  readonly shards: number;
}

/** Mean CPU seconds per query. */
export interface Costs {
  readonly frontEnd: number;
  /** CPU seconds at each shard; 0 for queries that visit no shard. */
  readonly shard: number;
  readonly beside: number;
}

/** A part of a query's work that one thread does without interruption. */
interface Piece {
  readonly query: Query;
  readonly seconds: number;
  /** The query's next step; undefined if the query does not wait for this piece. */
  readonly next?: (query: Query) => void;
}

interface Query {
  readonly arrived: number;
  /**
   * Cost relative to the mean. All pieces of a query share it: a query with many results has many in every
   * shard.
   */
  readonly weight: number;
  readonly frontEnd: Thread;
  unanswered: number;
}

interface Thread {
  readonly waiting: Piece[];
  /** True if the thread is working or waiting for a core. */
  isEngaged: boolean;
}

interface Running {
  readonly thread: Thread;
  readonly piece: Piece;
  readonly ends: number;
}

/**
 * Returns the maximum queries per second that a machine's threads and cores can handle, and the bottleneck.
 */
export function capacity(
  { cores, frontEnds, shards }: Machine,
  { frontEnd, shard, beside }: Costs,
): { readonly perSecond: number; readonly limit: "cores" | "front-ends" | "shards" } {
  const limits = [
    { limit: "cores", perSecond: cores / (frontEnd + shard * shards + beside) },
    { limit: "front-ends", perSecond: frontEnds / frontEnd },
    { limit: "shards", perSecond: shard === 0 ? Number.POSITIVE_INFINITY : 1 / shard },
  ] as const;
  return limits.reduce((least, one) => (one.perSecond < least.perSecond ? one : least));
}

/**
 * Simulates `queries` queries with exponentially distributed weights. Returns their latencies in seconds,
 * ignoring the first tenth of the queries. The arrival rate must be below the capacity.
 */
export function simulate(
  machine: Machine,
  costs: Costs,
  perSecond: number,
  queries: number,
  random: Random,
): Latencies {
  const newThread = (): Thread => ({ waiting: [], isEngaged: false });
  const frontEnds = Array.from({ length: machine.frontEnds }, newThread);
  const shards = costs.shard === 0 ? [] : Array.from({ length: machine.shards }, newThread);
  const exponential = (mean: number): number => -mean * Math.log(1 - random.next());
  const latencies: number[] = [];
  let running: Running[] = [];
  /** Threads waiting for a core. */
  const ready: Thread[] = [];
  let now = 0;

  const give = (to: Thread, piece: Piece): void => {
    to.waiting.push(piece);
    if (to.isEngaged) return;
    to.isEngaged = true;
    ready.push(to);
  };
  const answer = (query: Query): void => {
    give(newThread(), { query, seconds: costs.beside * query.weight });
    latencies.push(now - query.arrived);
  };
  const merge = (query: Query): void => {
    query.unanswered--;
    if (query.unanswered > 0) return;
    give(query.frontEnd, { query, seconds: (costs.frontEnd / 2) * query.weight, next: answer });
  };
  const scatter = (query: Query): void => {
    query.unanswered = shards.length;
    for (const shard of shards) give(shard, { query, seconds: costs.shard * query.weight, next: merge });
  };
  const arrive = (): void => {
    const query = { arrived: now, weight: exponential(1), frontEnd: random.pick(frontEnds), unanswered: 0 };
    if (shards.length === 0)
      give(query.frontEnd, { query, seconds: costs.frontEnd * query.weight, next: answer });
    else give(query.frontEnd, { query, seconds: (costs.frontEnd / 2) * query.weight, next: scatter });
  };

  let arrives = exponential(1 / perSecond);
  for (let arrived = 0; arrived < queries || running.length > 0; ) {
    const first = running.reduce<Running | null>(
      (least, one) => (least && least.ends <= one.ends ? least : one),
      null,
    );
    if (arrived < queries && (first === null || arrives < first.ends)) {
      now = arrives;
      arrives += exponential(1 / perSecond);
      arrived++;
      arrive();
    } else if (first !== null) {
      now = first.ends;
      running = running.filter((one) => one !== first);
      first.thread.isEngaged = first.thread.waiting.length > 0;
      if (first.thread.isEngaged) ready.push(first.thread);
      first.piece.next?.(first.piece.query);
    }
    while (ready.length > 0 && running.length < machine.cores) {
      const thread = ready.shift()!;
      const piece = thread.waiting.shift()!;
      running.push({ thread, piece, ends: now + piece.seconds });
    }
  }
  return summarise(latencies.slice(queries / 10));
}
