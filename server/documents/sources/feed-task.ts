// Messages between the HTTP thread and a feed thread. The HTTP thread first sends the task, which is the only
// message with passwords. The feed thread then sends batches, each only after the HTTP thread has sent a
// permit for it, and finally the result.
import type { DataSource } from "../../catalog/records/data-source.js";
import type { FeedErrorCode } from "../../ground/errors.js";
import type { FieldType } from "../../ground/field-types.js";
import type { OutboundRules } from "../../ground/outbound/download.js";
import type { PreparedWrite, PrepareLimits } from "../ingest/prepare.js";
import type { ItemError } from "./run-view.js";

/** The part of a data source that says how to fetch and read its feed. */
export type FeedDefinition = Pick<
  DataSource,
  "url" | "format" | "field_map" | "items_path" | "id_field" | "delimiter" | "encoding"
>;

interface FeedTaskBase {
  readonly feed: FeedDefinition;
  readonly credentials: { readonly username: string; readonly password: string } | null;
  /** The index's fields at the time the task was created. */
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

/** Some of the feed's items, ready to be written. Sent by the feed thread. */
export interface FeedBatch {
  readonly prepared: PreparedWrite;
  /** For each document in the write, its item's position in the feed. */
  readonly items: readonly number[];
  /** Number of failed items. `errors` describes only the first failures of a run. */
  readonly failed: number;
  readonly errors: readonly ItemError[];
  /** Total bytes of the batch's documents, and number of feed bytes read so far in the run. */
  readonly documentBytes: number;
  readonly feedBytes: number;
}

/** Permission to send another batch, or the order to stop. Sent to the feed thread. */
export type FeedSignal = "more" | "stop";

export interface FeedRead {
  readonly notModified: boolean;
  readonly items: number;
  /** Number of items whose id is unknown, because the item is unreadable or has no id. */
  readonly unknown: number;
  /** False if the feed may have been cut short without anybody noticing. */
  readonly isEndProven: boolean;
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

/** An error as plain data that can cross threads. */
export interface FeedRefusal {
  readonly refused: { readonly code: FeedErrorCode; readonly message: string };
}
