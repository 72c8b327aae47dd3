// The expected contents of a segment, computed directly from the documents: a naive model of the build
// kernel. Requires valid documents. Byte order and packing are left to segment-reader.ts, which decodes the
// real segment.
import * as L from "../../../engine-wasm/assembly/layout.js";
import { analyse, encodeNorm, foldValue, type OracleAnalysis } from "../words/analyse.js";
import { markerTerms } from "../words/markers.js";
import type { ReadDictionary, ReadField, ReadList, ReadSegment, ReadTerm } from "./segment-reader.js";

export interface TwinField {
  slot: number;
  name: string;
  type: number;
  flags: number;
  language: number;
}

export type TwinScalar = string | number | bigint | boolean;
export type TwinDocument = { id: string } & Record<string, TwinScalar | TwinScalar[] | null>;
type Hash = (bytes: Uint8Array) => bigint;

interface Cell {
  norm: number;
  /** Values in order; empty if the field is missing. */
  values: TwinScalar[];
  /** Term -> positions. */
  terms: Map<string, number[]>;
}

const isText = (type: number): boolean => type === L.TYPE_STRING || type === L.TYPE_STRINGS;
const isArray = (type: number): boolean => [L.TYPE_STRINGS, L.TYPE_INT32S, L.TYPE_FLOATS].includes(type);
const isFloat = (type: number): boolean => type === L.TYPE_FLOAT || type === L.TYPE_FLOATS;
const compareText = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

function readCell(document: TwinDocument, field: TwinField, analysis: OracleAnalysis): Cell {
  const raw = document[field.name] ?? null;
  const values = raw === null ? [] : Array.isArray(raw) ? raw : [raw];
  const cell: Cell = { norm: 0, values, terms: new Map() };
  if (!isText(field.type) || (field.flags & L.FLAG_INDEX) === 0) return cell;
  let next = 0;
  let tokens = 0;
  const occurs = (term: string, position: number): void => {
    cell.terms.set(term, [...(cell.terms.get(term) ?? []), position]);
  };
  const marking = {
    language: field.language,
    sku: (field.flags & L.FLAG_SKU) !== 0,
    brand: (field.flags & L.FLAG_BRAND) !== 0,
  };
  for (const value of values as string[]) {
    if (field.type === L.TYPE_STRINGS) occurs("", next);
    const found = analyse(value, analysis);
    for (const token of found) occurs(token.term, next + token.position);
    const words = found.filter((token) => token.parts === 1);
    for (const marker of markerTerms(words, marking)) occurs(marker.term, next + marker.position);
    tokens += words.length;
    next += words.length + L.ELEMENT_GAP;
  }
  cell.norm = encodeNorm(tokens);
  return cell;
}

/** The value as the field's dictionary stores it. */
function dictionaryValue(value: TwinScalar, type: number): string | bigint | number {
  if (isText(type)) return value as string;
  if (isFloat(type)) return Number(value) + 0;
  return typeof value === "boolean" ? BigInt(value) : BigInt(value as number);
}

function columnValue(value: TwinScalar | undefined, type: number): number | bigint {
  if (type === L.TYPE_INT64) return BigInt((value ?? 0) as number);
  return value === undefined ? 0 : Number(value) + 0;
}

function makeDictionary(values: TwinScalar[], type: number): ReadDictionary {
  const distinct = [...new Set(values.map((value) => dictionaryValue(value, type)))];
  if (isText(type)) {
    const pairs = (distinct as string[]).map((raw): [string, string] => [raw, foldValue(raw)]);
    return pairs.sort((a, b) => compareText(a[1], b[1]) || compareText(a[0], b[0]));
  }
  return (distinct as number[]).sort((a, b) => (a < b ? -1 : 1));
}

function makeField(field: TwinField, cells: Cell[], hash: Hash): ReadField {
  const { type, flags } = field;
  const column = (flags & (L.FLAG_INDEX | L.FLAG_SORT | L.FLAG_FACET)) !== 0;
  const hasDictionary = (flags & L.FLAG_FACET) !== 0 || (isText(type) && (flags & L.FLAG_SORT) !== 0);
  const indexed = isText(type) && (flags & L.FLAG_INDEX) !== 0;
  const elements: (TwinScalar | undefined)[] = isArray(type)
    ? cells.flatMap((cell) => (column ? cell.values : []))
    : cells.map((cell) => cell.values[0]);
  const present = elements.filter((value) => value !== undefined);
  const dictionary = hasDictionary ? makeDictionary(present, type) : null;
  const places = new Map(
    dictionary?.map((value, i) => [Array.isArray(value) ? value[0] : value, i] as const) ?? [],
  );
  const offsets = [0];
  for (const cell of cells) offsets.push(offsets.at(-1)! + cell.values.length);
  const folded = (value: TwinScalar): Uint8Array => Buffer.from(foldValue(value as string));
  return {
    slot: field.slot,
    type,
    flags,
    elements: elements.length,
    norms: indexed ? cells.map((cell) => cell.norm) : null,
    present: cells.map((cell) => cell.values.length > 0),
    offsets: isArray(type) && column ? offsets : null,
    values: !isText(type) && column ? elements.map((value) => columnValue(value, type)) : null,
    hashes:
      indexed && !hasDictionary
        ? elements.map((value) => (value === undefined ? 0n : hash(folded(value))))
        : null,
    ordinals: hasDictionary
      ? elements.map((value) =>
          value === undefined ? L.NO_ORDINAL : places.get(dictionaryValue(value, type))!,
        )
      : null,
    dictionary,
  };
}

function makeList(slot: number, cells: Cell[], term: string): ReadList {
  const postings = cells.flatMap((cell, row) => {
    const positions = cell.terms.get(term);
    return positions === undefined ? [] : [{ row, positions }];
  });
  const blocks = [];
  for (let end = L.BLOCK_ROWS; end <= postings.length; end += L.BLOCK_ROWS) {
    const block = postings.slice(end - L.BLOCK_ROWS, end);
    blocks.push({
      lastRow: block.at(-1)!.row,
      maxTf: Math.min(255, Math.max(...block.map((posting) => posting.positions.length))),
      minNorm: Math.min(...block.map((posting) => cells[posting.row]!.norm)),
    });
  }
  return { slot, postings, blocks };
}

/** Returns the expected segment for `documents` with the sequence numbers `seqs`. */
export function makeSegment(
  fields: TwinField[],
  documents: TwinDocument[],
  seqs: number[],
  hash: Hash,
  analysis: OracleAnalysis,
): ReadSegment {
  const sorted = [...fields].sort((a, b) => a.slot - b.slot);
  const columns = sorted.map((field) => documents.map((document) => readCell(document, field, analysis)));
  const terms = new Set(columns.flat().flatMap((cell) => [...cell.terms.keys()]));
  const ids = documents.map((document, row) => ({ hash: hash(Buffer.from(document.id)), row }));
  return {
    rows: documents.length,
    seqs,
    ids: ids.sort((a, b) => (a.hash < b.hash ? -1 : 1)),
    terms: [...terms].sort(compareText).map(
      (term): ReadTerm => ({
        term,
        lists: sorted
          .map((field, i) => makeList(field.slot, columns[i]!, term))
          .filter((list) => list.postings.length > 0),
      }),
    ),
    fields: sorted.map((field, i) => makeField(field, columns[i]!, hash)),
  };
}
