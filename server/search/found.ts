// The type of a query's result. `find` returns it, `respond` writes it as JSON, and the coach and the query
// log read it. Documents are the bytes that the shards sent.
import type { FacetCount } from "../../engine-wasm/host/programs/search-result.js";
import type { ResolvedField } from "../catalog/schema/resolved-schema.js";
import type { Question, RememberedAnswer } from "../fleet/reads/answer-cache.js";
import type { SearchMode } from "../query-log/rows/journal.js";
import type { QueryRequest } from "../question/request/query-request.js";
import type { Explanation } from "./explain.js";
import type { Winner } from "./matching/merge.js";
import type { MatchType } from "./semantic/match-type.js";
import type { SuggestedQuery } from "./suggested-queries.js";

export interface Hit {
  readonly winner: Winner;
  /** The document's id in UTF-8. */
  readonly id: Uint8Array;
  /** The document's requested members as a JSON object. */
  readonly document: Uint8Array;
  /** The document's highlights as a JSON object, by field. Empty if there are none. */
  readonly highlight: Uint8Array;
  readonly matchType: MatchType;
  readonly explanation: Explanation | null;
}

export interface FacetTable {
  readonly field: ResolvedField;
  readonly counts: readonly FacetCount[];
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
  readonly hits: readonly Hit[];
  readonly relatedHits: readonly Hit[];
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
   * Puts the answer to this question into the answer cache. Null if the answer must not be cached, because
   * the next one may differ even without a write.
   */
  readonly remember: ((question: Question, answer: RememberedAnswer) => void) | null;
}
