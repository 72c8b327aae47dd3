// Computes a query's facets: requests counts from the shards, and determines the most frequent values over
// all shards with exact counts. If the index is in a single shard, that shard returns the top values.
// Otherwise each shard returns a share: its most frequent values, and the largest count among its other
// values (chooseShare in engine-wasm/assembly/search/facets.ts). Documents are distributed evenly, so the
// shares nearly always determine the top values and their counts. If the bounds leave any doubt about that,
// the shards are asked again, for all values of the facet. Which values a shard chooses for its share affects
// only how often that happens, never the answer.
import type { FacetRequest, SearchProgram } from "../../../engine-wasm/host/programs/search-program.js";
import type {
  FacetCount,
  FacetValue,
  SearchResult,
} from "../../../engine-wasm/host/programs/search-result.js";
import type { ResolvedField } from "../../catalog/schema/resolved-schema.js";
import type { IndexSnapshot } from "../../fleet/reads/index-snapshot.js";
import { settled, type Work } from "../../ground/jobs/work.js";

/** One shard's answer for a facet. */
export interface FacetShare {
  readonly counts: readonly FacetCount[];
  /** Upper bound on this shard's count for any value missing from `counts`. */
  readonly bound: number;
}

/** Requests the top `max` values of each field; nothing if `max` is 0. */
export function facetRequests(fields: readonly ResolvedField[], max: number): FacetRequest[] {
  return max === 0 ? [] : fields.map(({ slot, code }) => ({ slot, type: code, limit: max }));
}

/**
 * Returns the program to send to each of the index's `shards` shards. If there are several, it requests only
 * a share of each facet (see the top of this file).
 */
export function withShares(program: SearchProgram, shards: number): SearchProgram {
  if (shards === 1 || program.facets.length === 0) return program;
  return { ...program, facets: program.facets.map((facet) => ({ ...facet, share: facet.limit > 0 })) };
}

/** Runs a program and returns only its facets. */
export function* askFacets(snapshot: IndexSnapshot, program: SearchProgram): Work<(readonly FacetCount[])[]> {
  const asked = withShares(program, snapshot.shards);
  return yield* countFacets(snapshot, asked, yield* settled(snapshot.search(asked)));
}

/**
 * Returns each facet's top values over all shards, up to the facet's limit, by descending count and then by
 * ascending value. `results` are the shards' answers to `program`.
 */
export function* countFacets(
  snapshot: Pick<IndexSnapshot, "search">,
  program: SearchProgram,
  results: readonly SearchResult[],
): Work<(readonly FacetCount[])[]> {
  const maxOf = (i: number): number => program.facets[i]!.limit || Number.POSITIVE_INFINITY;
  const decided = program.facets.map((_, i) => mergeFacet(sharesOf(results, i), maxOf(i)));
  const open = program.facets.flatMap((_, i) => (decided[i] === null ? [i] : []));
  if (open.length > 0) {
    const facets = open.map((i) => ({ ...program.facets[i]!, limit: 0, share: false }));
    const complete = yield* settled(snapshot.search({ ...program, k: 0, facets }));
    for (const [at, i] of open.entries()) decided[i] = mergeFacet(sharesOf(complete, at), maxOf(i));
  }
  return decided.map((counts) => counts ?? []);
}

function sharesOf(results: readonly SearchResult[], i: number): FacetShare[] {
  return results.map(({ facets, facetBounds }) => ({
    counts: facets[i] ?? [],
    bound: facetBounds[i] ?? 0,
  }));
}

interface Sum {
  readonly value: FacetValue;
  count: number;
  /** Upper bound on what the shards that did not report the value could add to its count. */
  open: number;
}

/**
 * Returns the top `max` values over all shards, or null if the shares do not determine the values or their
 * counts.
 */
export function mergeFacet(shares: readonly FacetShare[], max: number): FacetCount[] | null {
  const unseen = shares.reduce((sum, { bound }) => sum + bound, 0);
  const sums = new Map<FacetValue, Sum>();
  for (const { counts, bound } of shares) {
    for (const { value, count } of counts) {
      const sum = sums.get(value);
      if (sum === undefined) {
        sums.set(value, { value, count, open: unseen - bound });
      } else {
        sum.count += count;
        sum.open -= bound;
      }
    }
  }
  const known = [...sums.values()].filter(({ open }) => open === 0).sort(compareCounts);
  const first = known.slice(0, max).map(({ value, count }) => ({ value, count }));
  if (unseen === 0) return first;
  // A value that may reach the last value's count may also rank before it, because ties are ordered by value.
  const last = first.length < max ? 0 : (first.at(-1)?.count ?? 0);
  const isOpen = ({ count, open }: Sum): boolean => open > 0 && count + open >= last;
  return unseen >= last || [...sums.values()].some(isOpen) ? null : first;
}

function compareCounts(a: FacetCount, b: FacetCount): number {
  if (a.count !== b.count) return b.count - a.count;
  if (typeof a.value === "string" && typeof b.value === "string") return compareTexts(a.value, b.value);
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

/**
 * Compares by UTF-8 bytes, as the engine does. The order differs from that of UTF-16 code units only in that
 * surrogates sort last.
 */
function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [left, right] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (left === right) continue;
    if (isSurrogate(left) !== isSurrogate(right)) return isSurrogate(left) ? 1 : -1;
    return left - right;
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** Returns a facet value as printed in JSON, for example `10.5` or `true`. int64 values are exact. */
export function facetText(value: FacetValue, field: ResolvedField): string {
  if (typeof value === "string") return value;
  if (field.kind === "bool") return Number(value) === 0 ? "false" : "true";
  return String(value);
}
