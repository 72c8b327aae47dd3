// Formats a query response for a terminal: hits as a table with columns chosen from the documents,
// explanations of their ranks, facets, and the number of results. Pure functions.

import { type Column, displayWidth, grouped, oneLine, renderTable, truncate } from "./table.js";

interface QueryHit {
  readonly document: Readonly<Record<string, unknown>>;
  readonly text_match: number;
  readonly relevance_bonus?: number;
  readonly match_type?: string;
  readonly explanation?: { readonly text: readonly string[] } | null;
}

/** The members of a query response that are displayed. */
export interface QueryAnswer {
  readonly hits: readonly QueryHit[];
  readonly found: number;
  readonly page: number;
  readonly per_page: number;
  readonly total_pages: number;
  readonly facets?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly search_time_ms: number;
  readonly data?: { readonly facet_counts?: readonly FacetCounts[] };
}

interface FacetCounts {
  readonly field_name: string;
  readonly counts: readonly { readonly value: unknown; readonly count: number }[];
}

const TITLE_NAMES = [
  "title",
  "name",
  "product_name",
  "product_title",
  "label",
  "headline",
  "subject",
  "summary",
];
const OTHER_FIELDS_MAX = 6;
const SHORT_CHARACTERS = 28;
const TITLE_WIDTH_WANTED = 30;
const WEB_ADDRESS = /^(https?:)?\/\//;

export function resultLines(answer: QueryAnswer, width: number): string[] {
  const lines: string[] = [];
  if (answer.hits.length > 0) lines.push(...hitTable(answer.hits, width, rankColumns(answer.hits)), "");
  lines.push(...answer.hits.flatMap(explanationLines));
  for (const facet of facetCounts(answer)) {
    const values = facet.counts.map(({ value, count }) => `${oneLine(String(value))} (${grouped(count)})`);
    lines.push(
      truncate(`${facet.field_name}: ${values.length === 0 ? "no values" : values.join(", ")}`, width),
    );
  }
  lines.push(foundLine(answer));
  return lines;
}

/** The members of a similar-documents response that are displayed. */
export interface SimilarAnswer {
  readonly data: {
    readonly hits: readonly (Pick<QueryHit, "document"> & { readonly similarity: number | null })[];
    readonly took_ms: number;
  };
}

/**
 * Formats a similar-documents response. The similarity column is left out if no hit has a value, because the
 * index has no vectors.
 */
export function similarLines({ data: { hits, took_ms } }: SimilarAnswer, width: number): string[] {
  const cells = hits.map(({ similarity }) => similarity?.toFixed(2) ?? "");
  const known: RankColumn[] = cells.every((cell) => cell === "")
    ? []
    : [{ title: "similarity", align: "right", cells }];
  const found = `${grouped(hits.length)} similar, ${took_ms} ms`;
  return hits.length === 0 ? [found] : [...hitTable(hits, width, known), "", found];
}

/** The hit's id, then the indented lines of the server's explanation. Empty if the hit has no explanation. */
function explanationLines({ document, explanation }: QueryHit): string[] {
  if (explanation === undefined || explanation === null || explanation.text.length === 0) return [];
  return [`${cellText(document.id)}:`, ...explanation.text.map((sentence) => `  ${oneLine(sentence)}`), ""];
}

function foundLine(answer: QueryAnswer): string {
  const pages =
    answer.total_pages > 1 ? `, page ${grouped(answer.page)} of ${grouped(answer.total_pages)}` : "";
  return `${grouped(answer.found)} found${pages}, ${answer.search_time_ms} ms`;
}

function facetCounts(answer: QueryAnswer): readonly FacetCounts[] {
  if (answer.data?.facet_counts !== undefined) return answer.data.facet_counts;
  return Object.entries(answer.facets ?? {}).map(([field_name, values]) => ({
    field_name,
    counts: Object.entries(values).map(([value, count]) => ({ value, count })),
  }));
}

