// Estimates the memory that a query will need, from its body, which need not have been checked. Knows nothing
// about the answer, except how large the answers of the same index were per hit.
import type { IndexRecord } from "../catalog/records/index-record.js";
import { isObject, type JsonObject } from "../ground/input/json-value.js";
import { FIXED_LIMITS, type Limits } from "../ground/limits.js";
import type { QueryRequest } from "../question/request/query-request.js";
import { SLOTS_AHEAD } from "./multi-search.js";

/** Plan, programs, results and reply of a query without hits. */
const QUERY_BYTES = 32 * 1024;
/** A parsed body needs this many times its bytes: as objects, as programs, and as messages to the shards. */
export const PARSED_TIMES = 8;
/** A hit's bytes exist this many times at once: in messages and in the reply. */
const HIT_TIMES = 2;
/** Row of a deep page in the shards' results and in the merged result. */
const ROW_BYTES = 64;
const FACET_VALUE_BYTES = 256;
/**
 * Reply bytes per hit that are assumed until the first reply. Rather too many: if a burst of queries began
 * with too small an estimate, its replies could exceed `unsentBytesMax`, and other tenants would be refused.
 */
const HIT_BYTES_FIRST = 64 * 1024;
/** After a reply with smaller hits, the estimate falls by this share of the difference. */
const FALL = 1 / 8;

/**
 * Reserves memory for the request until its life ends. Returns a promise if the request has to wait for it.
 */
export type Reserve = (bytes: number) => Promise<void> | undefined;

/** Remembers how large the replies of each index are. */
export class HitSizes {
  readonly #bytes = new WeakMap<IndexRecord, number>();

  /** Reply bytes per hit. */
  of(record: IndexRecord): number {
    return this.#bytes.get(record) ?? HIT_BYTES_FIRST;
  }

  /** Takes a reply of `bytes` bytes with `hits` hits into account. */
  answered(record: IndexRecord, bytes: number, hits: number): void {
    if (hits === 0) return;
    const [seen, known] = [bytes / hits, this.of(record)];
    this.#bytes.set(record, seen > known ? seen : known + (seen - known) * FALL);
  }
}

/** What is known about a query besides its body. */
export interface QueryScale {
  readonly bodyBytes: number;
  /** See HitSizes. */
  readonly hitBytes: number;
  /** Number of documents of the index. */
  readonly documents: number;
}

/** Estimated memory (bytes) that the query in `body` needs. */
export function costOfQuery(body: unknown, scale: QueryScale, limits: Limits): number {
  const given = isObject(body) ? body : {};
  const hits = numberIn(given.per_page, 10, limits.pageDocumentsMax);
  const rows = hits * numberIn(given.page, 1, Number.MAX_SAFE_INTEGER);
  const values = fieldsIn(given) * numberIn(given.max_facet_values, 10, limits.facetValuesMax);
  return costOf(hits, rows, values, scale, limits);
}

/** Estimated memory (bytes) that a query needs once its body has been read. */
export function costOfRequest(
  { perPage, page, shape: { facets, maxFacetValues } }: QueryRequest,
  scale: QueryScale,
  limits: Limits,
): number {
  return costOf(perPage, perPage * page, facets.length * maxFacetValues, scale, limits);
}

/** `rows` is the number of rows up to the end of the page, `values` that of facet values. */
function costOf(
  hits: number,
  rows: number,
  values: number,
  { bodyBytes, hitBytes, documents }: QueryScale,
  { replyBytesMax }: Limits,
): number {
  return (
    QUERY_BYTES +
    PARSED_TIMES * bodyBytes +
    HIT_TIMES * Math.min(hits * hitBytes, replyBytesMax) +
    ROW_BYTES * Math.min(documents, rows) +
    FACET_VALUE_BYTES * values
  );
}

/**
 * Estimated memory (bytes) that a multi-search with these searches needs. `scaleOf` returns what is known
 * about one of them, null if its index does not exist. Only a few run or hold their answers at the same time.
 */
export function costOfMultiSearch(
  searches: readonly unknown[],
  bodyBytes: number,
  scaleOf: (search: unknown) => QueryScale | null,
  limits: Limits,
): number {
  let most = QUERY_BYTES;
  for (const search of searches) {
    const scale = scaleOf(search);
    if (scale !== null) most = Math.max(most, costOfQuery(search, scale, limits));
  }
  return PARSED_TIMES * bodyBytes + Math.min(searches.length, SLOTS_AHEAD) * most;
}

/** The number as a query reads it: clamped, or the default if it is not one. */
function numberIn(value: unknown, otherwise: number, most: number): number {
  return typeof value === "number" && value >= 0 ? Math.min(value, most) : otherwise;
}

/** Number of facet fields, at most. */
function fieldsIn({ facets, facet_by }: JsonObject): number {
  if (typeof facet_by === "string") return facet_by.split(",", FIXED_LIMITS.facetFieldsMax).length;
  return Array.isArray(facets) ? Math.min(facets.length, FIXED_LIMITS.facetFieldsMax) : 0;
}
