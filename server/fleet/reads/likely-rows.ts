// Selects the documents that a shard sends along with its rows before the rows of the page are known.
import type { FetchOptions } from "../../../shards/protocol/fetch.js";

/** A range of search rows whose documents are wanted, and the fetch options. */
export interface PageWanted {
  readonly offset: number;
  readonly count: number;
  readonly options: FetchOptions;
}

/**
 * With several shards: above this many rows per shard no documents are sent; they are fetched once the best
 * rows are known.
 */
const LIKELY_ROWS_MAX = 32;
/** A shard rarely has more rows of the page than its proportional share plus this number. */
const SHARE_SLACK_ROWS = 2;

/**
 * Returns the rows of one shard whose documents are sent with its reply. Documents are spread over the shards
 * by hash.
 */
export function likelyRows(
  { offset, count, options }: PageWanted,
  shards: number,
): { offset: number; count: number } {
  if (shards === 1) return { offset, count };
  // No slack with highlighting: highlighting spare rows costs more than a second request.
  const slack = options.highlight === undefined ? SHARE_SLACK_ROWS : 0;
  const first = Math.max(0, Math.floor(offset / shards) - slack);
  const end = Math.min(offset + count, Math.ceil((offset + count) / shards) + slack);
  return { offset: first, count: count === 0 || end - first > LIKELY_ROWS_MAX ? 0 : end - first };
}
