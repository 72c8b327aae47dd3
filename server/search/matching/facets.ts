// Computes a query's facets: requests counts from the shards, and determines the most frequent values over
// all shards with exact counts. If the index is in a single shard, that shard returns the top values.
// Otherwise each shard returns a share: its most frequent values, and the largest count among its other
// values (chooseShare in engine-wasm/assembly/search/facets.ts). Documents are distributed evenly, so the
// shares nearly always determine the top values and their counts. If the bounds leave any doubt about that,
// the shards are asked again, for all values of the facet. Which values a shard chooses for its share affects
// only how often that happens, never the answer.
import { FLOAT_TYPES } from "../../../engine-wasm/assembly/layout.js";
import {
  type EncodedFacet,
  type FacetCounts,
  type FacetValue,
  isOneOf,
  type TextSink,
} from "../../../engine-wasm/host/programs/encoded-facet.js";
import type { FacetRequest, SearchProgram } from "../../../engine-wasm/host/programs/search-program.js";
import type { SearchResult } from "../../../engine-wasm/host/programs/search-result.js";
import type { ResolvedField } from "../../catalog/schema/resolved-schema.js";
import type { IndexSnapshot } from "../../fleet/reads/index-snapshot.js";
import { run, settled, type Work } from "../../ground/jobs/work.js";

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
export function* askFacets(snapshot: IndexSnapshot, program: SearchProgram): Work<readonly FacetCounts[]> {
  const asked = withShares(program, snapshot.shards);
  return yield* settled(countFacets(snapshot, asked, yield* settled(snapshot.search(asked))));
}

/**
 * Returns each facet's top values over all shards, up to the facet's limit, by descending count and then by
 * ascending value. `results` are the shards' answers to `program`.
 */
export function countFacets(
  snapshot: Pick<IndexSnapshot, "search">,
  program: SearchProgram,
  results: readonly SearchResult[],
): readonly FacetCounts[] | Promise<readonly FacetCounts[]> {
  if (program.facets.length === 0) return NO_FACETS;
  const counted = program.facets.map((facet, i) => mergeFacet(results, i, facet));
  return counted.includes(null) ? run(completed(snapshot, program, counted)) : (counted as FacetCounts[]);
}

/** Asks the shards for all values of the facets that are null in `counted`. */
function* completed(
  snapshot: Pick<IndexSnapshot, "search">,
  program: SearchProgram,
  counted: readonly (FacetCounts | null)[],
): Work<readonly FacetCounts[]> {
  const open = program.facets.flatMap((_, i) => (counted[i] === null ? [i] : []));
  const facets = open.map((i) => ({ ...program.facets[i]!, limit: 0, share: false }));
  const complete = yield* settled(snapshot.search({ ...program, k: 0, facets }));
  const all = [...counted];
  for (const [at, i] of open.entries()) all[i] = mergeFacet(complete, at, program.facets[i]!);
  return all as FacetCounts[];
}

const NO_FACETS: readonly FacetCounts[] = [];

interface Sum {
  readonly value: FacetValue;
  /** A shard's answer in which the value stands, and its place there. */
  readonly facet: EncodedFacet;
  readonly place: number;
  count: number;
  /** Upper bound on what the shards that did not report the value could add to its count. */
  open: number;
}

/** The counts of several shards. */
class MergedFacet implements FacetCounts {
  readonly isText: boolean;
  readonly #sums: readonly Sum[];

  constructor(sums: readonly Sum[], isText: boolean) {
    this.#sums = sums;
    this.isText = isText;
  }

  get length(): number {
    return this.#sums.length;
  }

  countAt(i: number): number {
    return this.#sums[i]!.count;
  }

  valueAt(i: number): FacetValue {
    return this.#sums[i]!.value;
  }

  putText(i: number, sink: TextSink): void {
    const { facet, place } = this.#sums[i]!;
    facet.putText(place, sink);
  }
}

/**
 * Returns the top values of the results' facet number `i` over all shards, as many as are wanted. Returns
 * null if the shares do not determine the values or their counts.
 */
export function mergeFacet(
  results: readonly Pick<SearchResult, "facets">[],
  i: number,
  { limit, type }: FacetRequest,
): FacetCounts | null {
  const first = results[0]!.facets[i]!;
  // A single shard's values are complete and in order. Except floats: it counts 0 and -0 as two values.
  if (results.length === 1 && limit > 0 && !isOneOf(FLOAT_TYPES, type)) return first;
  const max = limit || Number.POSITIVE_INFINITY;
  const shares = results.map(({ facets }) => facets[i]!);
  const unseen = shares.reduce((sum, { bound }) => sum + bound, 0);
  const sums = new Map<FacetValue, Sum>();
  for (const facet of shares) {
    for (let place = 0; place < facet.length; place++) {
      const value = facet.valueAt(place);
      const count = facet.countAt(place);
      const sum = sums.get(value);
      if (sum === undefined) {
        sums.set(value, { value, facet, place, count, open: unseen - facet.bound });
      } else {
        sum.count += count;
        sum.open -= facet.bound;
      }
    }
  }
  const known = [...sums.values()].filter(({ open }) => open === 0).sort(compareCounts);
  const top = known.slice(0, max);
  const merged = new MergedFacet(top, first.isText);
  if (unseen === 0) return merged;
  // A value that may reach the last value's count may also rank before it, because ties are ordered by value.
  const last = top.length < max ? 0 : (top.at(-1)?.count ?? 0);
  const isOpen = ({ count, open }: Sum): boolean => open > 0 && count + open >= last;
  return unseen >= last || [...sums.values()].some(isOpen) ? null : merged;
}

function compareCounts(a: Sum, b: Sum): number {
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
