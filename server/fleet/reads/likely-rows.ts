// Selects the rows whose documents a shard sends with its reply, before the page's rows are known.
import type { FetchOptions } from "../../../shards/protocol/fetch.js";

/** A range of search rows whose documents are wanted, and the fetch options. */
export interface PageWanted {
  readonly offset: number;
  readonly count: number;
  readonly options: FetchOptions;
}

/**
 * Applies with several shards: a shard that would send more documents than this sends none, and they are
 * fetched once the best rows are known.
 */
const LIKELY_ROWS_MAX = 32;
/** A shard rarely has more rows on the page than its proportional share plus this number. */
const SHARE_SLACK_ROWS = 2;

/**
 * Returns the range of one shard's rows whose documents are sent with its reply. Documents are distributed
 * over the shards by hash.
 */
export function likelyRows(
  { offset, count, options }: PageWanted,
  shards: number,
): { offset: number; count: number } {
  if (shards === 1) return { offset, count };
  // No slack with highlighting: highlighting documents that the page does not need costs more than a second
  // request.
  const slack = options.highlight === undefined ? SHARE_SLACK_ROWS : 0;
  const first = Math.max(0, Math.floor(offset / shards) - slack);
  const end = Math.min(offset + count, Math.ceil((offset + count) / shards) + slack);
  return { offset: first, count: count === 0 || end - first > LIKELY_ROWS_MAX ? 0 : end - first };
}
