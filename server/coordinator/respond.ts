// The answer of a query as JSON bytes. Documents and highlights are spliced in as the shards sent them, never
// parsed; facet objects are written here because their key order (by count) must survive and no key may be
// special. Knows the response shape of the specification, nothing of how it was found.
import type { FacetCount, FacetValue } from "../../engine-wasm/host/search-result.js";
import type { Suggestion } from "./corrections.js";
import type { Explanation } from "./explain.js";
import type { ViewField } from "./index-view.js";

export interface Hit {
  /** JSON object of the document, projected. */
  readonly document: Uint8Array;
  /** JSON object keyed by field; empty: no highlight. */
  readonly highlight: Uint8Array;
  readonly textMatch: number;
  readonly bonus: number;
  /** A pinned document that the query would not have found. */
  readonly pinnedOnly: boolean;
  readonly explanation: Explanation | null;
}

export interface FacetTable {
  readonly field: ViewField;
  readonly counts: readonly FacetCount[];
}

export interface QueryResponse {
  readonly hits: readonly Hit[];
  readonly relatedHits: readonly Hit[];
  readonly found: number;
  readonly page: number;
  readonly perPage: number;
  /** Documents in the index. */
  readonly outOf: number;
  readonly facets: readonly FacetTable[];
  readonly suggestions: readonly Suggestion[];
  /** A ranking rule affected at least one document. */
  readonly curated: boolean;
  readonly tookMs: number;
  readonly queryId: string;
}

const WRAPPER_COMMENT = "Legacy wrapper kept for older integrations; read the top-level fields.";

export function encodeResponse(response: QueryResponse): Uint8Array {
  const { found, page, perPage, outOf, tookMs } = response;
  const totalPages = perPage === 0 ? 0 : Math.ceil(found / perPage);
  const hits = encodeHits(response.hits);
  const facets = facetObject(response.facets);
  return Buffer.concat([
    Buffer.from('{"hits":'),
    hits,
    Buffer.from(
      `,"found":${found},"page":${page},"per_page":${perPage},"total_pages":${totalPages},"facets":${facets},` +
        `"search_time_ms":${Math.round(tookMs)},"search_mode":"keyword","ai_enhanced":false,"ai_context":null,` +
        `"suggestions":${JSON.stringify(response.suggestions)},"related_hits":`,
    ),
    encodeHits(response.relatedHits),
    Buffer.from(
      `,"curated_applied":${response.curated},"query_id":${JSON.stringify(response.queryId)},` +
        `"data":{"_comment":${JSON.stringify(WRAPPER_COMMENT)},"hits":`,
    ),
    hits,
    Buffer.from(
      `,"found":${found},"out_of":${outOf},"facets":${facets},"facet_counts":${facetCounts(response.facets)}}}`,
    ),
  ]);
}

function encodeHits(hits: readonly Hit[]): Buffer {
  const parts: Uint8Array[] = [];
  hits.forEach((hit, i) => {
    parts.push(
      Buffer.from(i === 0 ? '[{"document":' : ',{"document":'),
      hit.document,
      Buffer.from(',"highlight":'),
    );
    parts.push(hit.highlight.length === 0 ? Buffer.from("{}") : hit.highlight);
    const matchType = hit.pinnedOnly ? "pinned" : "keyword";
    parts.push(
      Buffer.from(
        `,"text_match":${hit.textMatch},"relevance_bonus":${hit.bonus},"match_type":"${matchType}"` +
          (hit.explanation === null ? "}" : `,"explanation":${JSON.stringify(hit.explanation)}}`),
      ),
    );
  });
  parts.push(Buffer.from(hits.length === 0 ? "[]" : "]"));
  return Buffer.concat(parts);
}

/** `{field: {value: count}}`, values in count order. */
function facetObject(tables: readonly FacetTable[]): string {
  const members = tables.map(({ field, counts }) => {
    const values = counts.map(({ value, count }) => `${JSON.stringify(facetText(value, field))}:${count}`);
    return `${JSON.stringify(field.name)}:{${values.join(",")}}`;
  });
  return `{${members.join(",")}}`;
}

function facetCounts(tables: readonly FacetTable[]): string {
  const entries = tables.map(({ field, counts }) => {
    const values = counts.map(
      ({ value, count }) => `{"value":${JSON.stringify(facetText(value, field))},"count":${count}}`,
    );
    return `{"field_name":${JSON.stringify(field.name)},"counts":[${values.join(",")}]}`;
  });
  return `[${entries.join(",")}]`;
}

/** A facet value as text, printed as JSON prints it: `10.5`, `true`, int64 exact. */
export function facetText(value: FacetValue, field: ViewField): string {
  if (typeof value === "string") return value;
  if (field.kind === "bool") return Number(value) === 0 ? "false" : "true";
  return String(value);
}
