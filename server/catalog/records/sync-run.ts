// Runs of data sources: the record and its storage. server/documents/sources creates and changes them.
import type { FeedErrorCode } from "../../ground/errors.js";
import type { StoredKind } from "./kind.js";

export const RUN_STATUSES = ["queued", "running", "completed", "failed", "auth_failed", "cancelled"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const RUN_TRIGGERS = ["manual", "schedule", "start"] as const;
export type RunTrigger = (typeof RUN_TRIGGERS)[number];

/** One run of a data source, which reads its feed. */
export interface SyncRun {
  readonly id: number;
  /** Uid of the source's index. */
  readonly index: number;
  readonly source: number;
  readonly status: RunStatus;
  readonly trigger: RunTrigger;
  /** ISO 8601 UTC. */
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly counts: RunCounts;
  readonly not_modified: boolean;
  readonly error: string | null;
  readonly error_code: FeedErrorCode | null;
  /**
   * The first errors of single items as deflated JSON, which is small because most of them repeat. Null if
   * there are none.
   */
  readonly packedErrors: Uint8Array | null;
}

export interface RunCounts {
  /** Number of documents written, new or changed. */
  readonly imported: number;
  readonly failed: number;
  readonly deleted: number;
  readonly unchanged: number;
  /** Size of the feed in bytes, as received. */
  readonly bytes: number;
}

export const RUN_KIND = {
  name: "run",
  counter: "nextRunId",
  of: "index",
  vital: false,
  copiedAs: null,
  goesWith: "name",
} as const satisfies StoredKind;
