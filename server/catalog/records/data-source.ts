// Data sources: the record and its storage. server/documents/sources reads bodies and runs them.
import type { StoredKind } from "./kind.js";

export const FEED_FORMATS = ["brandx_merchant", "brandx_catalog", "json", "csv"] as const;
export type FeedFormat = (typeof FEED_FORMATS)[number];

export const SYNC_MODES = ["upsert", "replace"] as const;
type SyncMode = (typeof SYNC_MODES)[number];

/** A feed from which an index gets documents, how to read it, and when. */
export interface DataSource {
  readonly id: number;
  /** Uid of its index. */
  readonly index: number;
  /** Contains no user name or password. */
  readonly url: string;
  readonly format: FeedFormat;
  /** `manual`, `hourly`, `daily`, or the five fields of a cron expression in UTC. */
  readonly schedule: string;
  readonly sync_mode: SyncMode;
  /** Maps paths in the feed to fields of the schema. */
  readonly field_map: Readonly<Record<string, string>>;
  readonly credentials: SealedCredentials | null;
  readonly enabled: boolean;
  /**
   * Location of the items: a JSON pointer or the path of an XML element. If null, the format's reader finds
   * them.
   */
  readonly items_path: string | null;
  readonly id_field: string | null;
  readonly delimiter: string | null;
  readonly encoding: string | null;
  /** Largest share of the index that a run in `replace` mode may delete. */
  readonly max_delete_ratio: number;
  /** The feed's server refused the credentials. The schedule pauses until they change. */
  readonly suspended: boolean;
  /** ISO 8601 UTC. */
  readonly created_at: string;
  readonly updated_at: string;
  /** When the schedule next starts a run, and when it last started one. ISO 8601 UTC. */
  readonly next_due: string | null;
  readonly last_due: string | null;
  /** Validators of the feed at the last run, if that run read the whole feed and no item failed. */
  readonly validators: FeedValidators | null;
}

/** Credentials for the feed's server. The password is sealed with the data directory's key. */
export interface SealedCredentials {
  readonly username: string;
  readonly sealedPassword: Uint8Array;
}

/**
 * HTTP validators of a feed. They apply only while the index is the one into which the feed was read and
 * nothing else has written to it.
 */
export interface FeedValidators {
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Uid of the index. */
  readonly index: number;
  readonly schemaVersion: number;
  /** The index's generation after the feed was read. */
  readonly generation: number;
}

export const SOURCE_KIND = {
  name: "source",
  counter: "nextSourceId",
  of: "index",
  vital: false,
  copiedAs: null,
  goesWith: "name",
} as const satisfies StoredKind;
