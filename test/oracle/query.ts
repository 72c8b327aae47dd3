// What clients ask and what they are told, as far as the oracle understands it.
// Knows nothing of how an answer comes about.
import type { Json } from "./segments/values.js";

/** The parameters of a query that the oracle understands. */
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
  /** The query's own vector. */
  vector?: number[];
}

export interface Answer {
  /** The search mode used. */
  mode: string;
  hits: { id: string; text_match: number; relevance_bonus: number; match_type: string }[];
  found: number;
  total_pages: number;
  /** Per facet field: values in order. */
  facets: [string, [string, number][]][];
  curated_applied: boolean;
  /** Ids of related documents, in order. */
  related: string[];
  suggestions: string[];
}
