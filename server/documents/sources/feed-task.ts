// What the HTTP thread and a feed thread say to each other: a task, then batches one way and permissions to send another one
// the other way, at last the result. Passwords are in the task only.
import type { DataSource } from "../../catalog/types.js";
import type { FeedErrorCode } from "../../ground/errors.js";
import type { FieldType } from "../../ground/field-types.js";
import type { OutboundRules } from "../../ground/outbound/download.js";
import type { PreparedWrite, PrepareLimits } from "../ingest/prepare.js";
import type { ItemError } from "./run-view.js";

/** How a feed is fetched and read, as a data source says. */
export type FeedDefinition = Pick<
  DataSource,
  "url" | "format" | "field_map" | "items_path" | "id_field" | "delimiter" | "encoding"
>;

interface FeedTaskBase {
  readonly feed: FeedDefinition;
  readonly credentials: { readonly username: string; readonly password: string } | null;
  /** Of the index as it is now. */
  readonly fields: readonly { readonly name: string; readonly type: FieldType }[];
  readonly rules: OutboundRules;
  readonly itemBytesMax: number;
}

export interface SyncTask extends FeedTaskBase {
  readonly kind: "sync";
  readonly validators: { readonly etag: string | null; readonly lastModified: string | null };
  readonly shards: number;
  readonly limits: PrepareLimits;
}

export interface PreviewTask extends FeedTaskBase {
  readonly kind: "preview";
  readonly items: number;
}

export type FeedTask = SyncTask | PreviewTask;

/** From the feed thread: some items of the feed, ready to be written. */
export interface FeedBatch {
  readonly prepared: PreparedWrite;
  /** Positions in the feed by position in the write. */
  readonly items: readonly number[];
  /** Items that became no document; at most so many errors of a run are told. */
  readonly failed: number;
  readonly errors: readonly ItemError[];
  /** Of documents, and of the feed so far. */
  readonly documentBytes: number;
  readonly feedBytes: number;
}

/** To the feed thread: another batch may be sent, or the work must end. */
export type FeedSignal = "more" | "stop";

export interface FeedRead {
  readonly notModified: boolean;
  readonly items: number;
  /** Items that nobody can know the id of: they could not be read, or have none. */
  readonly unknown: number;
  readonly feedBytes: number;
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export interface FeedPreview {
  readonly items: readonly {
    readonly source: unknown;
    readonly document: unknown;
    readonly errors: readonly string[];
  }[];
  readonly fields_seen: readonly unknown[];
  readonly suggested_field_map: Readonly<Record<string, string>>;
  readonly suggested_schema: unknown;
}

/** Errors cross threads as plain data. */
export interface FeedRefusal {
  readonly refused: { readonly code: FeedErrorCode; readonly message: string };
}
