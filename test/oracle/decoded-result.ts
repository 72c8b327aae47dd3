// The engine's answer to a search program, decoded naively: an object per row and per facet value. The server
// reads answers in place instead (engine-wasm/host/programs/search-result.ts); a test compares the two.
import {
  FLOAT_TYPES,
  LONG_TYPES,
  ROW_HAS_WORD,
  ROW_MATCHED,
  ROW_NEIGHBOUR,
  ROW_PINNED,
  STRING_TYPES,
} from "../../engine-wasm/assembly/layout.js";
import { ByteReader } from "../../engine-wasm/host/bytes.js";
import type { FacetValue } from "../../engine-wasm/host/programs/encoded-facet.js";
import type { FacetRequest, SearchProgram, SortKey } from "../../engine-wasm/host/programs/search-program.js";
import type { SearchResult } from "../../engine-wasm/host/programs/search-result.js";

/**
 * A sort value: bigint for int64, relevance and class; number for int32, bool (0, 1), float and seq; folded
 * UTF-8 bytes for strings (compared bytewise); null if the document has no value (always last).
 */
export type SortValue = bigint | number | Uint8Array | null;

export interface SearchRow {
  seq: number;
  textMatch: number;
  bonus: number;
  matched: boolean;
  neighbour: boolean;
  hasWord: boolean;
  pinned: boolean;
  /** In the order of the program's sort keys. */
  keys: readonly SortValue[];
}

export interface FacetCount {
  value: FacetValue;
  count: number;
}

export interface DecodedSearchResult extends Omit<SearchResult, "rows" | "facets"> {
  rows: SearchRow[];
  /** In the order of the program's facets. */
  facets: FacetCount[][];
  facetBounds: number[];
}

/** Throws a RangeError if the bytes are not an answer to `program`. */
export function decodeSearchResult(bytes: Uint8Array, program: SearchProgram): DecodedSearchResult {
  const reader = new ByteReader(bytes);
  const found = reader.u32();
  const pinnedOnly = reader.u32();
  const rowCount = reader.u32();
  const keyCount = reader.u8();
  if (keyCount !== program.sort.length)
    throw new RangeError("the result has other sort keys than the program");
  const seqs = Array.from({ length: rowCount }, () => reader.f64());
  const rows = seqs.map((seq): SearchRow => {
    const textMatch = reader.f64();
    const bonus = reader.f64();
    const flags = reader.u8();
    return {
      seq,
      textMatch,
      bonus,
      matched: (flags & ROW_MATCHED) !== 0,
      neighbour: (flags & ROW_NEIGHBOUR) !== 0,
      hasWord: (flags & ROW_HAS_WORD) !== 0,
      pinned: (flags & ROW_PINNED) !== 0,
      keys: program.sort.map((key) => decodeSortValue(reader, key)),
    };
  });
  const facetBounds: number[] = [];
  const facets = program.facets.map((facet) => {
    const values = reader.u32();
    facetBounds.push(facet.share === true ? reader.u32() : 0);
    return decodeFacet(reader, facet, values);
  });
  const applied = program.rules.map(() => reader.u8() === 1);
  const pinsApplied = reader.u8() === 1;
  if (reader.remaining !== 0) throw new RangeError(`${reader.remaining} bytes after the search result`);
  return { found, pinnedOnly, rows, facets, facetBounds, applied, pinsApplied };
}

function decodeSortValue(reader: ByteReader, key: SortKey): SortValue {
  if (reader.u8() === 0) return null;
  if (key.by === "seq") return reader.f64();
  if (key.by !== "field") return reader.u64();
  if (isString(key.type)) return reader.bytes(reader.u32());
  return decodeNumber(reader, key.type);
}

function decodeFacet(reader: ByteReader, facet: FacetRequest, values: number): FacetCount[] {
  return Array.from({ length: values }, () => {
    const count = reader.u32();
    return { count, value: isString(facet.type) ? reader.string32() : decodeNumber(reader, facet.type) };
  });
}

function isString(type: number): boolean {
  return ((STRING_TYPES >> type) & 1) === 1;
}

function decodeNumber(reader: ByteReader, type: number): number | bigint {
  if (((FLOAT_TYPES >> type) & 1) === 1) return reader.f64();
  return ((LONG_TYPES >> type) & 1) === 1 ? reader.i64() : Number(reader.i64());
}
