// Data sources: the record and its storage. server/documents/sources reads bodies and runs them.
import type { StoredKind } from "./kind.js";

export const FEED_FORMATS = ["brandx_merchant", "brandx_catalog", "json", "csv"] as const;
export type FeedFormat = (typeof FEED_FORMATS)[number];

export const SYNC_MODES = ["upsert", "replace"] as const;
type SyncMode = (typeof SYNC_MODES)[number];

/** Where an index gets documents from: a feed, how to read it, and when. */
export interface DataSource {
  readonly id: number;
  /** Uid of its index. */
  readonly index: number;
  /** Without user name and password. */
  readonly url: string;
  readonly format: FeedFormat;
  /** `manual`, `hourly`, `daily`, or five fields of cron in UTC. */
  readonly schedule: string;
  readonly sync_mode: SyncMode;
  /** From paths of the feed to fields of the schema. */
  readonly field_map: Readonly<Record<string, string>>;
  readonly credentials: SealedCredentials | null;
  readonly enabled: boolean;
  /**
   * Where the items are: a JSON pointer or the path of an XML element. Null: the format's reader finds them.
   */
  readonly items_path: string | null;
  readonly id_field: string | null;
  readonly delimiter: string | null;
  readonly encoding: string | null;
  /** Largest share of the index that a run in `replace` mode may delete. */
  readonly max_delete_ratio: number;
  /** The feed's server refused the credentials; the schedule pauses until they change. */
  readonly suspended: boolean;
  /** ISO 8601 UTC. */
  readonly created_at: string;
  readonly updated_at: string;
  /** When the schedule next starts a run, and when it last did. ISO 8601 UTC. */
  readonly next_due: string | null;
  readonly last_due: string | null;
  /** Of the feed as the last run read it, if it read all of it and no item failed. */
  readonly validators: FeedValidators | null;
}

/** What the feed's server asks for. The password is sealed with the key of the data directory. */
export interface SealedCredentials {
  readonly username: string;
  readonly sealedPassword: Uint8Array;
}

/** Valid while the index is the one the feed was read into and nobody else has written to it. */
export interface FeedValidators {
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Uid of the index. */
  readonly index: number;
  readonly schemaVersion: number;
  /** Of the index once the feed had been read. */
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
