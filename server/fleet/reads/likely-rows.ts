// Selects the rows whose documents each shard sends along with its search result, before it is known which
// rows are on the page.
import type { SearchProgram } from "../../../engine-wasm/host/programs/search-program.js";
import type { PageWanted } from "../shard-reader.js";

/**
 * If a shard (of several) would send more documents than this, it sends none. They are fetched once the
 * page's rows are known.
 */
const LIKELY_ROWS_MAX = 32;
/**
 * The page's rows are distributed over the shards by hash. A shard rarely has more of them than its equal
 * share plus this number.
 */
const SHARE_SLACK_ROWS = 2;

/** Says which rows of a program's result the page will show, and which parts of their documents. */
export interface PageOf {
  page(program: SearchProgram): PageWanted;
}

/** Returns the rows whose documents each shard sends, of the shard's own rows. */
export function likelyRows(page: PageWanted, shards: number): PageWanted {
  if (shards === 1) return page;
  const { offset, count, options } = page;
  // With highlighting there is no slack: highlighting documents that turn out not to be on the page costs
  // more than a second request.
  const slack = options.highlight === undefined ? SHARE_SLACK_ROWS : 0;
  const first = Math.max(0, Math.floor(offset / shards) - slack);
  const end = Math.min(offset + count, Math.ceil((offset + count) / shards) + slack);
  const isEmpty = count === 0 || end - first > LIKELY_ROWS_MAX;
  return { offset: first, count: isEmpty ? 0 : end - first, options };
}
