// The reply to a query, written naively: strings are joined, and every value goes through JSON.stringify.
export interface PlainHit {
  /** JSON texts. The highlight is "" if there is none. */
  document: string;
  highlight: string;
  textMatch: number;
  bonus: number;
  matchType: string;
  /** Null if there is none. */
  explanation: object | null;
}

export interface PlainReply {
  queryId: string;
  tookMs: number;
  page: number;
  perPage: number;
  found: number;
  outOf: number;
  mode: string;
  hits: PlainHit[];
  relatedHits: PlainHit[];
  facets: { field: string; counts: { value: string; count: number }[] }[];
  suggestions: object[];
  aiContext: object | null;
  curated: boolean;
}

export function naiveReply(reply: PlainReply): string {
  const { perPage, found, facets, aiContext } = reply;
  const counted = object(
    facets.map(({ field, counts }) => [
      field,
      object(counts.map(({ value, count }) => [value, JSON.stringify(count)])),
    ]),
  );
  const facetCounts = facets.map(({ field, counts }) => ({ field_name: field, counts }));
  const hits = `[${reply.hits.map(hitText).join(",")}]`;
  return object([
    ["query_id", JSON.stringify(reply.queryId)],
    ["search_time_ms", JSON.stringify(Math.round(reply.tookMs))],
    ["hits", hits],
    ["found", JSON.stringify(found)],
    ["page", JSON.stringify(reply.page)],
    ["per_page", JSON.stringify(perPage)],
    ["total_pages", JSON.stringify(perPage === 0 ? 0 : Math.ceil(found / perPage))],
    ["facets", counted],
    ["search_mode", JSON.stringify(reply.mode)],
    ["ai_enhanced", JSON.stringify(aiContext !== null)],
    ["ai_context", JSON.stringify(aiContext)],
    ["suggestions", JSON.stringify(reply.suggestions)],
    ["related_hits", `[${reply.relatedHits.map(hitText).join(",")}]`],
    ["curated_applied", JSON.stringify(reply.curated)],
    [
      "data",
      object([
        ["_comment", '"Legacy wrapper kept for older integrations; read the top-level fields."'],
        ["hits", hits],
        ["found", JSON.stringify(found)],
        ["out_of", JSON.stringify(reply.outOf)],
        ["facets", counted],
        ["facet_counts", JSON.stringify(facetCounts)],
      ]),
    ],
  ]);
}

function hitText(hit: PlainHit): string {
  return object([
    ["document", hit.document],
    ["highlight", hit.highlight || "{}"],
    ["text_match", JSON.stringify(hit.textMatch)],
    ["relevance_bonus", JSON.stringify(hit.bonus)],
    ["match_type", JSON.stringify(hit.matchType)],
    ...(hit.explanation === null
      ? []
      : [["explanation", JSON.stringify(hit.explanation)] as [string, string]]),
  ]);
}

/** An object whose values are JSON texts, with its keys in this order. */
function object(members: [key: string, value: string][]): string {
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",")}}`;
}
