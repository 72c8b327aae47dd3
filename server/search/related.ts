// Finds related documents for a query that found little. Documents that contain some of its words come first,
// then documents with the nearest vectors. The query's filters and rules apply, and its own results are
// excluded. Related documents do not count towards `found` or the facets.
import { ROW_NEIGHBOUR } from "../../engine-wasm/assembly/layout.js";
import type { SearchWord } from "../../engine-wasm/host/programs/search-program.js";
import { isMatched, isPinned } from "../../engine-wasm/host/programs/search-result.js";
import type { FetchOptions } from "../../shards/protocol/fetch.js";
import type { IndexSnapshot } from "../fleet/reads/index-snapshot.js";
import { run, settled, type Work } from "../ground/jobs/work.js";
import type { KnownDocuments } from "./fetch.js";
import type { ExpandedWords } from "./matching/expand.js";
import { type Matched, matches } from "./matching/match.js";
import { mergeResults, RankedRows } from "./matching/merge.js";
import { FEW_RESULTS, programOf, type QueryPlan } from "./matching/plan.js";
import type { PlacedDocument } from "./semantic/nearest.js";
import { nearEnough, type SemanticSearch } from "./semantic/semantic-search.js";
import type { ShownDocuments } from "./shown-documents.js";

const RELATED_MAX = 5;
/**
 * The most frequent words are dropped so that the remaining words together occur in at most this many
 * documents.
 */
const DOCUMENTS_MAX = 20_000;

export interface Related {
  readonly rows: RankedRows;
  readonly documents: KnownDocuments;
}

const NOTHING_RELATED: Related = { rows: new RankedRows(), documents: new Map() };

/**
 * Returns related documents, best first. Returns none if the query has no words, if the page has no room for
 * hits or if enough documents were found.
 */
export function relatedWinners(
  plan: QueryPlan,
  searched: SemanticSearch,
  snapshot: IndexSnapshot,
  perPage: number,
  shown: ShownDocuments,
): Related | Promise<Related> {
  return plan.text.words.length === 0 || perPage === 0 || matches(searched.matched) >= FEW_RESULTS
    ? NOTHING_RELATED
    : run(lookedFor(plan, searched, snapshot, shown.sentAlong(searched.matched.program)));
}

function* lookedFor(
  plan: QueryPlan,
  searched: SemanticSearch,
  snapshot: IndexSnapshot,
  options: FetchOptions,
): Work<Related> {
  const { matched } = searched;
  const known = new Set<number>();
  const found: PlacedDocument[] = [];
  for (const [shard, { rows }] of matched.results.entries()) {
    for (let row = 0; row < rows.length; row++) {
      const seq = rows.seq(row);
      known.add(seq);
      if (isMatched(rows.flags(row))) found.push({ shard, seq });
    }
  }
  const { rows, documents } = yield* wordedRows(plan, matched, known, snapshot, options);
  if (rows.length === RELATED_MAX) return { rows, documents };
  for (const [i, seq] of rows.seqs.entries()) {
    known.add(seq);
    found.push({ shard: rows.shards[i]!, seq });
  }
  for (const { shard, seq } of yield* nearEnough(searched, known.size + RELATED_MAX, found))
    if (rows.length < RELATED_MAX && !known.has(seq)) rows.add(shard, seq, 0, 0, ROW_NEIGHBOUR);
  return { rows, documents };
}

/**
 * Finds documents that contain some of the words. Returns none if the query was already relaxed or has only
 * one word.
 */
function* wordedRows(
  plan: QueryPlan,
  { words, program }: Matched,
  known: ReadonlySet<number>,
  snapshot: IndexSnapshot,
  options: FetchOptions,
): Work<Related> {
  if (words === null || program.mode !== "all" || words.words.length < 2)
    return { rows: new RankedRows(), documents: new Map() };
  const count = known.size + RELATED_MAX;
  const relaxed = {
    ...programOf(plan, "any", withoutFrequent(words), words.lengths),
    k: count,
    sort: [{ by: "relevance", descending: true } as const],
    facets: [],
  };
  const found = yield* settled(snapshot.searchPage(relaxed, { page: () => ({ offset: 0, count, options }) }));
  const { rows } = mergeResults(found.results, { offset: 0, count });
  const related = new RankedRows();
  for (let i = 0; i < rows.length && related.length < RELATED_MAX; i++)
    if (!isPinned(rows.flags[i]!) && !known.has(rows.seqs[i]!)) related.addFrom(rows, i);
  return { rows: related, documents: found.documents };
}

/** Drops the most frequent words. At least the rarest word remains. */
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
