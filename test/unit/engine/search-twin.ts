// The naive twin of the search kernel: looks at every row, filters by the operations, scores with the oracle,
// sorts and counts whole lists.
import type { FilterOp, SearchProgram, SortKey } from "../../../engine-wasm/host/search-program.js";
import type { FacetCount, SearchResult, SortValue } from "../../../engine-wasm/host/search-result.js";
import { analyse, foldValue } from "../../oracle/analyse.js";
import type { Row } from "../../oracle/rows.js";
import { type Program, textMatch } from "../../oracle/score.js";
import { type Value, valuesOf } from "../../oracle/values.js";
import { FIELDS } from "./catalogue.js";

const KINDS = ["exact", "synonym", "prefix", "typo"] as const;

export function searchTwin(
  rows: Row[],
  program: SearchProgram,
  hashOf: (id: string) => bigint,
): SearchResult {
  const scoring = toOracle(program);
  const matches = rows.flatMap((row) => {
    const score = passes(row, program.filter, hashOf) ? textMatch(row, scoring) : null;
    return score === null ? [] : [{ row, score }];
  });
  const found = matches
    .map(({ row, score }) => ({
      seq: row.seq,
      textMatch: score,
      keys: program.sort.map((key) => sortValue(row, score, key)),
    }))
    .sort((a, b) => compareRows(a.keys, b.keys, program.sort) || b.seq - a.seq);
  return {
    found: found.length,
    rows: found.slice(0, program.k),
    facets: program.facets.map(({ slot, limit }) =>
      facetCounts(
        matches.map(({ row }) => row),
        slot,
        limit,
      ),
    ),
  };
}

function toOracle(program: SearchProgram): Program {
  return {
    mode: program.mode,
    fields: program.slots.map(({ slot, weight, averageLength }) => ({
      name: FIELDS[slot]?.name ?? "",
      weight,
      averageLength,
    })),
    words: program.words.map((word) => ({
      weight: word.weight,
      alternatives: word.alternatives.map((one) => ({
        ...one,
        kind: KINDS[one.kind],
        terms: [...one.terms],
      })),
    })),
    phrases: program.phrases.map((phrase) => [...phrase]),
    excludes: program.excludes.map((phrase) => [...phrase]),
  };
}

function values(row: Row, slot: number): Value[] {
  const field = FIELDS[slot];
  return field === undefined ? [] : valuesOf(row.document, field);
}

function numbers(row: Row, slot: number): (number | bigint)[] {
  return values(row, slot) as (number | bigint)[];
}

function passes(row: Row, filter: readonly FilterOp[], hashOf: (id: string) => bigint): boolean {
  const stack: boolean[] = [];
  for (const operation of filter) {
    if (operation.op === "not") stack.push(!stack.pop()!);
    else if (operation.op === "and" || operation.op === "or") {
      const [b, a] = [stack.pop()!, stack.pop()!];
      stack.push(operation.op === "and" ? a && b : a || b);
    } else stack.push(passesLeaf(row, operation, hashOf));
  }
  return stack[0] ?? true;
}

function passesLeaf(row: Row, operation: FilterOp, hashOf: (id: string) => bigint): boolean {
  switch (operation.op) {
    case "intRange":
      return numbers(row, operation.slot).some((value) => value >= operation.low && value <= operation.high);
    case "floatRange":
      return numbers(row, operation.slot).some((value) => {
        const above = operation.lowExclusive ? value > operation.low : value >= operation.low;
        return above && (operation.highExclusive ? value < operation.high : value <= operation.high);
      });
    case "equals":
      return values(row, operation.slot).some((value) =>
        Buffer.from(foldValue(value as string)).equals(operation.folded),
      );
    case "tokens":
      return values(row, operation.slot).some((value) => inOrder(value as string, operation.terms));
    case "ids":
      return operation.hashes.includes(hashOf(row.document.id));
    default:
      return true;
  }
}

function inOrder(text: string, terms: readonly string[]): boolean {
  let next = 0;
  for (const { term } of analyse(text)) if (term === terms[next]) next++;
  return next >= terms.length;
}

function sortValue(row: Row, score: number, key: SortKey): SortValue {
  if (key.by === "relevance") return score;
  if (key.by === "seq") return row.seq;
  const value = values(row, key.slot)[0];
  if (value === undefined) return null;
  if (typeof value === "string") return Buffer.from(foldValue(value));
  return plainNumber(value, key.slot);
}

/** int64 as bigint, everything else as number; -0 as 0. */
function plainNumber(value: Value, slot: number): number | bigint {
  return FIELDS[slot]!.type === "int64" ? (value as bigint) : Number(value) + 0;
}

export function compareValues(a: SortValue, b: SortValue): number {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  return a! < b! ? -1 : a! > b! ? 1 : 0;
}

function compareRows(a: readonly SortValue[], b: readonly SortValue[], keys: readonly SortKey[]): number {
  for (const [i, key] of keys.entries()) {
    const [x, y] = [a[i]!, b[i]!];
    if (x === null && y === null) continue;
    if (x === null || y === null) return x === null ? 1 : -1;
    const order = compareValues(x, y);
    if (order !== 0) return key.descending ? -order : order;
  }
  return 0;
}

function facetCounts(rows: Row[], slot: number, limit: number): FacetCount[] {
  const counts = new Map<string | number | bigint, number>();
  for (const row of rows) {
    const distinct = new Set(
      values(row, slot).map((value) => (typeof value === "string" ? value : plainNumber(value, slot))),
    );
    for (const value of distinct) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const bytes = (value: string | number | bigint): SortValue =>
    typeof value === "string" ? Buffer.from(value) : value;
  const folded = (value: string | number | bigint): SortValue =>
    typeof value === "string" ? Buffer.from(foldValue(value)) : value;
  const byValue = (a: FacetCount, b: FacetCount): number => compareValues(bytes(a.value), bytes(b.value));
  const all = [...counts].map(([value, count]) => ({ value, count }));
  if (limit > 0) return all.sort((a, b) => b.count - a.count || byValue(a, b)).slice(0, limit);
  return all.sort((a, b) => compareValues(folded(a.value), folded(b.value)) || byValue(a, b));
}
