// Describes how a query was understood, for a response's `ai_context` member. Depends on readings, but not on
// how they were tried.
import type { AiContext } from "../found.js";
import type { Language } from "./languages/language.js";
import { filled, keptText, type Reading, type Rewritten } from "./reading.js";
import type { TextPiece } from "./tokens.js";

const ALTERNATIVES_MAX = 3;

export interface Told {
  readonly text: string;
  readonly tokens: readonly TextPiece[];
  readonly language: Language;
  /**
   * True if the readings were guessed from the words or claimed by a model, rather than expressed in the
   * query.
   */
  readonly guessed: boolean;
  /** Facet values that were read but not used. */
  readonly unused: readonly Reading[];
}

export function contextOf(meant: Rewritten, told: Told): AiContext {
  const { field, descending } = meant.sort ?? { field: null, descending: false };
  return {
    original_query: told.text,
    rewritten_query: meant.text,
    intent: intentOf(meant),
    user_message: messageOf(meant, told.language),
    alternative_queries: alternativesOf(meant, told),
    confidence: confidenceOf(meant, told),
    applied_filters: {
      filter_by: meant.filterBy,
      sort_by: field === null ? null : `${field.name}:${descending ? "desc" : "asc"}`,
      avoided: meant.avoided,
    },
  };
}

/** Returns the query's intent, according to its most significant reading. */
function intentOf({ text, filterBy, sort, avoided }: Rewritten): string {
  if (sort !== null) return "sort";
  if (filterBy !== null) return text === "*" ? "browse" : "filter";
  return avoided.length > 0 ? "avoid" : "search";
}

function messageOf(meant: Rewritten, { sentences }: Language): string {
  const words = wordsOf(meant);
  const head = words === "" ? sentences.browsed : filled(sentences.searched, { n: words });
  const said = meant.readings.flatMap((reading) =>
    reading.said === "" || !isUsed(reading, meant) ? [] : reading.said,
  );
  return said.length === 0 ? head : `${head} · ${said.join(" · ")}`;
}

/** False for a sort in the text if the request has its own sort. */
function isUsed(reading: Reading, { sort }: Rewritten): boolean {
  return reading.kind !== "sort" || sort !== null;
}

/** Returns the words to search for. */
function wordsOf({ text }: Rewritten): string {
  return text === "*" ? "" : text;
}

/**
 * Returns other wordings to offer, without filters: the rewritten text, the query with its values kept as
 * words, the query with unused values also removed, and the whole query as a phrase.
 */
function alternativesOf(meant: Rewritten, { text, tokens, unused }: Told): string[] {
  const isValue = ({ kind }: Reading): boolean => kind === "value";
  // Readings claimed by a model have no positions in the text.
  const placed = meant.readings.filter(({ from, to }) => to > from);
  const plain = keptText(
    text,
    tokens,
    placed.filter((reading) => !isValue(reading)),
  );
  const more = keptText(text, tokens, [...placed, ...unused].filter(isDisjoint));
  const literal = text.includes('"') ? "" : `"${text.trim()}"`;
  const all = [wordsOf(meant), plain, more, literal].filter((query) => query !== "" && query !== meant.text);
  return [...new Set(all)].slice(0, ALTERNATIVES_MAX);
}

function isDisjoint({ from, to }: Reading, i: number, all: readonly Reading[]): boolean {
  return all.slice(0, i).every((other) => other.to <= from || to <= other.from);
}

function confidenceOf({ readings }: Rewritten, { guessed }: Told): string {
  if (readings.some(({ corrected }) => corrected !== undefined) || guessed) return "low";
  return readings.some(({ doubt }) => doubt !== null) ? "medium" : "high";
}
