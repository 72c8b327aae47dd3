// Writes a query's result as JSON. Copies documents and highlights as the shards sent them, without parsing.
// Writes facet objects by hand, because their keys must stay in count order, which a JavaScript object does
// not guarantee for all keys. Knows the specified response format, but not how searches work.
import type { QueryId } from "../query-log/rows/query-ids.js";
import type { FacetTable, Found, Hits } from "./found.js";
import { facetText } from "./matching/facets.js";
import type { ReplyWriter } from "./reply-writer.js";
import { matchTypeOf } from "./semantic/match-type.js";

/** A reply contains the hits this many times: at the top level, and in the legacy wrapper. */
export const TIMES_WRITTEN = 2;
/** Approximate number of bytes in a reply for each hit, besides its document and highlight. */
const HIT_BYTES = 160;

/** The JSON between two values that differ from reply to reply. */
const QUERY_ID = Buffer.from('{"query_id":"');
const TOOK = Buffer.from('","search_time_ms":');
const HITS = Buffer.from(',"hits":');
const FOUND = Buffer.from(',"found":');
const PAGE = Buffer.from(',"page":');
const PER_PAGE = Buffer.from(',"per_page":');
const TOTAL_PAGES = Buffer.from(',"total_pages":');
const FACETS = Buffer.from(',"facets":');
const MODES = {
  keyword: Buffer.from(',"search_mode":"keyword","ai_enhanced":'),
  semantic: Buffer.from(',"search_mode":"semantic","ai_enhanced":'),
  hybrid: Buffer.from(',"search_mode":"hybrid","ai_enhanced":'),
};
const AS_TYPED = Buffer.from('false,"ai_context":null');
const IN_OTHER_WORDS = Buffer.from('true,"ai_context":');
const SUGGESTIONS = Buffer.from(',"suggestions":');
const RELATED_HITS = Buffer.from(',"related_hits":');
const CURATED = Buffer.from(',"curated_applied":true');
const NOT_CURATED = Buffer.from(',"curated_applied":false');
const DATA = Buffer.from(
  ',"data":{"_comment":"Legacy wrapper kept for older integrations; read the top-level fields.","hits":',
);
const OUT_OF = Buffer.from(',"out_of":');
const FACET_COUNTS = Buffer.from(',"facet_counts":[');
const END = Buffer.from("]}}");

const NOTHING = Buffer.from("[]");
const LIST_END = Buffer.from("]");
const OBJECT = Buffer.from("{");
const OBJECT_END = Buffer.from("}");
const COMMA = Buffer.from(",");
const QUOTE = Buffer.from('"');

const FIRST_HIT = Buffer.from('[{"document":');
const NEXT_HIT = Buffer.from(',{"document":');
const HIGHLIGHT = Buffer.from(',"highlight":');
const TEXT_MATCH = Buffer.from(',"text_match":');
const NO_HIGHLIGHT = Buffer.from(',"highlight":{},"text_match":');
const BONUS = Buffer.from(',"relevance_bonus":');
const MATCH_TYPES = {
  keyword: Buffer.from(',"match_type":"keyword"'),
  semantic: Buffer.from(',"match_type":"semantic"'),
  hybrid: Buffer.from(',"match_type":"hybrid"'),
  pinned: Buffer.from(',"match_type":"pinned"'),
};
const EXPLANATION = Buffer.from(',"explanation":');

const VALUES = Buffer.from(":{");
const COUNT = Buffer.from('":');
const FIELD_NAME = Buffer.from('{"field_name":');
const COUNTS = Buffer.from(',"counts":[');
const VALUE = Buffer.from('{"value":"');
const VALUE_COUNT = Buffer.from('","count":');
const COUNTS_END = Buffer.from("]}");

/**
 * Writes the response to a query. Returns the position at which its content begins, after its head: a cached
 * answer is sent again with a new head and this content. Throws SK-SE-413 if the response would exceed
 * `bytesMax` bytes, unless it consists of a single document without facet values.
 */
