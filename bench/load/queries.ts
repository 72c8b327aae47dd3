// Generates queries from documents: adjacent words of a field to search for, and values to filter by. The
// same documents, mix and seed give the same queries.

import type { InferredSchema, SchemaField } from "../../server/documents/formats/infer.js";
import { Random } from "../random.js";
import type { QueryKind, Workload } from "./workload.js";

export interface DrawnQuery {
  readonly kind: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export type SampleDocument = Readonly<Record<string, unknown>>;

const WORD = /[\p{L}\p{N}]{2,}/gu;
const TITLE_SHARE = 0.6;
const FREQUENT_WORDS = 10;
const FREQUENT_LETTERS_MIN = 3;
const MISSPELLINGS_TRIED = 20;

/** The words in the sample. */
interface Lexicon {
  readonly known: ReadonlySet<string>;
  /** The words contained in the most documents. */
  readonly frequent: readonly string[];
}

/** Draws `count` queries according to the workload's mix. Requires at least one document with text. */
export function drawQueries(
  workload: Workload,
  schema: InferredSchema,
  documents: readonly SampleDocument[],
  count: number,
): DrawnQuery[] {
  const random = new Random(workload.seed);
  const total = workload.mix.reduce((sum, kind) => sum + kind.share, 0);
  const lexicon = lexiconOf(documents, textFields(schema));
  const draw = (): DrawnQuery => {
    const kind = pickKind(workload.mix, random.next() * total);
    return { kind: kind.name, body: drawBody(kind, workload.perPage, schema, documents, lexicon, random) };
  };
  return Array.from({ length: count }, draw);
}

function textFields(schema: InferredSchema): SchemaField[] {
  return schema.fields.filter((field) => field.type === "string");
}

function lexiconOf(documents: readonly SampleDocument[], fields: readonly SchemaField[]): Lexicon {
  const counts = new Map<string, number>();
  for (const document of documents) {
    const text = fields.map((field) => document[field.name] ?? "").join(" ");
    for (const word of new Set(text.toLowerCase().match(WORD) ?? []))
      counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const long = [...counts]
    .filter(([word]) => word.length >= FREQUENT_LETTERS_MIN)
    .sort(([, a], [, b]) => b - a);
  return { known: new Set(counts.keys()), frequent: long.slice(0, FREQUENT_WORDS).map(([word]) => word) };
}

/** Returns the query kind whose range of the cumulative shares contains `at`. */
function pickKind(mix: readonly QueryKind[], at: number): QueryKind {
  let end = 0;
  for (const kind of mix) {
    end += kind.share;
    if (at < end) return kind;
  }
  return mix[0]!;
}

function drawBody(
  kind: QueryKind,
  perPage: number,
  schema: InferredSchema,
  documents: readonly SampleDocument[],
  lexicon: Lexicon,
  random: Random,
): Record<string, unknown> {
  const texts = textFields(schema);
  let document = random.pick(documents);
  let words: string[] = [];
  for (let attempt = 0; kind.words[1] > 0 && words.length === 0 && attempt < 100; attempt++) {
    document = random.pick(documents);
    words = drawWords(document, texts, random.from(...kind.words), random);
  }
  if (kind.frequent === true && lexicon.frequent.length > 0) words = [random.pick(lexicon.frequent)];
  if (kind.typo === true && words.length > 0) misspell(words, lexicon.known, random);
  if (kind.prefix === true && words.length > 0) cutLast(words, random);
  const body: Record<string, unknown> = { q: words.length === 0 ? "*" : words.join(" "), per_page: perPage };
  if (kind.filter === true) {
    const filter = drawFilter(document, schema, random);
    if (filter !== null) body.filter_by = filter;
  }
  if (kind.facets !== undefined) {
    body.facets = schema.fields
      .filter((f) => f.facet === true)
      .slice(0, kind.facets)
      .map((f) => f.name);
  }
  const numbers = schema.fields.filter(isNumeric);
  if (kind.sort === true && numbers.length > 0) {
    body.sort = `${random.pick(numbers).name}:${random.next() < 0.5 ? "asc" : "desc"}`;
  }
  return body;
}

/** Draws up to `count` adjacent words from one field, usually the first field with text. */
function drawWords(
  document: SampleDocument,
  fields: readonly SchemaField[],
  count: number,
  random: Random,
): string[] {
  const withText = fields.map((field) => document[field.name]).filter((value) => typeof value === "string");
  if (withText.length === 0) return [];
  const text = random.next() < TITLE_SHARE ? withText[0]! : random.pick(withText);
  const words = text.toLowerCase().match(WORD) ?? [];
  const start = random.below(Math.max(1, words.length - count + 1));
  return words.slice(start, start + count);
}

/**
 * Misspells the longest word by one edit after its first letter, where people usually mistype. Tries up to 20
 * times for a word that no sampled document contains. A word of fewer than four letters stays unchanged.
 */
function misspell(words: string[], known: ReadonlySet<string>, random: Random): void {
  let longest = 0;
  for (let i = 1; i < words.length; i++) if (words[i]!.length > words[longest]!.length) longest = i;
  const right = words[longest]!;
  if ([...right].length < 4) return;
  for (let attempt = 0; attempt < MISSPELLINGS_TRIED && known.has(words[longest]!); attempt++) {
    words[longest] = edited(right, random);
  }
}

function edited(word: string, random: Random): string {
  const letters = [...word];
  const at = random.from(1, letters.length - 2);
  const edit = random.below(4);
  if (edit === 0) letters.splice(at, 1);
  else if (edit === 1) letters.splice(at, 0, letters[at]!);
  else if (edit === 2) letters.splice(at, 2, letters[at + 1]!, letters[at]!);
  else letters[at] = "e";
  return letters.join("");
}

function cutLast(words: string[], random: Random): void {
  const letters = [...words[words.length - 1]!];
  if (letters.length > 3)
    words[words.length - 1] = letters.slice(0, random.from(2, letters.length - 1)).join("");
}

/**
 * Returns a filter for one of the document's facet values, or a range that starts or ends at one of its
 * numbers. Null if it has neither.
 */
function drawFilter(document: SampleDocument, schema: InferredSchema, random: Random): string | null {
  const usable = schema.fields.filter((field) => {
    const value = document[field.name];
    return (
      (isNumeric(field) && typeof value === "number") || (field.facet === true && typeof value === "string")
    );
  });
  if (usable.length === 0) return null;
  const field = random.pick(usable);
  const value = document[field.name];
  if (typeof value === "string") return `${field.name}:=\`${value.replaceAll("`", "")}\``;
  return `${field.name}:${random.next() < 0.5 ? ">=" : "<="}${String(value)}`;
}

function isNumeric(field: SchemaField): boolean {
  return field.type === "int32" || field.type === "int64" || field.type === "float";
}
