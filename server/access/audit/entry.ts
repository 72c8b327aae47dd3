// A line of the audit log: who changed what, from where, and how it ended. Never what it was changed to: bodies hold secrets.
import { isObject } from "../../ground/input/json-value.js";

// ON DISK and in the answers of GET /v1/audit - names are never reused for something else
export interface AuditEntry {
  /** One more than that of the line before. A line that could not be written leaves a gap. */
  readonly seq: number;
  /** ISO 8601 UTC. */
  readonly time: string;
  readonly request_id: string;
  /** The tenant's name at that time. */
  readonly tenant: string | null;
  readonly tenant_id: number;
  /** Null for the bootstrap admin key. */
  readonly key_id: number | null;
  readonly address: string;
  /** What was done to which kind of thing: `key.create`. */
  readonly action: string;
  /** The index that it belongs to, if it belongs to one. */
  readonly index: string | null;
  /** The id or the name of what was changed. Null when it was not made. */
  readonly target: string | null;
  /** Of the answer. From 500 on it is unknown whether, or how far, the change was made. */
  readonly status: number;
}

/** An entry to be written; the log gives it its number. */
export type NewEntry = Omit<AuditEntry, "seq">;

/** Null for a line that was torn by a crash, and for what this log has not written. */
export function parseEntry(line: string): AuditEntry | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  const ours = isObject(value) && Number.isSafeInteger(value.seq) && typeof value.action === "string";
  return ours ? (value as unknown as AuditEntry) : null;
}