export function respond(
  response: Found,
  id: QueryId,
  tookMs: number,
  reply: ReplyWriter,
  bytesMax = Number.POSITIVE_INFINITY,
): number {
  const { found, facets, request, hits, relatedHits, aiContext, suggestions } = response;
  const { page, perPage } = request;
  if (!isSingle(response)) reply.limitTo(bytesMax);
  reply.reserve(TIMES_WRITTEN * bytesOf(hits) + bytesOf(relatedHits));
  putHead(reply, id, tookMs);
  const contentStart = reply.length;
  reply.put(HITS);
  const hitsStart = reply.length;
  putHits(reply, hits, response);
  const hitsEnd = reply.length;
  reply.put(FOUND);
  reply.number(found);
  reply.put(PAGE);
  reply.number(page);
  reply.put(PER_PAGE);
  reply.number(perPage);
  reply.put(TOTAL_PAGES);
  reply.number(perPage === 0 ? 0 : Math.ceil(found / perPage));
  reply.put(FACETS);
  const facetsStart = reply.length;
  putFacets(reply, facets);
  const facetsEnd = reply.length;
  reply.put(MODES[response.mode]);
  if (aiContext === null) reply.put(AS_TYPED);
  else {
    reply.put(IN_OTHER_WORDS);
    reply.text(JSON.stringify(aiContext));
  }
  reply.put(SUGGESTIONS);
  if (suggestions.length === 0) reply.put(NOTHING);
  else reply.text(JSON.stringify(suggestions));
  reply.put(RELATED_HITS);
  putHits(reply, relatedHits, response);
  reply.put(response.curated ? CURATED : NOT_CURATED);
  reply.put(DATA);
  reply.repeat(hitsStart, hitsEnd);
  reply.put(FOUND);
  reply.number(found);
  reply.put(OUT_OF);
  reply.number(response.outOf);
  reply.put(FACETS);
  reply.repeat(facetsStart, facetsEnd);
  reply.put(FACET_COUNTS);
  putFacetCounts(reply, facets);
  reply.put(END);
  return contentStart;
}

/** Writes the response to a repeated query from its cached content. */
export function respondAgain(content: Uint8Array, id: QueryId, tookMs: number, reply: ReplyWriter): void {
  putHead(reply, id, tookMs);
  reply.put(content);
}

/** Writes the beginning of a response, which differs each time: the query id and the duration. */
function putHead(reply: ReplyWriter, id: QueryId, tookMs: number): void {
  reply.put(QUERY_ID);
  reply.queryId(id);
  reply.put(TOOK);
  reply.number(Math.round(tookMs));
}

function isSingle({ hits, relatedHits, facets }: Found): boolean {
  return (
    hits.documents.length + relatedHits.documents.length === 1 &&
    facets.every(({ counts }) => counts.length === 0)
  );
}

function bytesOf({ documents }: Hits): number {
  let bytes = 0;
  for (const { document, highlight } of documents) bytes += document.length + highlight.length + HIT_BYTES;
  return bytes;
}

function putHits(reply: ReplyWriter, { rows, documents, explanations }: Hits, { compared }: Found): void {
  if (documents.length === 0) {
    reply.put(NOTHING);
    return;
  }
  for (let i = 0; i < documents.length; i++) {
    const { document, highlight } = documents[i]!;
    reply.put(i === 0 ? FIRST_HIT : NEXT_HIT);
    reply.put(document);
    if (highlight.length === 0) reply.put(NO_HIGHLIGHT);
    else {
      reply.put(HIGHLIGHT);
      reply.put(highlight);
      reply.put(TEXT_MATCH);
    }
    reply.number(rows.textMatches[i]!);
    reply.put(BONUS);
    reply.number(rows.bonuses[i]!);
    reply.put(MATCH_TYPES[matchTypeOf(rows.flags[i]!, rows.seqs[i]!, compared)]);
    const explanation = explanations[i] ?? null;
    if (explanation !== null) {
      reply.put(EXPLANATION);
      reply.text(JSON.stringify(explanation));
    }
    reply.put(OBJECT_END);
  }
  reply.put(LIST_END);
}

/** Writes `{field: {value: count}}` with the values in count order. */
function putFacets(reply: ReplyWriter, facets: readonly FacetTable[]): void {
  reply.put(OBJECT);
  for (let f = 0; f < facets.length; f++) {
    const { field, counts } = facets[f]!;
    if (f > 0) reply.put(COMMA);
    reply.text(JSON.stringify(field.name));
    reply.put(VALUES);
    for (let i = 0; i < counts.length; i++) {
      if (i > 0) reply.put(COMMA);
      reply.put(QUOTE);
      putValue(reply, facets[f]!, i);
      reply.put(COUNT);
      reply.number(counts.countAt(i));
    }
    reply.put(OBJECT_END);
  }
  reply.put(OBJECT_END);
}

function putFacetCounts(reply: ReplyWriter, facets: readonly FacetTable[]): void {
  for (let f = 0; f < facets.length; f++) {
    const { field, counts } = facets[f]!;
    if (f > 0) reply.put(COMMA);
    reply.put(FIELD_NAME);
    reply.text(JSON.stringify(field.name));
    reply.put(COUNTS);
    for (let i = 0; i < counts.length; i++) {
      if (i > 0) reply.put(COMMA);
      reply.put(VALUE);
      putValue(reply, facets[f]!, i);
      reply.put(VALUE_COUNT);
      reply.number(counts.countAt(i));
      reply.put(OBJECT_END);
    }
    reply.put(COUNTS_END);
  }
}

/** Writes a facet value's text, without the quotes. */
function putValue(reply: ReplyWriter, { field, counts }: FacetTable, i: number): void {
  if (counts.isText) counts.putText(i, reply);
  else reply.text(facetText(counts.valueAt(i), field));
}
