// Builds the clients' view of a data source run, and stores item errors compactly.
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { RunCounts, SyncRun } from "../../catalog/records/sync-run.js";

/**
 * Why an item's document is missing from the index, or is stored there in an older version than the feed's.
 */
export interface ItemError {
  /** Position in the feed, from 1. */
  readonly item: number;
  readonly id: string | null;
  readonly error: string;
}

export const NO_COUNTS: RunCounts = { imported: 0, failed: 0, deleted: 0, unchanged: 0, bytes: 0 };

/** Maximum number of item errors kept per run. */
export const RUN_ERRORS_MAX = 100;

export function packErrors(errors: readonly ItemError[]): Uint8Array | null {
  return errors.length === 0 ? null : new Uint8Array(deflateRawSync(JSON.stringify(errors)));
}

function unpackErrors(packed: Uint8Array | null): ItemError[] {
  return packed === null ? [] : (JSON.parse(inflateRawSync(packed).toString("utf8")) as ItemError[]);
}

export interface RunView
  extends Pick<
    SyncRun,
    | "id"
    | "status"
    | "trigger"
    | "created_at"
    | "started_at"
    | "finished_at"
    | "not_modified"
    | "error"
    | "error_code"
  > {
  readonly documents_imported: number;
  readonly documents_failed: number;
  readonly documents_deleted: number;
  readonly documents_unchanged: number;
  readonly bytes: number;
  readonly errors: readonly ItemError[];
}

export function runView(run: SyncRun): RunView {
  const {
    id,
    status,
    trigger,
    created_at,
    started_at,
    finished_at,
    counts,
    not_modified,
    error,
    error_code,
  } = run;
  return {
    id,
    status,
    trigger,
    created_at,
    started_at,
    finished_at,
    documents_imported: counts.imported,
    documents_failed: counts.failed,
    documents_deleted: counts.deleted,
    documents_unchanged: counts.unchanged,
    bytes: counts.bytes,
    not_modified,
    error,
    error_code,
    errors: unpackErrors(run.packedErrors),
  };
}
