// The record of an index, and its storage. index-commands.ts changes the record, and ../indexes.ts reads
// request bodies. Records are immutable: a change creates a new record.
import type { FieldDefinition } from "../definition/schema.js";
import { DEFAULT_SETTINGS, type SettingsOf } from "../definition/settings.js";
import type { StoredKind } from "./kind.js";

/** What a field can be used for, as members of its definition. */
export const FIELD_USES = ["index", "facet", "sort"] as const;
export type FieldUse = (typeof FIELD_USES)[number];

export interface IndexRecord extends SettingsOf {
  /**
   * The index's permanent number, never reused. The data numbers under which the shards store its documents
   * are derived from it (schema/placement.ts).
   */
  readonly uid: number;
  readonly id: number;
  readonly tenant: number;
  readonly name: string;
  readonly fields: readonly FieldDefinition[];
  readonly defaultSortingField: string | null;
  /**
   * Properties of the schema object that the server does not know. They are stored and returned to clients.
   */
  readonly schemaExtensions: Readonly<Record<string, unknown>>;
  /** Incremented by every change (to fields or analysis settings) that makes stored segments stale. */
  readonly schemaVersion: number;
  readonly nextSlot: number;
  /**
   * By field name, the uses that a schema change has allowed but that queries may not make yet, because
   * segments with an older schema lack the data for them. Absent once all documents are re-indexed.
   */
  readonly unready?: Readonly<Record<string, readonly FieldUse[]>>;
  /**
   * The query log's number if it differs from the uid, as it does after a swap: two swapped indexes exchange
   * their logs along with their names.
   */
  readonly log?: number;
  /** Present if the documents are all in one shard; see schema/placement.ts. */
  readonly isHome?: true;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  /**
   * Present while some shards do not have the index yet. During that time, the index is invisible to clients,
   * and if the server stops, the next start undoes the creation.
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

/** Records whose ids are data numbers that the shards still have to drop. The records are otherwise empty. */
export const DROP_KIND = {
  name: "drop",
  counter: null,
  of: null,
  vital: false,
  copiedAs: null,
} as const satisfies StoredKind;

/** The record once all documents are re-indexed. */
export function asReady({ unready, ...record }: IndexRecord): IndexRecord {
  return record;
}

export function isMade({ making }: IndexRecord): boolean {
  return making !== true;
}

/** Number of the index's query log. No two indexes share a log. */
export function logOf({ log, uid }: Pick<IndexRecord, "log" | "uid">): number {
  return log ?? uid;
}

/** Completes a stored record with defaults for settings that did not exist when it was written. */
export function withAllSettings(record: IndexRecord): IndexRecord {
  return { ...record, settings: { ...DEFAULT_SETTINGS, ...record.settings } };
}
