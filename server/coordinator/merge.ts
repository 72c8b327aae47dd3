// The answers of the shards -> one global answer: rows in one total order, summed counts, top facet values.
// Pure functions. The order here must be the engine's own: sort keys in turn, a missing value last in both
// directions, then the larger sequence number first.

import type { SortKey } from "../../engine-wasm/host/search-program.js";
import type {
  FacetCount,
  FacetValue,
  SearchResult,
  SearchRow,
  SortValue,
} from "../../engine-wasm/host/search-result.js";

/** A row of the page and where its document lives. */
export interface Winner {
  readonly shard: number;
  readonly seq: number;
  readonly textMatch: number;
  readonly bonus: number;
  /** It is here for its words; false: only because it is pinned. */
  readonly matched: boolean;
  readonly pinned: boolean;
}

export interface MergedResult {
  readonly found: number;
  readonly winners: readonly Winner[];
  /** In the order of the program's facets: count descending, then value ascending. */
  readonly facets: readonly (readonly FacetCount[])[];
  /** In the order of the program's rules: it changed the result of some shard. */
  readonly applied: readonly boolean[];
  /** A row of the result is pinned. */
  readonly pinsApplied: boolean;
}

export interface MergeWindow {
  /** Rows skipped in the global order. */
  readonly offset: number;
  /** Rows wanted after them. */
  readonly count: number;
  readonly facetValuesMax: number;
}

/** `results` by shard number, all answers to programs with these sort keys. */
export function mergeResults(
  results: readonly SearchResult[],
  keys: readonly SortKey[],
  window: MergeWindow,
): MergedResult {
  const facetCount = results[0]?.facets.length ?? 0;
  return {
    found: results.reduce((sum, result) => sum + result.found, 0),
    winners: mergeRows(results, keys, window),
    facets: Array.from({ length: facetCount }, (_, i) =>
      mergeFacet(
        results.map((result) => result.facets[i] ?? []),
        window.facetValuesMax,
      ),
    ),
    applied: (results[0]?.applied ?? []).map((_, i) => results.some((result) => result.applied[i] === true)),
    pinsApplied: results.some((result) => result.pinsApplied),
  };
}

function mergeRows(
  results: readonly SearchResult[],
  keys: readonly SortKey[],
  { offset, count }: MergeWindow,
): Winner[] {
  const next = results.map(() => 0);
  const winners: Winner[] = [];
  for (let rank = 0; rank < offset + count; rank++) {
    let best: SearchRow | undefined;
    let bestShard = -1;
    for (let shard = 0; shard < results.length; shard++) {
      const row = results[shard]?.rows[next[shard] as number];
      if (row === undefined || (best !== undefined && compareRows(row, best, keys) >= 0)) continue;
      best = row;
      bestShard = shard;
    }
    if (best === undefined) break;
    next[bestShard] = (next[bestShard] as number) + 1;
    const { seq, textMatch, bonus, matched, pinned } = best;
    if (rank >= offset) winners.push({ shard: bestShard, seq, textMatch, bonus, matched, pinned });
  }
  return winners;
}

/** Negative when `a` comes first. Never 0 for two different rows of an index. */
export function compareRows(a: SearchRow, b: SearchRow, keys: readonly SortKey[]): number {
  for (let i = 0; i < keys.length; i++) {
    const left = a.keys[i] ?? null;
    const right = b.keys[i] ?? null;
    if (left === null || right === null) {
      if (left !== right) return left === null ? 1 : -1;
      continue;
    }
    const order = compareValues(left, right);
    if (order !== 0) return keys[i]?.descending === true ? -order : order;
  }
  return b.seq - a.seq;
}

function compareValues(a: NonNullable<SortValue>, b: NonNullable<SortValue>): number {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sums counts by value; the first `max` by count, then value (strings by their UTF-8 bytes). */
export function mergeFacet(lists: readonly (readonly FacetCount[])[], max: number): FacetCount[] {
  if (lists.length === 1) return [...(lists[0] ?? [])].sort(compareCounts).slice(0, max);
  const sums = new Map<FacetValue, number>();
  for (const { value, count } of lists.flat()) sums.set(value, (sums.get(value) ?? 0) + count);
  const counts = Array.from(sums, ([value, count]) => ({ value, count }));
  return counts.sort(compareCounts).slice(0, max);
}

function compareCounts(a: FacetCount, b: FacetCount): number {
  if (a.count !== b.count) return b.count - a.count;
  if (typeof a.value === "string" && typeof b.value === "string") {
    return Buffer.compare(Buffer.from(a.value), Buffer.from(b.value));
  }
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}
