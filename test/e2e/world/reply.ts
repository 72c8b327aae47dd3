// The parts of a reply that tests read. A single flat type serves all routes: a test uses only the members of
// its route, and the harness checks that they are present according to /openapi.json.
import type { IncomingHttpHeaders } from "node:http";

export interface Hit {
  document: Record<string, unknown> & { id: string };
  highlight: Record<string, { snippet: string; matched_tokens: string[] }>;
  text_match: number;
  relevance_bonus: number;
  match_type: string;
}

export type FacetCounts = Record<string, Record<string, number>>;

/** The contents of `data`: an index, a batch result, a document or a deletion. */
export interface ReplyData {
  id: string | number;
  name: string;
  deleted: boolean | number;
  status: string;
  records_count: number;
  schema: {
    fields: ({ name: string; type: string } & Record<string, unknown>)[];
    default_sorting_field?: string;
  };
  received: number;
  succeeded: number;
  failed: number;
  errors: { index: number; id: string | null; code: string; error: string }[];
  key: string;
  hits: Hit[];
  found: number;
  out_of: number;
  facets: FacetCounts;
  facet_counts: { field_name: string; counts: { value: string; count: number }[] }[];
  [more: string]: unknown;
}

export interface ReplyBody {
  error: string;
  code: string;
  details?: Record<string, unknown>;
  data: ReplyData;
  hits: Hit[];
  found: number;
  page: number;
  per_page: number;
  total_pages: number;
  facets: FacetCounts;
  search_mode: string;
  [more: string]: unknown;
}

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The parsed body; an empty object if the reply is not JSON. */
  json: ReplyBody;
}
