// The naive model of the search kernel. It visits every row, evaluates the filter, scores with the oracle,
// applies rules, pins and bonuses one row at a time, and sorts and counts whole lists.

import type {
  SearchProgram,
  SearchRule,
  SortKey,
} from "../../../../engine-wasm/host/programs/search-program.js";
import type {
  DecodedSearchResult,
  FacetCount,
  SearchRow,
  SortValue,
} from "../../../oracle/decoded-result.js";
import { type FilterOp, operationsOf } from "../../../oracle/filter-operations.js";
import { FIRST, matchOf, type Program, positionsOf } from "../../../oracle/score.js";
import type { Row } from "../../../oracle/segments/rows.js";
import { type Value, valuesOf } from "../../../oracle/segments/values.js";
import { foldValue, hasInOrder } from "../../../oracle/words/analyse.js";
import { FIELDS } from "../segments/catalogue.js";

interface Rated extends Omit<SearchRow, "keys"> {
  row: Row;
  rowClass: bigint;
  boosts: number;
}

export function searchTwin(
  rows: Row[],
  program: SearchProgram,
  hashOf: (id: string) => bigint,
): DecodedSearchResult {
  const scoring = toOracle(program);
  const filter = operationsOf(program.filter);
  const ruleFilters = new Map(program.rules.map((rule) => [rule, operationsOf(rule.filter)]));
  const touching = (row: Row, which: (rule: SearchRule) => boolean): SearchRule[] =>
    program.rules.filter((rule) => {
      const selecting = ruleFilters.get(rule)!;
      return which(rule) && selecting.length > 0 && passes(row, selecting, hashOf);
    });
  const applied = new Set<SearchRule>();
  const rated = rows.flatMap((row): Rated[] => {
    if (!passes(row, filter, hashOf)) return [];
    const match = matchOf(row, scoring);
    const [decider] = touching(row, ({ effect }) => effect !== "boost");
    const moved = decider !== undefined && decider.effect !== "keep";
    const pin = moved ? -1 : program.pins.indexOf(hashOf(row.document.id));
    if (moved && match !== null) applied.add(decider);
    if (decider?.effect === "hide" || (match === null && pin < 0)) return [];
    const boosting = touching(row, ({ effect }) => effect === "boost");
    for (const rule of boosting) applied.add(rule);
    const rowClass = pin >= 0 ? 2 + program.pins.length - pin : moved ? 0 : 1;
    return [
      {
        row,
        seq: row.seq,
        textMatch: match?.text ?? 0,
        bonus: bonusOf(row, program, scoring, match?.text ?? 0),
        matched: match?.matched ?? false,
        neighbour: match?.neighbour ?? false,
        hasWord: match?.hasWord ?? false,
        pinned: pin >= 0,
        rowClass: BigInt(rowClass),
        boosts: boosting.reduce((sum, { weight }) => sum + weight, 0),
      },
    ];
  });
  const found = rated
    .map(({ row, rowClass, boosts, ...rest }) => {
      const own = { relevance: finalKey(rest, boosts, program), class: rowClass, seq: rest.seq };
      return {
        ...rest,
        keys: program.sort.map((key) => (key.by === "field" ? sortValue(row, key) : own[key.by])),
      };
    })
    .sort((a, b) => compareRows(a.keys, b.keys, program.sort) || b.seq - a.seq);
  return {
    found: found.length,
    pinnedOnly: found.filter(({ matched, neighbour }) => !matched && !neighbour).length,
    rows: found.slice(0, program.k),
    facets: program.facets.map(({ slot, limit }) =>
      facetCounts(
        rated.map(({ row }) => row),
        slot,
        limit,
      ),
    ),
    facetBounds: program.facets.map(() => 0),
    applied: program.rules.map((rule) => applied.has(rule)),
    pinsApplied: rated.some(({ pinned }) => pinned),
  };
}

/** True if all words match. The text match of a query without words is 0, which does not count as full. */
function isFull(score: number): boolean {
  return score >= 2 ** 51;
}

