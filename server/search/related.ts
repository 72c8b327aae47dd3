// Related documents for a query that found little: documents with some of its words, under the same filters and rules,
// which are not among the results. `found` and facets do not count them.
import type { SearchWord } from "../../engine-wasm/host/programs/search-program.js";
import type { FetchedDocument, FetchOptions } from "../../shards/protocol/fetch.js";
import type { ReadView } from "../cluster/read-view.js";
import type { ExpandedWords } from "../matching/expand.js";
import { type Matched, matches } from "../matching/match.js";
import { mergeResults, type Winner } from "../matching/merge.js";
import { FEW_RESULTS, programOf, type QueryPlan } from "../matching/plan.js";

const RELATED_MAX = 5;
/** The most frequent words are left out until at most this many documents have one of the others. */
const DOCUMENTS_MAX = 20_000;

export interface Related {
  readonly winners: readonly Winner[];
  /** Documents that came with the winners, by seq. */
  readonly documents: ReadonlyMap<number, FetchedDocument>;
}

const NOTHING_RELATED: Related = { winners: [], documents: new Map() };

/** There are no related documents when no hits are shown, when enough was found, or when the query was relaxed already. */
export async function relatedWinners(
  plan: QueryPlan,
  matched: Matched,
  readView: ReadView,
  perPage: number,
  options: FetchOptions,
): Promise<Related> {
  const { words, program, results } = matched;
  if (words === null || program.mode === "any" || words.words.length < 2) return NOTHING_RELATED;
  if (perPage === 0 || matches(matched) >= FEW_RESULTS) return NOTHING_RELATED;
  const known = results.flatMap((result) => result.rows.map((row) => row.seq));
  const count = known.length + RELATED_MAX;
  const relaxed = {
    ...programOf(plan, "any", withoutFrequent(words), words.averageLengths),
    k: count,
    sort: [{ by: "relevance", descending: true } as const],
    facets: [],
  };
  const found = await readView.searchPage(relaxed, { offset: 0, count, options });
  const { winners } = mergeResults(found.results, relaxed.sort, { offset: 0, count });
  const related = winners.filter((one) => !one.pinned && !known.includes(one.seq)).slice(0, RELATED_MAX);
  return { winners: related, documents: found.documents };
}

/** The words without the most frequent ones. At least the rarest word remains. */
function withoutFrequent({ words, frequencies }: ExpandedWords): SearchWord[] {
  const order = words
    .map((_, i) => i)
    .sort((a, b) => (frequencies[a] as number) - (frequencies[b] as number));
  let documents = 0;
  const kept = new Set<number>();
  for (const i of order) {
    documents += frequencies[i] as number;
    if (kept.size > 0 && documents > DOCUMENTS_MAX) break;
    kept.add(i);
  }
  return words.map((word, i) => (kept.has(i) ? word : { ...word, alternatives: [] }));
}
