// Defines what one part of a query means, and how several such readings combine into a rewritten query.
import type { ResolvedField } from "../../catalog/schema/resolved-schema.js";
import type { SortRequest } from "../../question/request/query-sort.js";
import type { Language } from "./languages/language.js";
import type { TextPiece } from "./tokens.js";

/** What a part of the query means, and which tokens it was read from. */
export interface Reading {
  /** The reading uses the tokens in [from, to). */
  readonly from: number;
  readonly to: number;
  readonly kind: "range" | "value" | "sort" | "without" | "filler";
  /** A condition in filter_by syntax. */
  readonly filter?: string;
  readonly sort?: SortRequest;
  /** Unwanted words or phrases. Documents that contain them come last. */
  readonly avoided?: readonly string[];
  /** Explanation for the shopper. */
  readonly said: string;
  /**
   * How the index can refute the reading. "words": by a document that contains these words in this order,
   * along with the rest of the query. "lacking": by documents that say that they lack the thing. "all": by a
   * document that contains all of the query's words, or like "lacking". "unit": by documents in which the
   * number and its unit mean something else. "share": if the filter keeps too few of the documents that
   * contain the words. null: not at all.
   */
  readonly doubt: "words" | "lacking" | "all" | "unit" | "share" | null;
  /** The indexed value, if the typed word is a misspelling of it. */
  readonly corrected?: string;
  readonly language: Language;
}

/** A query rewritten according to its readings. */
export interface Rewritten {
  /** Text to search for; `*` if no text remains. */
  readonly text: string;
  /** The filter in filter_by syntax, or null. */
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

/**
 * Returns the text that is left after the readings have been cut out, without stray punctuation around the
 * cuts.
 */
export function keptText(text: string, tokens: readonly TextPiece[], readings: readonly Reading[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { from, to } of [...readings].sort((a, b) => a.from - b.from)) {
    parts.push(text.slice(at, tokens[from]!.start));
    at = tokens[to - 1]!.end;
    while (text[at] === '"') at++; // an unpaired quote (an inch mark), which could now open a phrase
  }
  parts.push(text.slice(at));
  return parts
    .map((part) => part.replace(/^[\s,;.:!?)\]]+(?=\s|$)|[\s,;:([]+$/gu, " ").trim())
    .filter((part) => /[\p{L}\p{M}\p{N}\p{S}"]/u.test(part))
    .join(" ")
    .replace(/\s+/g, " ")
    .trim();
}

/** Returns the tokens' original text. */
export function spanText(text: string, tokens: readonly TextPiece[], from: number, to: number): string {
  return text.slice(tokens[from]!.start, tokens[to - 1]!.end);
}

/**
 * Returns a filter for a text field that matches any of the `spellings`: as the whole value or, if `words` is
 * true, as words within a longer value.
 */
export function valueFilter(field: ResolvedField, spellings: readonly string[], words: boolean): string {
  const quoted = spellings.map((value) => `\`${value.replaceAll("`", "``")}\``);
  return `${field.name}${words ? ":" : ":="}${quoted.length === 1 ? quoted[0] : `[${quoted.join(",")}]`}`;
}

/** Returns a field's name in a readable form. */
export function labelOf({ name }: ResolvedField): string {
  return name.replace(/[_.]+/g, " ");
}

export function filled(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));
}
