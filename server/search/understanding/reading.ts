// One reading of a part of a query, and the combination of readings into a rewritten query.
import type { ViewField } from "../../catalog/schema/index-view.js";
import type { SortRequest } from "../../question/request/query-sort.js";
import type { Language } from "./languages/language.js";
import type { TextPiece } from "./tokens.js";

/** Text and everything known about its positions. */
export interface Reading {
  /** Tokens in [from, to). */
  readonly from: number;
  readonly to: number;
  readonly kind: "range" | "value" | "sort" | "without" | "filler";
  /** A condition in the language of filter_by. */
  readonly filter?: string;
  readonly sort?: SortRequest;
  /** Unwanted words or sequences of words. Documents that contain them come last. */
  readonly avoided?: readonly string[];
  /** Explanation in plain words. */
  readonly said: string;
  /**
   * When the words mean something else instead. "words": if a document has these words in this order as well
   * as the rest of the query. "all": if a document has all words of the query. "share": unless the filter
   * keeps most of the documents that contain the words. null: never.
   */
  readonly doubt: "words" | "all" | "share" | null;
  /** The indexed value, if it differs from what was typed. */
  readonly corrected?: string;
  readonly language: Language;
}

/** The interpretation of a query. */
export interface Rewritten {
  /** Text to search for; `*` if nothing is left. */
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

/** The text without the readings, and without the punctuation between adjacent readings. */
export function keptText(text: string, tokens: readonly TextPiece[], readings: readonly Reading[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { from, to } of [...readings].sort((a, b) => a.from - b.from)) {
    parts.push(text.slice(at, tokens[from]!.start));
    at = tokens[to - 1]!.end;
    while (text[at] === '"') at++; // it closes no phrase, but could open one if no word precedes it
  }
  parts.push(text.slice(at));
  return parts
    .map((part) => part.replace(/^[\s,;.:!?)\]]+(?=\s|$)|[\s,;:([]+$/gu, " ").trim())
    .filter((part) => /[\p{L}\p{M}\p{N}\p{S}"]/u.test(part))
    .join(" ")
    .replace(/\s+/g, " ")
    .trim();
}

/** The tokens' original text. */
export function spanText(text: string, tokens: readonly TextPiece[], from: number, to: number): string {
  return text.slice(tokens[from]!.start, tokens[to - 1]!.end);
}

/**
 * A filter for a text field that matches any of the `spellings`: as the whole value or, with `words`, as
 * words within a longer value.
 */
export function valueFilter(field: ViewField, spellings: readonly string[], words: boolean): string {
  const quoted = spellings.map((value) => `\`${value.replaceAll("`", "``")}\``);
  return `${field.name}${words ? ":" : ":="}${quoted.length === 1 ? quoted[0] : `[${quoted.join(",")}]`}`;
}

/** A field's name in a form suitable for people. */
export function labelOf({ name }: ViewField): string {
  return name.replace(/[_.]+/g, " ");
}

export function filled(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));
}