function bonusOf(row: Row, program: SearchProgram, scoring: Program, score: number): number {
  if (score >= FIRST) return 0;
  const { whole, starts, terms } = program.bonuses;
  const groups = new Map<number, number>();
  for (const { group, slot, term, bonus } of terms) {
    const present = [...(row.texts.get(FIELDS[slot]?.name ?? "")?.positions.keys() ?? [])];
    const has = term.prefix ? present.some((one) => one.startsWith(term.term)) : present.includes(term.term);
    if (has) groups.set(group, Math.max(groups.get(group) ?? 0, bonus));
  }
  const sum = [...groups.values()].reduce((total, bonus) => total + bonus, 0);
  if (!isFull(score)) return sum;
  const started = scoring.fields.filter((field) =>
    scoring.words.every((word, i) => positionsOf(row, field, word).includes(i)),
  );
  if (started.length === 0) return sum;
  const isExact = Math.floor(score / 2 ** 46) % 2 === 1;
  const isWhole = started.some(({ name }) => row.texts.get(name)!.length === program.words.length);
  return sum + Math.max(starts, isExact && isWhole ? whole : 0);
}

interface Sum {
  textMatch: number;
  bonus: number;
}

/** Returns the key that determines a row's rank; docs/FORMATS.md shows its layout. */
function finalKey(row: Sum, boosts: number, program: SearchProgram): bigint {
  if (program.neighbours?.place !== "first") return keyOf(row, boosts, program);
  if (row.textMatch >= FIRST)
    return 2n ** 63n + keyOf({ textMatch: row.textMatch - FIRST, bonus: 0 }, boosts, program);
  const key = keyOf(row, boosts, program).toString(2).padStart(64, "0");
  const relevance = BigInt(`0b${key.slice(7)}`);
  return BigInt(`0b0${key.slice(0, 7)}`) * 2n ** 56n + (relevance >= 2n ** 56n ? 2n ** 56n - 1n : relevance);
}

function keyOf(row: Sum, boosts: number, program: SearchProgram): bigint {
  const full = isFull(row.textMatch);
  const state = full ? BigInt(Math.floor((row.textMatch - 2 ** 51) / 2 ** 46)) : 0n;
  let relevance = full ? row.textMatch % 2 ** 46 : row.textMatch;
  relevance += Math.min(row.bonus % 2 ** 52, 2 ** 46 - 1);
  if (program.words.length === 0 && program.neighbours === null) relevance += 2 ** 24;
  const boosted = Math.floor((relevance * (10 + boosts)) / 10);
  const least = boosted >= 2 ** 57 ? 2n ** 57n - 1n : BigInt(boosted);
  const exact = state % 2n === 1n || boosts > 0;
  return (
    (row.bonus >= 2 ** 52 ? 2n ** 63n : 0n) +
    (full ? 2n ** 62n + (state / 2n) * 2n ** 58n + (exact ? 2n ** 57n : 0n) : 0n) +
    least
  );
}

function toOracle(program: SearchProgram): Program {
  return {
    mode: program.mode,
    averageLength: program.averageLength,
    fields: program.slots.map(({ slot, weight, averageLength, infix }) => ({
      name: FIELDS[slot]?.name ?? "",
      weight,
      averageLength,
      infix: infix === true,
    })),
    words: program.words.map((word) => ({
      weight: word.weight,
      alternatives: word.alternatives.map((one) => ({ ...one, terms: [...one.terms] })),
    })),
    phrases: program.phrases.map((phrase) => [...phrase]),
    excludes: program.excludes.map((phrase) => [...phrase]),
    neighbours: program.neighbours,
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
      return values(row, operation.slot).some((value) => hasInOrder(value as string, operation.terms));
    case "ids":
      return operation.hashes.includes(hashOf(row.document.id));
    default:
      return true;
  }
}

function sortValue(row: Row, key: SortKey & { by: "field" }): SortValue {
  const value = values(row, key.slot)[0];
  if (value === undefined) return null;
  if (typeof value === "string") return Buffer.from(foldValue(value));
  return plainNumber(value, key.slot);
}

/** Returns int64 as bigint and everything else as number; -0 becomes 0. */
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
  const all = [...counts].map(([value, count]) => ({
    told: { value, count },
    count,
    bytes: bytes(value),
    folded: limit > 0 ? null : folded(value),
  }));
  all.sort((a, b) => {
    const first = limit > 0 ? b.count - a.count : compareValues(a.folded, b.folded);
    return first || compareValues(a.bytes, b.bytes);
  });
  return all.slice(0, limit > 0 ? limit : all.length).map(({ told }) => told);
}
