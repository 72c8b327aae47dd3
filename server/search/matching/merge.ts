// Merges the shards' answers: puts the rows into one order and adds up the counts. Facets are merged in
// facets.ts. The order must equal the engine's: by each sort key in turn, with missing values last in both
// directions, then by descending sequence number. Pure functions.

import type { SortKey } from "../../../engine-wasm/host/programs/search-program.js";
import type { SearchResult, SearchRow, SortValue } from "../../../engine-wasm/host/programs/search-result.js";
import { finished } from "../../../engine-wasm/host/runtime/steps.js";

/** A row on the page, and the shard that stores its document. */
export interface Winner {
  readonly shard: number;
  readonly seq: number;
  readonly textMatch: number;
  readonly bonus: number;
  /** This flag and the following ones are as in `SearchRow`. */
  readonly matched: boolean;
  readonly neighbour: boolean;
  readonly hasWord: boolean;
  readonly pinned: boolean;
}

export interface MergedResult {
  readonly found: number;
  readonly winners: readonly Winner[];
  /** For each rule in the program, true if it changed any shard's result. */
  readonly applied: readonly boolean[];
  /** True if a row in the result is pinned. */
  readonly pinsApplied: boolean;
}

export interface MergeWindow {
  /** Number of rows to skip in the global order. */
  readonly offset: number;
  /** Number of rows wanted after `offset`. */
  readonly count: number;
}

/** Number of merged rows after which the merge yields. */
const RANKS_A_STEP = 1_000;

/**
 * Merges the shards' results. `results` must be in shard order, and the program must have sorted by `keys`.
 */
export function mergeResults(
  results: readonly SearchResult[],
  keys: readonly SortKey[],
  window: MergeWindow,
): MergedResult {
  return finished(mergingOfResults(results, keys, window));
}

/** Like `mergeResults`, but in small steps, because reaching a deep page means skipping many rows. */
export function* mergingOfResults(
  results: readonly SearchResult[],
  keys: readonly SortKey[],
  window: MergeWindow,
): Generator<void, MergedResult> {
  const winners: Winner[] = [];
  yield* mergingOfRows(results, keys, window, (shard, row) => winners.push(winnerOf(shard, row)));
  return {
    found: results.reduce((sum, result) => sum + result.found, 0),
    winners,
    applied: (results[0]?.applied ?? []).map((_, i) => results.some((result) => result.applied[i] === true)),
    pinsApplied: results.some((result) => result.pinsApplied),
  };
}

/** Calls `take` for each row in the requested window, in order. */
export function* mergingOfRows(
  results: readonly SearchResult[],
  keys: readonly SortKey[],
  { offset, count }: MergeWindow,
  take: (shard: number, row: SearchRow) => void,
): Generator<void, void> {
  if (results.length === 1) {
    const { rows } = results[0]!; // a single shard's rows are already in order
    for (let rank = offset; rank < offset + count; rank++) {
      if (rank % RANKS_A_STEP === RANKS_A_STEP - 1) yield;
      const row = rows.at(rank);
      if (row === undefined) return;
      take(0, row);
    }
    return;
  }
  const next = results.map(() => 0);
  const heads = results.map(({ rows }) => rows.at(0));
  for (let rank = 0; rank < offset + count; rank++) {
    if (rank % RANKS_A_STEP === RANKS_A_STEP - 1) yield;
    let best: SearchRow | undefined;
    let bestShard = -1;
    for (let shard = 0; shard < heads.length; shard++) {
      const row = heads[shard];
      if (row === undefined || (best !== undefined && compareRows(row, best, keys) >= 0)) continue;
      best = row;
      bestShard = shard;
    }
    if (best === undefined) return;
    heads[bestShard] = results[bestShard]!.rows.at(++next[bestShard]!);
    if (rank >= offset) take(bestShard, best);
  }
}

function winnerOf(shard: number, row: SearchRow): Winner {
  const { seq, textMatch, bonus, matched, neighbour, hasWord, pinned } = row;
  return { shard, seq, textMatch, bonus, matched, neighbour, hasWord, pinned };
}

/** Negative if `a` comes first. Never 0 for two different rows of one index. */
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
