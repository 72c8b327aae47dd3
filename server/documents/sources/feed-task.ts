// Messages between the HTTP thread and a feed thread: a task, then batches in one direction and permissions
// to send more in the other, finally the result. Only the task contains passwords.
import type { DataSource } from "../../catalog/records/data-source.js";
import type { FeedErrorCode } from "../../ground/errors.js";
import type { FieldType } from "../../ground/field-types.js";
import type { OutboundRules } from "../../ground/outbound/download.js";
import type { PreparedWrite, PrepareLimits } from "../ingest/prepare.js";
import type { ItemError } from "./run-view.js";

/** How to fetch and read a feed, as defined by a data source. */
export type FeedDefinition = Pick<
  DataSource,
  "url" | "format" | "field_map" | "items_path" | "id_field" | "delimiter" | "encoding"
>;

interface FeedTaskBase {
  readonly feed: FeedDefinition;
  readonly credentials: { readonly username: string; readonly password: string } | null;
  /** Fields of the index at the time of the task. */
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
  /** Positions in the feed, by position in the write. */
  readonly items: readonly number[];
  /** Number of failed items; only the first errors of a run are reported. */
  readonly failed: number;
  readonly errors: readonly ItemError[];
  /** Bytes of documents, and of the feed so far. */
  readonly documentBytes: number;
  readonly feedBytes: number;
}

/** To the feed thread: send another batch, or stop. */
export type FeedSignal = "more" | "stop";

export interface FeedRead {
  readonly notModified: boolean;
  readonly items: number;
  /** Items with an unknown id: unreadable, or without one. */
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

/** An error as plain data, to cross threads. */
export interface FeedRefusal {
  readonly refused: { readonly code: FeedErrorCode; readonly message: string };
}
