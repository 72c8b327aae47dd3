// Chooses the neighbouring segments to merge next. The choice is a pure function of their sizes. Segments
// fall into tiers by size. A run of neighbours in the same or lower tiers is merged, smallest tier first, if
// the run is long enough and its largest segment is not much larger than all others together. Each merge
// therefore moves a document into a much larger segment, so each document is copied only a logarithmic number
// of times.

const MIB = 1024 * 1024;
const TIER_BASE_BYTES = MIB;
const TIER_FACTOR = 4;
const RUN_MAX = 12;
/**
 * A merged segment of up to MERGED_WHOLE_BYTES is always allowed, even if it contains the whole index. No
 * merged segment exceeds MERGED_BYTES_MAX.
 */
const MERGED_WHOLE_BYTES = 32 * MIB;
const MERGED_BYTES_MAX = 512 * MIB;
const DELETED_SHARE_MAX = 0.3;

export interface MergeCandidate {
  bytes: number;
  rows: number;
  deleted: number;
  /** True if the segment is waiting to be re-indexed. It is not merged before that. */
  stale: boolean;
}

export interface MergeChoice {
  first: number;
  count: number;
}

/** Estimated size without the deleted rows, based on the share of live rows. */
function liveBytes({ bytes, rows, deleted }: MergeCandidate): number {
  return rows === 0 ? 0 : bytes * (1 - deleted / rows);
}

function tierOf(candidate: MergeCandidate): number {
  let tier = 0;
  for (let limit = TIER_BASE_BYTES; liveBytes(candidate) >= limit; limit *= TIER_FACTOR) tier++;
  return tier;
}

function limitOf(candidates: readonly MergeCandidate[], { shareMax }: MergeEagerness): number {
  const bytes = candidates.reduce((sum, candidate) => sum + liveBytes(candidate), 0);
  return Math.min(Math.max(bytes * shareMax, MERGED_WHOLE_BYTES), MERGED_BYTES_MAX);
}

/**
 * Returns the length of the run's longest prefix whose merged segment stays within the limits; 0 if its first
 * segment alone is too large.
 */
function fitting(
  candidates: readonly MergeCandidate[],
  first: number,
  end: number,
  mergedBytesMax: number,
): number {
  let bytes = 0;
  let count = 0;
  while (first + count < end && count < RUN_MAX) {
    bytes += liveBytes(candidates[first + count]!);
    if (bytes > mergedBytesMax) break;
    count++;
  }
  return count;
}

/** When a run of neighbours is worth merging. */
export interface MergeEagerness {
  /** Minimum length of a run, at least 2. */
  runMin: number;
  /** Minimum total size of the run's other segments, as a share of its largest segment's size. */
  othersMin: number;
  /**
   * Maximum size of the merged segment, as a share of the total size of all segments. During a merge, both
   * its input and its output are in memory.
   */
  shareMax: number;
}

/** Returns the next merge, or null. May choose a single segment if many of its rows are deleted. */
export function chooseMerge(
  candidates: readonly MergeCandidate[],
  eagerness: MergeEagerness,
): MergeChoice | null {
  const tiers = candidates.map((candidate) =>
    candidate.stale ? Number.POSITIVE_INFINITY : tierOf(candidate),
  );
  const levels = [...new Set(tiers.filter(Number.isFinite))].sort((a, b) => a - b);
  for (const level of levels) {
    const run = runUpTo(candidates, tiers, level, eagerness);
    if (run !== null) return run;
  }
  const first = candidates.findIndex(
    ({ stale, rows, deleted }) => !stale && deleted > 0 && deleted >= rows * DELETED_SHARE_MAX,
  );
  return first < 0 ? null : { first, count: 1 };
}

/** Returns the first run of neighbours in tiers <= level that is worth merging. */
function runUpTo(
  candidates: readonly MergeCandidate[],
  tiers: readonly number[],
  level: number,
  eagerness: MergeEagerness,
): MergeChoice | null {
  const mergedBytesMax = limitOf(candidates, eagerness);
  let first = 0;
  while (first < tiers.length) {
    let end = first;
    while (end < tiers.length && tiers[end]! <= level) end++;
    for (; end - first >= eagerness.runMin; first++) {
      const count = fitting(candidates, first, end, mergedBytesMax);
      if (worthwhile(candidates.slice(first, first + count), eagerness)) return { first, count };
    }
    first = Math.max(first, end) + 1;
  }
  return null;
}

function worthwhile(run: readonly MergeCandidate[], { runMin, othersMin }: MergeEagerness): boolean {
  if (run.length < runMin) return false;
  const sizes = run.map(liveBytes);
  const largest = Math.max(...sizes);
  return sizes.reduce((sum, size) => sum + size, 0) - largest >= largest * othersMin;
}
