// What a query found, as a value. `find` makes it, `respond` writes it as JSON, and the coach and the query
// log read it. Documents are the bytes that the shards sent.
import type { FacetCount } from "../../engine-wasm/host/programs/search-result.js";
import type { ViewField } from "../catalog/schema/index-view.js";
import type { Question, RememberedAnswer } from "../fleet/reads/answer-cache.js";
import type { SearchMode } from "../query-log/rows/journal.js";
import type { QueryRequest } from "../question/request/query-request.js";
import type { Explanation } from "./explain.js";
import type { Winner } from "./matching/merge.js";
import type { MatchType } from "./semantic/match-type.js";
import type { SuggestedQuery } from "./suggested-queries.js";

export interface Hit {
  readonly winner: Winner;
  /** In UTF-8. */
  readonly id: Uint8Array;
  /** The projected document as a JSON object. */
  readonly document: Uint8Array;
  /** A JSON object of highlights by field. No bytes when there is no highlight. */
  readonly highlight: Uint8Array;
  readonly matchType: MatchType;
  readonly explanation: Explanation | null;
}

export interface FacetTable {
  readonly field: ViewField;
  readonly counts: readonly FacetCount[];
}

/**
 * How a query was understood, when it was asked in other words than it was typed. The response has it as it
 * is.
 */
export interface AiContext {
  readonly original_query: string;
  readonly rewritten_query: string;
  readonly intent: string;
  /** For people. */
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
  /** The request as it came, before it was understood. */
  readonly request: QueryRequest;
  /** The mode used. */
  readonly mode: SearchMode;
  readonly hits: readonly Hit[];
  readonly relatedHits: readonly Hit[];
  /** Number of documents. */
  readonly found: number;
  /** Number of documents that the words alone find. */
  readonly foundByWords: number;
  /** Number of documents that the asker may see. */
  readonly outOf: number;
  readonly facets: readonly FacetTable[];
  readonly suggestions: readonly SuggestedQuery[];
  readonly aiContext: AiContext | null;
  /** A ranking rule affected at least one document. */
  readonly curated: boolean;
  /**
   * Remembers the answer to this question. Null when the next answer may differ although nothing was written.
   */
  readonly remember: ((question: Question, answer: RememberedAnswer) => void) | null;
}
