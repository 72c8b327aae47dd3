// What the coach asks about an index while it works: its log, and what it finds now. The coach runs on a thread of its own; who
// answers is elsewhere.
import type { RuleDraft } from "../catalog/records/rule.js";
import type { LogRows } from "../query-log/reports/stored-rows.js";

export interface ShopHit {
  readonly id: string;
  /** Values of the document's facet fields, as text. */
  readonly facets: Readonly<Record<string, readonly string[]>>;
}

export interface ShopAnswer {
  readonly found: number;
  readonly hits: readonly ShopHit[];
  /** The query as the index would spell it. */
  readonly corrections: readonly string[];
}

export interface ShopQuestion {
  readonly q: string;
  /** Only the words themselves: no beginnings and no typing errors. */
  readonly exact?: boolean;
  /** A rule that is tried before it is proposed. */
  readonly rule?: RuleDraft;
}

export interface Shop {
  /** ISO 639-1, null when the index does not say. */
  readonly language: string | null;
  rows(fromMs: number, toMs: number): Promise<LogRows>;
  /** Of the log's texts by their numbers. */
  texts(numbers: readonly number[]): Promise<readonly string[]>;
  /** Ids of documents by their numbers. */
  documents(numbers: readonly number[]): Promise<readonly string[]>;
  /** What the index finds now. Nothing is logged or counted. */
  search(question: ShopQuestion): Promise<ShopAnswer>;
}
