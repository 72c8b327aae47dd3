// What the coach asks about an index: its log and its current results. The coach runs on its own thread and
// gets the answers from another one.
import type { RuleDraft } from "../catalog/records/rule.js";
import type { LogRows } from "../query-log/reports/stored-rows.js";

export interface ShopHit {
  readonly id: string;
  /** Facet values of the document, converted to text. */
  readonly facets: Readonly<Record<string, readonly string[]>>;
}

export interface ShopAnswer {
  readonly found: number;
  readonly hits: readonly ShopHit[];
  /** Spelling corrections that the index offers for the query. */
  readonly corrections: readonly string[];
}

export interface ShopQuestion {
  readonly q: string;
  /** True to match only the words themselves, without prefixes and typos. */
  readonly exact?: boolean;
  /** A rule to try out before it is proposed. */
  readonly rule?: RuleDraft;
}

export interface Shop {
  /** ISO 639-1, null if unspecified. */
  readonly language: string | null;
  rows(fromMs: number, toMs: number): Promise<LogRows>;
  /** Texts of the log by their dictionary numbers. */
  texts(numbers: readonly number[]): Promise<readonly string[]>;
  /** Document ids by their dictionary numbers. */
  documents(numbers: readonly number[]): Promise<readonly string[]>;
  /** Current results from the index. The search is neither logged nor counted. */
  search(question: ShopQuestion): Promise<ShopAnswer>;
}
