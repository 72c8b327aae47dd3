// Writes a query's result as JSON bytes. Copies documents and highlights as the shards sent them, without
// parsing. Writes facet objects by hand, because their keys must stay in count order, which a JavaScript
// object does not guarantee for all keys. Knows the specified response format, but not how searches work.
import type { FacetCount } from "../../engine-wasm/host/programs/search-result.js";
import { ReplyTooLargeError } from "../fleet/threads/shard-errors.js";
import type { FacetTable, Found, Hit } from "./found.js";
import { facetText } from "./matching/facets.js";

/** A reply contains the hits this many times: at the top level, and in the legacy wrapper. */
export const TIMES_WRITTEN = 2;

const WRAPPER_COMMENT = "Legacy wrapper kept for older integrations; read the top-level fields.";

export interface EncodedResponse {
  readonly bytes: Uint8Array;
  /** The response's bytes after its head. A cached answer is sent again with a new head and this content. */
  readonly content: Uint8Array;
}

/**
 * Returns the response to a query. Throws SK-SE-413 if it would exceed `bytesMax` bytes, unless it consists
 * of a single document without facet values.
 */
export function respond(
  response: Found,
  queryId: string,
  tookMs: number,
  bytesMax = Number.POSITIVE_INFINITY,
): EncodedResponse {
  const { found, outOf } = response;
  const { page, perPage } = response.request;
  const head = headOf(queryId, tookMs);
  const totalPages = perPage === 0 ? 0 : Math.ceil(found / perPage);
  const tables = response.facets.map(facetJson);
  const facets = facetObject(tables);
  const hits = hitParts(response.hits);
  const before = [head, '"hits":'];
  const between: Part[] = [
    `,"found":${found},"page":${page},"per_page":${perPage},"total_pages":${totalPages},"facets":${facets},` +
      `"search_mode":"${response.mode}","ai_enhanced":${response.aiContext !== null},` +
      `"ai_context":${JSON.stringify(response.aiContext)},` +
      `"suggestions":${JSON.stringify(response.suggestions)},"related_hits":`,
    ...hitParts(response.relatedHits),
    `,"curated_applied":${response.curated},"data":{"_comment":"${WRAPPER_COMMENT}","hits":`,
  ];
  const after = [
    `,"found":${found},"out_of":${outOf},"facets":${facets},"facet_counts":${facetCounts(tables)}}}`,
  ];
  const length = bytesOf(before) + TIMES_WRITTEN * bytesOf(hits) + bytesOf(between) + bytesOf(after);
  if (length > bytesMax && !isSingle(response)) throw new ReplyTooLargeError();
  const bytes = Buffer.allocUnsafe(length);
  const hitsAt = put(bytes, before, 0);
  const hitsEnd = put(bytes, hits, hitsAt);
  const againAt = put(bytes, between, hitsEnd);
  put(bytes, after, againAt + bytes.copy(bytes, againAt, hitsAt, hitsEnd));
  return { bytes, content: bytes.subarray(head.length) };
}

function isSingle({ hits, relatedHits, facets }: Found): boolean {
  return hits.length + relatedHits.length === 1 && facets.every(({ counts }) => counts.length === 0);
}

/** Returns the response to a repeated query from its cached content. */
export function respondAgain(content: Uint8Array, queryId: string, tookMs: number): Uint8Array {
  const parts = [headOf(queryId, tookMs), content];
  const bytes = Buffer.allocUnsafe(bytesOf(parts));
  put(bytes, parts, 0);
  return bytes;
}

/**
 * Returns the beginning of a response, which differs each time: the query id and the duration. ASCII only.
 */
function headOf(queryId: string, tookMs: number): string {
  return `{"query_id":"${queryId}","search_time_ms":${Math.round(tookMs)},`;
}

/** JSON text to encode, or JSON bytes to copy into the response. */
type Part = string | Uint8Array;

function bytesOf(parts: readonly Part[]): number {
  let bytes = 0;
  for (const part of parts) bytes += typeof part === "string" ? Buffer.byteLength(part) : part.length;
  return bytes;
}

/** Writes the parts in sequence, beginning at `start`. Returns the end position. */
function put(whole: Buffer, parts: readonly Part[], start: number): number {
  let at = start;
  for (const part of parts) {
    if (typeof part === "string") at += whole.write(part, at);
    else {
      whole.set(part, at);
      at += part.length;
    }
  }
  return at;
}

/**
 * Joins all text between two documents into one part, because each part costs two calls however short it is.
 */
function hitParts(hits: readonly Hit[]): Part[] {
  if (hits.length === 0) return ["[]"];
  const parts: Part[] = [];
  let before = "[";
  for (const { winner, document, highlight, matchType, explanation } of hits) {
    parts.push(`${before}{"document":`, document);
    if (highlight.length > 0) parts.push(',"highlight":', highlight);
    const noMarks = highlight.length > 0 ? "" : ',"highlight":{}';
    const explained = explanation === null ? "" : `,"explanation":${JSON.stringify(explanation)}`;
    before = `${noMarks},"text_match":${winner.textMatch},"relevance_bonus":${winner.bonus},"match_type":"${matchType}"${explained}},`;
  }
  parts.push(`${before.slice(0, -1)}]`);
  return parts;
}

/** A facet's field and values as JSON text, with the values' counts. */
interface FacetJson {
  readonly name: string;
  readonly values: readonly string[];
  readonly counts: readonly FacetCount[];
}

function facetJson({ field, counts }: FacetTable): FacetJson {
  const values = counts.map(({ value }) => JSON.stringify(facetText(value, field)));
  return { name: JSON.stringify(field.name), values, counts };
}

/** Returns `{field: {value: count}}` with the values in count order. */
function facetObject(tables: readonly FacetJson[]): string {
  const members = tables.map(({ name, values, counts }) => {
    const entries = counts.map(({ count }, i) => `${values[i]}:${count}`);
    return `${name}:{${entries.join(",")}}`;
  });
  return `{${members.join(",")}}`;
}

function facetCounts(tables: readonly FacetJson[]): string {
  const entries = tables.map(({ name, values, counts }) => {
    const objects = counts.map(({ count }, i) => `{"value":${values[i]},"count":${count}}`);
    return `{"field_name":${name},"counts":[${objects.join(",")}]}`;
  });
  return `[${entries.join(",")}]`;
}
