// The type of a query's result. `find` returns it, `respond` writes it as JSON, and the coach and the query
// log read it. Documents are the bytes that the shards sent.
import type { FacetCounts } from "../../engine-wasm/host/programs/encoded-facet.js";
import type { FetchedDocument } from "../../shards/protocol/fetch.js";
import type { ResolvedField } from "../catalog/schema/resolved-schema.js";
import type { Question, RememberedAnswer } from "../fleet/reads/answer-cache.js";
import type { SearchMode } from "../query-log/rows/journal.js";
import type { QueryRequest } from "../question/request/query-request.js";
import type { Explanation } from "./explain.js";
import { RankedRows } from "./matching/merge.js";
import type { Compared } from "./semantic/nearest.js";
import type { SuggestedQuery } from "./suggested-queries.js";

/** The documents to show, best first. All lists have one entry per document. */
export interface Hits {
  readonly rows: RankedRows;
  readonly documents: readonly FetchedDocument[];
  /** Empty if the query did not ask for explanations. */
  readonly explanations: readonly (Explanation | null)[];
}

export const NO_EXPLANATIONS: readonly Explanation[] = [];
export const NO_FACETS: readonly FacetTable[] = [];
export const NO_HITS: Hits = { rows: new RankedRows(), documents: [], explanations: NO_EXPLANATIONS };

export interface FacetTable {
  readonly field: ResolvedField;
  readonly counts: FacetCounts;
}

/**
 * How a query was understood. Set if the query ran in a wording other than the typed one, and copied to the
 * response unchanged.
 */
export interface AiContext {
  readonly original_query: string;
  readonly rewritten_query: string;
  readonly intent: string;
  /** A message for the shopper. */
  readonly user_message: string;
  readonly alternative_queries: readonly string[];
  readonly confidence: string;
  readonly applied_filters: {
    readonly filter_by: string | null;
    readonly sort_by: string | null;
    readonly avoided: readonly string[];
  };
}

export interface Found {
  /** The request as received, before query understanding changed it. */
  readonly request: QueryRequest;
  /** How the query was answered: by words, vectors or both. */
  readonly mode: SearchMode;
  readonly hits: Hits;
  readonly relatedHits: Hits;
  /**
   * The documents whose vectors were compared with the query's vector; they determine each hit's match type.
   */
  readonly compared: Compared;
  /** Total number of documents found, not only those on the page. */
  readonly found: number;
  /** Number of documents that would have been found without vectors. */
  readonly foundByWords: number;
  /** Number of documents in the index that the caller may see. */
  readonly outOf: number;
  readonly facets: readonly FacetTable[];
  readonly suggestions: readonly SuggestedQuery[];
  readonly aiContext: AiContext | null;
  /** True if a ranking rule affected at least one document. */
  readonly curated: boolean;
  /**
   * Where the answer may be cached. Null if it must not be, because the next one may differ even without a
   * write.
   */
  readonly memory: AnswerMemory | null;
}

/** Keeps the answers to questions that are asked again. */
export interface AnswerMemory {
  remember(question: Question, answer: RememberedAnswer): void;
}
