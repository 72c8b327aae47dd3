// What the HTTP threads ask the thread of the query log, and what it answers.
import type { BackupFileSums } from "../../../shards/storage/backup-file.js";
import type { Popular } from "../reports/popular.js";
import type { Report, ReportRequest } from "../reports/report.js";
import type { LogRows } from "../reports/stored-rows.js";
import type { Window } from "../reports/window.js";
import type { Person } from "../rows/journal.js";

export type AnalyticsTask =
  | { readonly kind: "append"; readonly chunk: Uint8Array; readonly nowMs: number }
  | { readonly kind: "report"; readonly request: ReportRequest }
  | { readonly kind: "popular"; readonly log: number; readonly window: Window }
  /** `window`: an hour or less. */
  | { readonly kind: "export"; readonly log: number; readonly window: Window }
  /** `window`: a day or less. */
  | { readonly kind: "rows"; readonly log: number; readonly window: Window }
  | {
      readonly kind: "words";
      readonly log: number;
      readonly dictionary: "texts" | "documents";
      readonly numbers: readonly number[];
    }
  | { readonly kind: "upkeep"; readonly nowMs: number }
  /** `logs`: those that an index has. */
  | {
      readonly kind: "sweep";
      readonly nowMs: number;
      readonly bytesMax: number;
      readonly logs: readonly number[];
    }
  | { readonly kind: "drop"; readonly log: number }
  | { readonly kind: "forget"; readonly log: number; readonly person: Person }
  /** `stop`: shared by the threads; other than 0 when the backup is given up. */
  | { readonly kind: "backup"; readonly path: string; readonly stop: Int32Array }
  | { readonly kind: "close" };

export interface AnalyticsReplies {
  append: null;
  report: Report;
  popular: Popular;
  /** Lines of NDJSON. */
  export: Uint8Array;
  rows: LogRows;
  words: readonly string[];
  upkeep: null;
  sweep: null;
  drop: null;
  /** Rows. */
  forget: number;
  backup: BackupFileSums;
  close: null;
}

/** `storage`: the disk took nothing of it. `damage`: stored bytes cannot be read. */
export interface AnalyticsRefusal {
  readonly refused: "storage" | "damage";
  readonly message: string;
}

export interface AnalyticsReply<T> {
  readonly reply: T;
  /** What was found damaged when the log was opened. Told once. */
  readonly damage: readonly string[];
}
