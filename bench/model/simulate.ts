// A queueing model of the server on a machine of any number of cores. A query takes its front-end, then every shard that it
// asks at once, then its front-end again; a thread takes one after the other, and needs a core for it. Queries arrive as a
// Poisson process. What its threads' helpers do beside a query takes a core, too, but nobody waits for it.

import { type Latencies, summarise } from "../load/drive.js";
import type { Random } from "../random.js";

export interface Machine {
  readonly cores: number;
  readonly frontEnds: number;
  readonly shards: number;
}

/** CPU seconds of a query, means. */
export interface Costs {
  readonly frontEnd: number;
  /** At each shard; 0 for queries that ask none. */
  readonly shard: number;
  readonly beside: number;
}

/** A share of a query's work, done by one thread in one go. */
interface Piece {
  readonly query: Query;
  readonly seconds: number;
  /** Who goes on with the query; undefined where nobody waits. */
  readonly next?: (query: Query) => void;
}

interface Query {
  readonly arrived: number;
  /** What it costs as a multiple of the mean, for all of its pieces: a query that finds much does so in every shard. */
  readonly weight: number;
  readonly frontEnd: Thread;
  unanswered: number;
}

interface Thread {
  readonly waiting: Piece[];
  /** It works, or waits for a core. */
  isEngaged: boolean;
}

interface Running {
  readonly thread: Thread;
  readonly piece: Piece;
  readonly ends: number;
}

/** Queries a second that a machine's threads and cores can do at most, and what is then fully used. */
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
 * Seconds from arrival to answer of so many queries, with exponential weights; the first tenth does not count. Arrivals a second
 * must be fewer than the capacity.
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
  /** Threads that wait for a core. */
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
