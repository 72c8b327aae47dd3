// Finds related documents for a query that found little. Documents that contain some of its words come first,
// then documents with the nearest vectors. The query's filters and rules apply, and its own results are
// excluded. Related documents do not count towards `found` or the facets.
import type { SearchWord } from "../../engine-wasm/host/programs/search-program.js";
import type { FetchedDocument, FetchOptions } from "../../shards/protocol/fetch.js";
import type { IndexSnapshot } from "../fleet/reads/index-snapshot.js";
import { settled, type Work } from "../ground/jobs/work.js";
import type { ExpandedWords } from "./matching/expand.js";
import { type Matched, matches } from "./matching/match.js";
import { mergeResults, type Winner } from "./matching/merge.js";
import { FEW_RESULTS, programOf, type QueryPlan } from "./matching/plan.js";
import type { NearDocument, PlacedDocument } from "./semantic/nearest.js";
import { nearEnough, type SemanticSearch } from "./semantic/semantic-search.js";

const RELATED_MAX = 5;
/**
 * The most frequent words are dropped so that the remaining words together occur in at most this many
 * documents.
 */
const DOCUMENTS_MAX = 20_000;

export interface Related {
  readonly winners: readonly Winner[];
  /** Documents that the shards sent along with their rows, by sequence number. */
  readonly documents: ReadonlyMap<number, FetchedDocument>;
}

const NOTHING_RELATED: Related = { winners: [], documents: new Map() };

/**
 * Returns related documents, best first. Returns none if the query has no words, if the page has no room for
 * hits or if enough documents were found.
 */
export function* relatedWinners(
  plan: QueryPlan,
  searched: SemanticSearch,
  snapshot: IndexSnapshot,
  perPage: number,
  options: FetchOptions,
): Work<Related> {
  const { matched } = searched;
  if (plan.text.words.length === 0 || perPage === 0 || matches(matched) >= FEW_RESULTS)
    return NOTHING_RELATED;
  const known = new Set(matched.results.flatMap((result) => Array.from(result.rows, (row) => row.seq)));
  const worded = yield* wordedWinners(plan, matched, known, snapshot, options);
  if (worded.winners.length === RELATED_MAX) return worded;
  for (const { seq } of worded.winners) known.add(seq);
  const found = [...matchedDocuments(matched), ...worded.winners];
  const near = (yield* nearEnough(searched, known.size + RELATED_MAX, found)).filter(
    ({ seq }) => !known.has(seq),
  );
  return { ...worded, winners: [...worded.winners, ...near.map(winnerOf)].slice(0, RELATED_MAX) };
}

function matchedDocuments({ results }: Matched): PlacedDocument[] {
  return results.flatMap(({ rows }, shard) =>
    [...rows].filter((row) => row.matched).map(({ seq }) => ({ shard, seq })),
  );
}

function winnerOf({ shard, seq }: NearDocument): Winner {
  const found = { neighbour: true, matched: false, hasWord: false, pinned: false };
  return { shard, seq, textMatch: 0, bonus: 0, ...found };
}

/**
 * Finds documents that contain some of the words. Returns none if the query was already relaxed or has only
 * one word.
 */
function* wordedWinners(
  plan: QueryPlan,
  { words, program }: Matched,
  known: ReadonlySet<number>,
  snapshot: IndexSnapshot,
  options: FetchOptions,
): Work<Related> {
  if (words === null || program.mode !== "all" || words.words.length < 2) return NOTHING_RELATED;
  const count = known.size + RELATED_MAX;
  const relaxed = {
    ...programOf(plan, "any", withoutFrequent(words), words.lengths),
    k: count,
    sort: [{ by: "relevance", descending: true } as const],
    facets: [],
  };
  const found = yield* settled(snapshot.searchPage(relaxed, { offset: 0, count, options }));
  const { winners } = mergeResults(found.results, relaxed.sort, { offset: 0, count });
  const related = winners.filter((one) => !one.pinned && !known.has(one.seq)).slice(0, RELATED_MAX);
  return { winners: related, documents: found.documents };
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
