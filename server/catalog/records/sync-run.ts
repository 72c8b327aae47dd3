// The record of a data source's run, and its storage. server/documents/sources creates and changes it.
import type { FeedErrorCode } from "../../ground/errors.js";
import type { StoredKind } from "./kind.js";

export const RUN_STATUSES = ["queued", "running", "completed", "failed", "auth_failed", "cancelled"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const RUN_TRIGGERS = ["manual", "schedule", "start"] as const;
export type RunTrigger = (typeof RUN_TRIGGERS)[number];

/** One run of a data source, that is, one attempt to read its feed into the index. */
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
   * The first errors of individual items, as deflated JSON. Compresses well because errors tend to repeat.
   * Null if no item failed.
   */
  readonly packedErrors: Uint8Array | null;
}

export interface RunCounts {
  /** Number of new or changed documents written. */
  readonly imported: number;
  readonly failed: number;
  readonly deleted: number;
  readonly unchanged: number;
  /** Number of bytes received from the feed's server. */
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
