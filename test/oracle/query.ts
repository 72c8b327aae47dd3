// Queries and answers as clients see them, limited to what the oracle supports. Nothing here depends on how
// answers are computed.
import type { Json } from "./segments/values.js";

/** The query parameters that the oracle supports. */
export interface Query {
  q: string;
  query_by?: string;
  query_by_weights?: string;
  filter_by?: string;
  filters?: Record<string, Json>;
  facet_by?: string;
  max_facet_values?: number;
  sort_by?: string;
  per_page?: number;
  page?: number;
  prefix?: boolean;
  num_typos?: number;
  search_mode?: string;
  /** A vector sent with the query. */
  vector?: number[];
}

export interface Answer {
  /** The search mode used. */
  mode: string;
  hits: { id: string; text_match: number; relevance_bonus: number; match_type: string }[];
  found: number;
  total_pages: number;
  /** For each facet field, its values with their counts, in the order of the answer. */
  facets: [string, [string, number][]][];
  curated_applied: boolean;
  /** Ids of related documents, in order. */
  related: string[];
  suggestions: string[];
}
