// An entry of the audit log: who changed what, from where, and with what result. It never contains the new
// value, because request bodies may contain secrets.
import { isObject } from "../../ground/input/json-value.js";

// ON DISK and in the replies of GET /v1/audit - never reuse a name for something else
export interface AuditEntry {
  /** One more than the previous line's. A line that could not be written leaves a gap. */
  readonly seq: number;
  /** ISO 8601 UTC. */
  readonly time: string;
  readonly request_id: string;
  /** The tenant's name when the change was made. */
  readonly tenant: string | null;
  readonly tenant_id: number;
  /** Null for the bootstrap admin key. */
  readonly key_id: number | null;
  readonly address: string;
  /** The target's kind and what was done to it, such as `key.create`. */
  readonly action: string;
  /** The index that the target belongs to, if any. */
  readonly index: string | null;
  /** The target's id or name. Null if no target was created. */
  readonly target: string | null;
  /**
   * HTTP status of the reply. If it is 500 or higher, the change may have been made in full, in part or not
   * at all.
   */
  readonly status: number;
}

/** An entry to write; the log assigns its number. */
export type NewEntry = Omit<AuditEntry, "seq">;

/** Parses a line of the log. Returns null if the line was torn by a crash or was not written by this log. */
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
