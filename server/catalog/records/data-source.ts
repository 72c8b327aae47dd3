// The record of a data source, and its storage. server/documents/sources reads request bodies and runs the
// sources.
import type { StoredKind } from "./kind.js";

export const FEED_FORMATS = ["brandx_merchant", "brandx_catalog", "json", "csv"] as const;
export type FeedFormat = (typeof FEED_FORMATS)[number];

export const SYNC_MODES = ["upsert", "replace"] as const;
type SyncMode = (typeof SYNC_MODES)[number];

/** A feed that supplies documents to an index, how to read it, and when. */
export interface DataSource {
  readonly id: number;
  /** The index's uid. */
  readonly index: number;
  /** Never contains a user name or password. */
  readonly url: string;
  readonly format: FeedFormat;
  /** `manual`, `hourly`, `daily`, or the five fields of a cron expression in UTC. */
  readonly schedule: string;
  readonly sync_mode: SyncMode;
  /** Maps paths in the feed to schema fields. */
  readonly field_map: Readonly<Record<string, string>>;
  readonly credentials: SealedCredentials | null;
  readonly enabled: boolean;
  /**
   * Where the feed's items are: a JSON pointer or a path of XML elements. If null, the reader for the format
   * finds them.
   */
  readonly items_path: string | null;
  readonly id_field: string | null;
  readonly delimiter: string | null;
  readonly encoding: string | null;
  /** A run in `replace` mode fails if it would delete more than this fraction of the index. */
  readonly max_delete_ratio: number;
  /** True if the feed's server refused the credentials. The schedule pauses until they change. */
  readonly suspended: boolean;
  /** ISO 8601 UTC. */
  readonly created_at: string;
  readonly updated_at: string;
  /** When the schedule will next start a run, and when it last started one. ISO 8601 UTC. */
  readonly next_due: string | null;
  readonly last_due: string | null;
  /** The feed's validators from the last run. Null unless that run read the whole feed and no item failed. */
  readonly validators: FeedValidators | null;
}

/** Credentials for the feed's server. The password is sealed with the data directory's key. */
export interface SealedCredentials {
  readonly username: string;
  readonly sealedPassword: Uint8Array;
}

/**
 * A feed's HTTP validators. They apply only to the index into which the feed was read, and only while nothing
 * else has written to that index.
 */
export interface FeedValidators {
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** The index's uid. */
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