function hitTable(
  hits: readonly Pick<QueryHit, "document">[],
  width: number,
  ranked: readonly RankColumn[],
): string[] {
  const documents = hits.map((hit) => hit.document);
  const names = fieldNames(documents);
  const title = titleField(documents, names);
  const others = otherFields(
    documents,
    names.filter((name) => name !== title),
  );
  const columns: Column[] = [{ title: "id", minWidth: 24 }];
  if (title !== null) columns.push({ title, minWidth: 20 });
  let room = width - 12 - TITLE_WIDTH_WANTED - (ranked.length > 0 ? 10 : 0);
  const shown: string[] = [];
  for (const name of others) {
    const cells = documents.map((document) => displayWidth(cellText(document[name])));
    const needed = Math.max(displayWidth(name), ...cells) + 2;
    if (needed > room || shown.length === OTHER_FIELDS_MAX) continue;
    room -= needed;
    shown.push(name);
    const numeric = documents.every(
      (d) => d[name] === undefined || d[name] === null || typeof d[name] === "number",
    );
    columns.push({ title: name, align: numeric ? "right" : "left", minWidth: Math.min(needed - 2, 10) });
  }
  columns.push(...ranked);
  const rows = documents.map((document, i) => {
    const row = [cellText(document.id)];
    if (title !== null) row.push(cellText(document[title]));
    for (const name of shown) row.push(cellText(document[name]));
    for (const { cells } of ranked) row.push(cells[i]!);
    return row;
  });
  return renderTable(columns, rows, width);
}

function fieldNames(documents: readonly Readonly<Record<string, unknown>>[]): string[] {
  const names = new Set<string>();
  for (const document of documents)
    for (const name of Object.keys(document)) if (name !== "id") names.add(name);
  return [...names];
}

function titleField(
  documents: readonly Readonly<Record<string, unknown>>[],
  names: readonly string[],
): string | null {
  const known = TITLE_NAMES.find((name) => names.includes(name));
  return (
    known ?? names.find((name) => documents.every((document) => typeof document[name] === "string")) ?? null
  );
}

/** The fields whose values on this page are all short, in document order. */
function otherFields(
  documents: readonly Readonly<Record<string, unknown>>[],
  names: readonly string[],
): string[] {
  return names.filter((name) => {
    const values = documents.map((document) => document[name]).filter((v) => v !== undefined && v !== null);
    if (values.length === 0 || values.some((v) => typeof v === "object" && !isFlatList(v))) return false;
    const texts = values.map(cellText);
    return texts.every((text) => text.length <= SHORT_CHARACTERS && !WEB_ADDRESS.test(text));
  });
}

function isFlatList(value: unknown): boolean {
  return Array.isArray(value) && value.every((element) => typeof element !== "object");
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return oneLine(value.join(", "));
  return typeof value === "object" ? "{...}" : oneLine(String(value));
}

interface RankColumn extends Column {
  readonly cells: readonly string[];
}

// How text_match and relevance_bonus are composed (docs/ranking.md). Must match the server.
const WHOLE_PART_NUMBER = 2 ** 52;
const NEIGHBOURS_FIRST = 2 ** 52;
const EVERY_WORD = 2 ** 51;
const TYPO_STEP = 2 ** 47;
const EVERY_WORD_EXACT = 2 ** 46;
const TYPOS_MAX = 15;

/**
 * Columns that show how well the hits match. `score` is a hit's relevance as a percentage of the page's best.
 * Hits are ranked first by how well their words match, so if hits differ in that, a `match` column shows it.
 * A query without words gets neither column.
 */
function rankColumns(hits: readonly QueryHit[]): RankColumn[] {
  const relevance = hits.map(
    (hit) => (hit.text_match % EVERY_WORD_EXACT) + ((hit.relevance_bonus ?? 0) % WHOLE_PART_NUMBER),
  );
  const best = Math.max(...relevance);
  if (best === 0) return [];
  const score = relevance.map((points) => String(Math.round((100 * points) / best)));
  const columns: RankColumn[] = [{ title: "score", align: "right", cells: score }];
  const match = hits.map(howWordsMatch);
  return new Set(match).size > 1 ? [{ title: "match", cells: match }, ...columns] : columns;
}

function howWordsMatch(hit: QueryHit): string {
  if (hit.match_type === "pinned") return "pinned";
  if (hit.match_type === "semantic" || hit.text_match >= NEIGHBOURS_FIRST) return "meaning";
  if ((hit.relevance_bonus ?? 0) >= WHOLE_PART_NUMBER) return "part number";
  if (hit.text_match < EVERY_WORD) return "some words";
  const typos = TYPOS_MAX - Math.floor((hit.text_match - EVERY_WORD) / TYPO_STEP);
  if (typos > 0) return typos === 1 ? "1 typo" : `${typos} typos`;
  return hit.text_match % TYPO_STEP >= EVERY_WORD_EXACT ? "exact" : "other form";
}
