// Waits until an index has no background work left, so that later measurements are not disturbed.

import type { ApiClient } from "../../server/cli/api.js";

const SECONDS_MAX = 300;
const PAUSE_MS = 100;
/** Time (ms) after which idle threads have collected their garbage. */
const COLLECTED_MS = 5_000;

interface Stats {
  readonly merging?: boolean;
  readonly maintenance_due?: boolean;
  readonly shards: number;
  readonly embedder?: { readonly state: string; readonly pending: number };
}

export async function statsOf(client: ApiClient, index: string): Promise<Stats> {
  return ((await client.json("GET", `/v1/indexes/${index}/stats`)) as { data: Stats }).data;
}

/**
 * Waits until no shard is merging or about to merge, and returns how many seconds that took. Then waits a few
 * seconds longer, so that garbage has been collected too. Returns null if merging takes too long or the
 * statistics do not report it.
 */
export async function settle(client: ApiClient, index: string): Promise<number | null> {
  const seconds = await merged(client, index);
  if (seconds !== null) await new Promise((resolve) => setTimeout(resolve, COLLECTED_MS));
  return seconds;
}

/** Like `settle`, without the extra wait. */
export async function merged(client: ApiClient, index: string): Promise<number | null> {
  const started = performance.now();
  for (;;) {
    const { merging, maintenance_due: due = false } = await statsOf(client, index);
    const seconds = (performance.now() - started) / 1000;
    if (merging === false && !due) return seconds;
    if (merging === undefined || seconds > SECONDS_MAX) return null;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** Waits, at most a few minutes, until every document has its vector and nothing is merging. */
export async function embedded(client: ApiClient, index: string): Promise<void> {
  for (const started = performance.now(); performance.now() - started < SECONDS_MAX * 1000; ) {
    const { embedder, merging, maintenance_due: due = false } = await statsOf(client, index);
    const made = embedder === undefined || embedder.state === "none";
    if (merging !== true && !due && (made || (embedder.state === "ready" && embedder.pending === 0))) return;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
