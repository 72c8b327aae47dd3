// The frame of everything that answers a query: the shards are told that one is under way, it reads one view of the
// index, and it is answered anew when a document has gone from under it.
import { SkeinError } from "../errors.js";
import type { QueryTrace } from "../metrics/query-trace.js";
import type { Cluster } from "./cluster.js";
import type { ReadView } from "./read-view.js";

type Readable = Pick<Cluster, "readView" | "queries">;

/**
 * The answer of `work`, which says null when a shard no longer has a document of its view. The view is released when the
 * work ends. Throws SK-SE-503 when that happens to two views in a row.
 */
export async function reading<T>(
  cluster: Readable,
  uid: number,
  trace: QueryTrace | undefined,
  work: (readView: ReadView) => Promise<T | null>,
): Promise<T> {
  // A restarted shard knows only its newest state, so the query is answered a second time from that one.
  const answer = (await readOnce(cluster, uid, trace, work)) ?? (await readOnce(cluster, uid, trace, work));
  if (answer !== null) return answer;
  throw new SkeinError("SK-SE-503", "The index changed while it was read; retry in a moment.", {
    retryAfter: 1,
  });
}

async function readOnce<T>(
  cluster: Readable,
  uid: number,
  trace: QueryTrace | undefined,
  work: (readView: ReadView) => Promise<T | null>,
): Promise<T | null> {
  const readView = await cluster.readView(uid, trace);
  cluster.queries.begin();
  try {
    const answer = await work(readView);
    if (answer === null) readView.forget();
    return answer;
  } finally {
    cluster.queries.end();
    readView.release();
  }
}
