// Questions of the coach about an index: its log, and its current results. The coach runs on a thread of its
// own; the answers come from elsewhere.
import type { RuleDraft } from "../catalog/records/rule.js";
import type { LogRows } from "../query-log/reports/stored-rows.js";

export interface ShopHit {
  readonly id: string;
  /** Facet values of the document, as text. */
  readonly facets: Readonly<Record<string, readonly string[]>>;
}

export interface ShopAnswer {
  readonly found: number;
  readonly hits: readonly ShopHit[];
  /** The index's spelling of the query. */
  readonly corrections: readonly string[];
}

export interface ShopQuestion {
  readonly q: string;
  /** Only the words themselves, without prefixes and typos. */
  readonly exact?: boolean;
  /** A rule to try before it is proposed. */
  readonly rule?: RuleDraft;
}

export interface Shop {
  /** ISO 639-1, null if unspecified. */
  readonly language: string | null;
  rows(fromMs: number, toMs: number): Promise<LogRows>;
  /** Texts of the log by number. */
  texts(numbers: readonly number[]): Promise<readonly string[]>;
  /** Document ids by number. */
  documents(numbers: readonly number[]): Promise<readonly string[]>;
  /** Current results of the index. Neither logged nor counted. */
  search(question: ShopQuestion): Promise<ShopAnswer>;
}
