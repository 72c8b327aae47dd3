// Tasks that the main thread sends to the query log's thread, and the replies.
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
  /** `window` covers at most an hour. */
  | { readonly kind: "export"; readonly log: number; readonly window: Window }
  /** `window` covers at most a day. */
  | { readonly kind: "rows"; readonly log: number; readonly window: Window }
  | {
      readonly kind: "words";
      readonly log: number;
      readonly dictionary: "texts" | "documents";
      readonly numbers: readonly number[];
    }
  | { readonly kind: "upkeep"; readonly nowMs: number }
  /** `logs` contains the log numbers of all existing indexes. The sweep deletes all other logs. */
  | {
      readonly kind: "sweep";
      readonly nowMs: number;
      readonly bytesMax: number;
      readonly logs: readonly number[];
    }
  | { readonly kind: "drop"; readonly log: number }
  | { readonly kind: "forget"; readonly log: number; readonly person: Person }
  /** `stop` is shared between the threads. A nonzero value cancels the backup. */
  | { readonly kind: "backup"; readonly path: string; readonly stop: Int32Array }
  | { readonly kind: "close" };

export interface AnalyticsReplies {
  append: null;
  report: Report;
  popular: Popular;
  /** NDJSON lines. */
  export: Uint8Array;
  rows: LogRows;
  words: readonly string[];
  upkeep: null;
  sweep: null;
  drop: null;
  /** Number of anonymised rows. */
  forget: number;
  backup: BackupFileSums;
  close: null;
}

/** `storage` means that the disk is full or failing, `damage` that stored bytes are unreadable. */
export interface AnalyticsRefusal {
  readonly refused: "storage" | "damage";
  readonly message: string;
}

export interface AnalyticsReply<T> {
  readonly reply: T;
  /** Damage found when the log was opened. Only the first reply after that contains it. */
  readonly damage: readonly string[];
}
