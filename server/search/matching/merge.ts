// Merges the shards' answers: puts the rows into one order and adds up the counts. Facets are merged in
// facets.ts. The order must equal the engine's (SearchRows.compare). Pure functions.

import type { SearchResult } from "../../../engine-wasm/host/programs/search-result.js";
import { finished } from "../../../engine-wasm/host/runtime/steps.js";
import { inSlices, type OwnSlices } from "../../fleet/threads/tenant-slices.js";

/** Rows in order, from all shards: one array per property, and no object per row. */
export class RankedRows {
  readonly shards: number[];
  readonly seqs: number[];
  readonly textMatches: number[];
  readonly bonuses: number[];
  /** See `isMatched` and the functions below it. */
  readonly flags: number[];

  /** Has room for `count` rows, which the caller must set. */
  constructor(count = 0) {
    this.shards = new Array(count);
    this.seqs = new Array(count);
    this.textMatches = new Array(count);
    this.bonuses = new Array(count);
    this.flags = new Array(count);
  }

  get length(): number {
    return this.seqs.length;
  }

  /** Returns rows [start, end). */
  slice(start: number, end: number): RankedRows {
    const part = new RankedRows();
    for (let i = start; i < Math.min(end, this.length); i++) part.addFrom(this, i);
    return part;
  }

  /** Returns these rows, followed by `others`. */
  concat(others: RankedRows): RankedRows {
    const all = this.slice(0, this.length);
    for (let i = 0; i < others.length; i++) all.addFrom(others, i);
    return all;
  }

  addFrom({ shards, seqs, textMatches, bonuses, flags }: RankedRows, i: number): void {
    this.add(shards[i]!, seqs[i]!, textMatches[i]!, bonuses[i]!, flags[i]!);
  }

  add(shard: number, seq: number, textMatch: number, bonus: number, flags: number): void {
    this.shards.push(shard);
    this.seqs.push(seq);
    this.textMatches.push(textMatch);
    this.bonuses.push(bonus);
    this.flags.push(flags);
  }
}

export interface MergedResult {
  readonly found: number;
  readonly rows: RankedRows;
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

/** Merges the shards' results, which must be in shard order. */
export function mergeResults(results: readonly SearchResult[], window: MergeWindow): MergedResult {
  return results.length === 1 ? onlyResult(results[0]!, window) : finished(mergingOfResults(results, window));
}

/** Like `mergeResults`, but several results are merged in time slices: a deep page skips many rows. */
export function mergedInSlices(
  results: readonly SearchResult[],
  window: MergeWindow,
  slices: OwnSlices,
): MergedResult | Promise<MergedResult> {
  return results.length === 1
    ? onlyResult(results[0]!, window)
    : inSlices(mergingOfResults(results, window), slices);
}

/** The rows of a single shard are already in order. */
function onlyResult(
  { found, rows, applied, pinsApplied }: SearchResult,
  { offset, count }: MergeWindow,
): MergedResult {
  const length = Math.max(0, Math.min(count, rows.length - offset));
  const ranked = new RankedRows(length);
  for (let i = 0; i < length; i++) {
    ranked.shards[i] = 0;
    ranked.seqs[i] = rows.seq(offset + i);
    ranked.textMatches[i] = rows.textMatch(offset + i);
    ranked.bonuses[i] = rows.bonus(offset + i);
    ranked.flags[i] = rows.flags(offset + i);
  }
  return { found, rows: ranked, applied, pinsApplied };
}

function* mergingOfResults(
  results: readonly SearchResult[],
  window: MergeWindow,
): Generator<void, MergedResult> {
  const ranked = new RankedRows();
  yield* mergingOfRows(results, window, (shard, row) => {
    const { rows } = results[shard]!;
    ranked.add(shard, rows.seq(row), rows.textMatch(row), rows.bonus(row), rows.flags(row));
  });
  let found = 0;
  let pinsApplied = false;
  for (const result of results) {
    found += result.found;
    pinsApplied ||= result.pinsApplied;
  }
  return { found, rows: ranked, applied: appliedIn(results), pinsApplied };
}

function appliedIn(results: readonly SearchResult[]): readonly boolean[] {
  const applied = results[0]?.applied ?? [];
  if (applied.length === 0) return applied;
  return applied.map((_, i) => results.some((result) => result.applied[i] === true));
}

/** Calls `take` for each row in the requested window, in order, with its index in the shard's result. */
export function* mergingOfRows(
  results: readonly SearchResult[],
  { offset, count }: MergeWindow,
  take: (shard: number, row: number) => void,
): Generator<void, void> {
  if (results.length === 1) {
    const { length } = results[0]!.rows; // a single shard's rows are already in order
    for (let row = offset; row < Math.min(offset + count, length); row++) take(0, row);
    return;
  }
  const next = results.map(() => 0);
  for (let rank = 0; rank < offset + count; rank++) {
    if (rank % RANKS_A_STEP === RANKS_A_STEP - 1) yield;
    let best = -1;
    for (let shard = 0; shard < results.length; shard++) {
      const { rows } = results[shard]!;
      const row = next[shard]!;
      if (row === rows.length) continue;
      if (best === -1 || rows.compare(row, results[best]!.rows, next[best]!) < 0) best = shard;
    }
    if (best === -1) return;
    const row = next[best]!++;
    if (rank >= offset) take(best, row);
  }
}
