// Which documents a shard sends along with the rows of a page before it is known whose rows are on it.
import type { FetchOptions } from "../../../shards/protocol/fetch.js";

/** Rows of a search whose documents are wanted, and what of them. */
export interface PageWanted {
  readonly offset: number;
  readonly count: number;
  readonly options: FetchOptions;
}

/** Of more rows than this no shard sends documents before it is known who has the best rows. */
const LIKELY_ROWS_MAX = 32;
/** A shard rarely holds more winners than its share of the page plus these. */
const SHARE_SLACK_ROWS = 2;

/** The rows of one shard whose documents go with its answer. Documents are spread over the shards by hash. */
export function likelyRows(
  { offset, count, options }: PageWanted,
  shards: number,
): { offset: number; count: number } {
  if (shards === 1) return { offset, count };
  const slack = options.highlight === undefined ? SHARE_SLACK_ROWS : 0; // highlighting costs more than asking again
  const first = Math.max(0, Math.floor(offset / shards) - slack);
  const end = Math.min(offset + count, Math.ceil((offset + count) / shards) + slack);
  return { offset: first, count: count === 0 || end - first > LIKELY_ROWS_MAX ? 0 : end - first };
}
