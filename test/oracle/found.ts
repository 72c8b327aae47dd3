// The oracle's results on their way to an answer, and which documents are related if there are few. Knows
// nothing of how documents are stored or rated.
import type { Wishes } from "./curation.js";
import type { Weighed } from "./plan.js";
import type { Neighbours, Program, RowMatch, Word } from "./score.js";
import type { Row } from "./segments/rows.js";
import type { QueryText } from "./words/text.js";

/** From this number of full matches on, related documents are not listed. */
export const FEW_MATCHES = 3;
export const RELATED_MAX = 5;

export interface Match {
  row: Row;
  /** Null for a pinned document that does not match. */
  match: RowMatch | null;
  bonus: number;
  final: bigint;
  /** Larger first: pinned in their order, then others, then buried. */
  place: number;
}

export interface Matched {
  found: Match[];
  /** A rule changed something. */
  curated: boolean;
}

/** The results of matching words. */
export interface Search {
  matched: Matched;
  /** All words had to match. */
  all: boolean;
  /** Number of documents that match all words. */
  full: number;
  text: QueryText;
  weighed: Weighed;
  wishes: Wishes;
  /** Repeats the search of this query with other words. */
  attempt(mode: Program["mode"], words: Word[], neighbours?: Neighbours | null, wishes?: Wishes): Matched;
}

export interface Found extends Search {
  mode: string;
  /** Sequence numbers of the documents found by vectors. */
  near: ReadonlySet<number>;
  related: Row[];
}

/** Documents that have some of the words, best first, if few have all of them. */
export function relatedTo({ text, all, weighed, attempt }: Search, matched: Matched): Row[] {
  if (text.words.length === 0 || !all || fullMatches(matched) >= FEW_MATCHES) return [];
  const present = new Set(matched.found.map(({ row }) => row));
  const others = bestFirst(attempt("any", weighed.words)).filter(({ row }) => !present.has(row));
  return others.slice(0, RELATED_MAX).map(({ row }) => row);
}

/** By relevance alone, then newest first. */
export function bestFirst({ found }: Matched): Match[] {
  return [...found].sort((a, b) =>
    a.final === b.final ? b.row.seq - a.row.seq : a.final < b.final ? 1 : -1,
  );
}

export function fullMatches({ found }: Matched): number {
  return found.filter(({ match }) => match !== null).length;
}

export function matchType(match: RowMatch | null, near: boolean): string {
  if (match === null) return "pinned";
  if (!match.neighbour) return "keyword";
  if (!match.hasWord) return "semantic";
  return near ? "hybrid" : "keyword";
}
