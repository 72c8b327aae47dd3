// The record of an index and its storage. index-commands.ts changes it, and ../indexes.ts reads request
// bodies. Records are immutable: a change creates a new record.
import type { FieldDefinition } from "../definition/schema.js";
import { DEFAULT_SETTINGS, type SettingsOf } from "../definition/settings.js";
import type { StoredKind } from "./kind.js";

export interface IndexRecord extends SettingsOf {
  /** Permanent number of the index's data, never reused: the key of its documents in every shard. */
  readonly uid: number;
  readonly id: number;
  readonly tenant: number;
  readonly name: string;
  readonly fields: readonly FieldDefinition[];
  readonly defaultSortingField: string | null;
  /** Unknown properties of the schema object, echoed to clients. */
  readonly schemaExtensions: Readonly<Record<string, unknown>>;
  /** Increases with every change that makes stored segments stale (fields, analysis settings). */
  readonly schemaVersion: number;
  readonly nextSlot: number;
  /**
   * Number of the query log if it is not the uid: swapping two indexes exchanges their logs along with their
   * names.
   */
  readonly log?: number;
  /** Present if the documents are in one shard; see schema/placement.ts. */
  readonly isHome?: true;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  /**
   * Present while some shards do not have the index yet, so it is still invisible to clients. If the server
   * stops in this state, the next start undoes the creation.
   */
  readonly making?: true;
}

export const INDEX_KIND = {
  name: "index",
  counter: "nextIndexUid",
  of: "tenant",
  vital: false,
  copiedAs: null,
} as const satisfies StoredKind;

/**
 * Data numbers whose documents are to be dropped but may still be in the shards. The records themselves are
 * empty.
 */
export const DROP_KIND = {
  name: "drop",
  counter: null,
  of: null,
  vital: false,
  copiedAs: null,
} as const satisfies StoredKind;

export function isMade({ making }: IndexRecord): boolean {
  return making !== true;
}

/** Number of the index's query log. No two indexes share a log. */
export function logOf({ log, uid }: Pick<IndexRecord, "log" | "uid">): number {
  return log ?? uid;
}

/** A stored record completed with defaults for settings that did not exist when it was written. */
export function withAllSettings(record: IndexRecord): IndexRecord {
  return { ...record, settings: { ...DEFAULT_SETTINGS, ...record.settings } };
}
