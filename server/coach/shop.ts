// The coach's interface to an index: its log and its current results. The coach runs on its own thread, and
// its requests are sent to the thread that can answer them.
import type { RuleDraft } from "../catalog/records/rule.js";
import type { LogRows } from "../query-log/reports/stored-rows.js";

export interface ShopHit {
  readonly id: string;
  /** The document's values in its string facet fields. */
  readonly facets: Readonly<Record<string, readonly string[]>>;
}

export interface ShopAnswer {
  readonly found: number;
  readonly hits: readonly ShopHit[];
  /** Spelling corrections that the index suggests for the query. */
  readonly corrections: readonly string[];
}

export interface ShopQuestion {
  readonly q: string;
  /** True to match only the query's words themselves: no prefixes, no typos, no dropped words. */
  readonly exact?: boolean;
  /** A rule to try out before it is proposed. */
  readonly rule?: RuleDraft;
}

export interface Shop {
  /** The index's language as an ISO 639-1 code; null if unspecified. */
  readonly language: string | null;
  rows(fromMs: number, toMs: number): Promise<LogRows>;
  /** Returns logged texts by their dictionary numbers. */
  texts(numbers: readonly number[]): Promise<readonly string[]>;
  /** Returns document ids by their dictionary numbers. */
  documents(numbers: readonly number[]): Promise<readonly string[]>;
  /** Returns the index's current results. The search is neither logged nor counted. */
  search(question: ShopQuestion): Promise<ShopAnswer>;
}
