// What one reading of a part of a query is, and how readings become a rewritten query.
import type { ViewField } from "../../catalog/schema/index-view.js";
import type { SortRequest } from "../../question/request/query-sort.js";
import type { Language } from "./languages/language.js";
import type { TextPiece } from "./tokens.js";

/** Text and what is known of its places: the token from which a reader starts gives it all it needs. */
export interface Reading {
  /** Its tokens: `from` up to, but not including, `to`. */
  readonly from: number;
  readonly to: number;
  readonly kind: "range" | "value" | "sort" | "without" | "filler";
  /** A condition in the language of filter_by. */
  readonly filter?: string;
  readonly sort?: SortRequest;
  /** Words, or words in sequence, that are not wanted: documents with them come last. */
  readonly avoided?: readonly string[];
  /** In plain words, for people. */
  readonly said: string;
  /**
   * What else may be meant. "words": the words themselves, when a document has them in this order beside the rest of the query.
   * "all": the same, when a document has all words of the query. "share": the words, unless most documents that have them
   * pass the filter. null: nothing else.
   */
  readonly doubt: "words" | "all" | "share" | null;
  /** The value in the index differs from what was typed. */
  readonly corrected?: string;
  readonly language: Language;
}

/** A query as it was read. */
export interface Rewritten {
  /** What is searched for, `*` when nothing is left to search. */
  readonly text: string;
  /** The filter in the language of filter_by, or null. */
  readonly filterBy: string | null;
  readonly sort: SortRequest | null;
  readonly avoided: readonly string[];
  readonly readings: readonly Reading[];
}

export function rewritten(
  text: string,
  tokens: readonly TextPiece[],
  readings: readonly Reading[],
): Rewritten {
  const filters = [...new Set(readings.flatMap(({ filter }) => filter ?? []))];
  return {
    text: keptText(text, tokens, readings) || "*",
    filterBy: filters.length === 0 ? null : filters.join(" && "),
    sort: readings.find(({ sort }) => sort !== undefined)?.sort ?? null,
    avoided: readings.flatMap(({ avoided }) => avoided ?? []),
    readings,
  };
}

/** The text without the readings. Signs that stood between two of them go, too. */
export function keptText(text: string, tokens: readonly TextPiece[], readings: readonly Reading[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { from, to } of [...readings].sort((a, b) => a.from - b.from)) {
    parts.push(text.slice(at, tokens[from]!.start));
    at = tokens[to - 1]!.end;
    while (text[at] === '"') at++; // it closes nothing, but could open a phrase once no word stands before it
  }
  parts.push(text.slice(at));
  return parts
    .map((part) => part.replace(/^[\s,;.:!?)\]]+(?=\s|$)|[\s,;:([]+$/gu, " ").trim())
    .filter((part) => /[\p{L}\p{M}\p{N}\p{S}"]/u.test(part))
    .join(" ")
    .replace(/\s+/g, " ")
    .trim();
}

/** The tokens' own text. */
export function spanText(text: string, tokens: readonly TextPiece[], from: number, to: number): string {
  return text.slice(tokens[from]!.start, tokens[to - 1]!.end);
}

/** One of these values of a text field; the whole value, or with `words` the words within a longer one. */
export function valueFilter(field: ViewField, spellings: readonly string[], words: boolean): string {
  const quoted = spellings.map((value) => `\`${value.replaceAll("`", "``")}\``);
  return `${field.name}${words ? ":" : ":="}${quoted.length === 1 ? quoted[0] : `[${quoted.join(",")}]`}`;
}

/** What people call a field. */
export function labelOf({ name }: ViewField): string {
  return name.replace(/[_.]+/g, " ");
}

export function filled(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));
}
