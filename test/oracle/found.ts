// The result of an oracle search before it is converted to an answer, and the choice of related documents
// when few documents match. Knows nothing about how documents are stored and scored.
import type { Wishes } from "./curation.js";
import type { Weighed } from "./plan.js";
import type { Neighbours, Program, RowMatch, Word } from "./score.js";
import type { Row } from "./segments/rows.js";
import type { QueryText } from "./words/text.js";

/** With at least this number of full matches, no related documents are listed. */
export const FEW_MATCHES = 3;
export const RELATED_MAX = 5;

export interface Match {
  row: Row;
  /** Null for a pinned document that does not match the query. */
  match: RowMatch | null;
  bonus: number;
  final: bigint;
  /** Sort key, largest first: pinned documents in their order, then ordinary ones, then buried ones. */
  place: number;
}

export interface Matched {
  found: Match[];
  /** True if a rule changed the result. */
  curated: boolean;
}

/** The result of a search by words. */
export interface Search {
  matched: Matched;
  /** True if all words had to match. */
  all: boolean;
  /** Number of documents that match all words. */
  full: number;
  text: QueryText;
  weighed: Weighed;
  wishes: Wishes;
  /** Repeats this query's search with different words. */
  attempt(mode: Program["mode"], words: Word[], neighbours?: Neighbours | null, wishes?: Wishes): Matched;
}

export interface Found extends Search {
  mode: string;
  /** Sequence numbers of documents found by vectors. */
  near: ReadonlySet<number>;
  related: Row[];
}

/** If few documents have all the words, returns other documents with some of them, best first. */
export function relatedTo({ text, all, weighed, attempt }: Search, matched: Matched): Row[] {
  if (text.words.length === 0 || !all || fullMatches(matched) >= FEW_MATCHES) return [];
  const present = new Set(matched.found.map(({ row }) => row));
  const others = bestFirst(attempt("any", weighed.words)).filter(({ row }) => !present.has(row));
  return others.slice(0, RELATED_MAX).map(({ row }) => row);
}

/** Sorts by relevance alone; on a tie, newer documents come first. */
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
