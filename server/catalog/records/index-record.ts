// The record of an index and its storage. index-commands.ts changes it, ../indexes.ts reads the bodies of
// requests. Records are immutable: a change makes a new one.
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
  /** Rises with every change that makes stored segments stale (fields, analysis settings). */
  readonly schemaVersion: number;
  readonly nextSlot: number;
  /**
   * Number of the query log if it is not the uid: swapping two indexes exchanges their logs along with their
   * names.
   */
  readonly log?: number;
  /** Its documents lie in one shard, see schema/placement.ts. */
  readonly isHome?: true;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  /**
   * Some shards do not have the index yet, so nobody sees it. If the server stops at this point, the next
   * start undoes the creation.
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

/** A uid whose record is gone but whose data may still be in the shards. The record is empty. */
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

/** Number of the index's query log. No other index has or had it. */
export function logOf({ log, uid }: Pick<IndexRecord, "log" | "uid">): number {
  return log ?? uid;
}

/** A stored record with defaults for the settings that are newer than it. */
export function withAllSettings(record: IndexRecord): IndexRecord {
  return { ...record, settings: { ...DEFAULT_SETTINGS, ...record.settings } };
}
