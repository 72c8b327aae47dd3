// Encodes answers to search programs as the engine does, so that tests need no engine.
import {
  FLOAT_TYPES,
  ROW_HAS_WORD,
  ROW_MATCHED,
  ROW_NEIGHBOUR,
  ROW_PINNED,
  STRING_TYPES,
} from "../../../../engine-wasm/assembly/layout.js";
import { ByteWriter } from "../../../../engine-wasm/host/bytes.js";
import { isOneOf } from "../../../../engine-wasm/host/programs/encoded-facet.js";
import {
  EVERY_DOCUMENT,
  type FacetRequest,
  type SearchProgram,
  type SortKey,
} from "../../../../engine-wasm/host/programs/search-program.js";
import {
  readingOfSearchResult,
  type SearchResult,
} from "../../../../engine-wasm/host/programs/search-result.js";
import { finished } from "../../../../engine-wasm/host/runtime/steps.js";
import type {
  DecodedSearchResult,
  FacetCount,
  SearchRow,
  SortValue,
} from "../../../oracle/decoded-result.js";

export const PLAIN_ROW = {
  textMatch: 0,
  bonus: 0,
  matched: true,
  neighbour: false,
  hasWord: false,
  pinned: false,
} as const;

const EMPTY: DecodedSearchResult = {
  found: 0,
  pinnedOnly: 0,
  rows: [],
  facets: [],
  facetBounds: [],
  applied: [],
  pinsApplied: false,
};

/** Returns the answer as the server reads it. */
export function answerOf(parts: Partial<DecodedSearchResult>, program: Partial<SearchProgram>): SearchResult {
  const asked = { ...EVERY_DOCUMENT, k: 0, ...program };
  return finished(readingOfSearchResult(encodeResult({ ...EMPTY, ...parts }, asked), asked));
}

export function encodeResult(result: DecodedSearchResult, program: SearchProgram): Uint8Array {
  const out = new ByteWriter();
  out.u32(result.found);
  out.u32(result.pinnedOnly);
  out.u32(result.rows.length);
  out.u8(program.sort.length);
  for (const { seq } of result.rows) out.f64(seq);
  for (const row of result.rows) {
    out.f64(row.textMatch);
    out.f64(row.bonus);
    out.u8(flagsOf(row));
    for (const [i, key] of program.sort.entries()) putKey(out, row.keys[i] ?? null, key);
  }
  for (const [i, request] of program.facets.entries())
    putFacet(out, result.facets[i]!, result.facetBounds[i] ?? 0, request);
  for (const applied of result.applied) out.u8(applied ? 1 : 0);
  out.u8(result.pinsApplied ? 1 : 0);
  return out.finish();
}

export function flagsOf({ matched, neighbour, hasWord, pinned }: Omit<SearchRow, "seq" | "keys">): number {
  return (
    (matched ? ROW_MATCHED : 0) |
    (neighbour ? ROW_NEIGHBOUR : 0) |
    (hasWord ? ROW_HAS_WORD : 0) |
    (pinned ? ROW_PINNED : 0)
  );
}

function putKey(out: ByteWriter, value: SortValue, key: SortKey): void {
  out.u8(value === null ? 0 : 1);
  if (value === null) return;
  if (value instanceof Uint8Array) out.string32(value);
  else if (key.by === "seq" || (key.by === "field" && isOneOf(FLOAT_TYPES, key.type))) out.f64(Number(value));
  else if (key.by === "field") out.i64(BigInt(value));
  else out.u64(BigInt(value));
}

function putFacet(
  out: ByteWriter,
  counts: readonly FacetCount[],
  bound: number,
  request: FacetRequest,
): void {
  out.u32(counts.length);
  if (request.share === true) out.u32(bound);
  for (const { value, count } of counts) {
    out.u32(count);
    if (isOneOf(STRING_TYPES, request.type)) out.string32(String(value));
    else if (isOneOf(FLOAT_TYPES, request.type)) out.f64(Number(value));
    else out.i64(BigInt(value));
  }
}
