// Data source runs: the record and its storage. server/documents/sources creates and changes them.
import type { FeedErrorCode } from "../../ground/errors.js";
import type { StoredKind } from "./kind.js";

export const RUN_STATUSES = ["queued", "running", "completed", "failed", "auth_failed", "cancelled"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const RUN_TRIGGERS = ["manual", "schedule", "start"] as const;
export type RunTrigger = (typeof RUN_TRIGGERS)[number];

/** One reading of a data source's feed. */
export interface SyncRun {
  readonly id: number;
  /** Uid of the data source's index. */
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
   * The first errors of single items as deflated JSON, which is small because errors tend to repeat. Null if
   * there are none.
   */
  readonly packedErrors: Uint8Array | null;
}

export interface RunCounts {
  /** Number of new or changed documents written. */
  readonly imported: number;
  readonly failed: number;
  readonly deleted: number;
  readonly unchanged: number;
  /** Bytes of the feed, as received. */
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
