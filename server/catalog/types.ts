// The shapes of an index as the catalog stores it and everybody else reads it. Records are immutable:
// a change makes a new record with a higher version.

import type { FeedErrorCode } from "../ground/errors.js";
import type { FieldType } from "../ground/field-types.js";

/** One field of a schema with all defaults filled in. Unknown properties are kept and echoed. */
export interface FieldDefinition {
  readonly name: string;
  readonly type: FieldType;
  readonly facet: boolean;
  readonly optional: boolean;
  readonly index: boolean;
  readonly sort: boolean;
  readonly infix: boolean;
  readonly language?: string;
  /** Permanent number of the field inside its index, never reused; not shown to clients. */
  readonly slot: number;
  readonly [extension: string]: unknown;
}

export interface HighlightSettings {
  /** Tokens shown in a snippet of a long field. */
  readonly snippet_tokens: number;
  readonly start_tag: string;
  readonly end_tag: string;
  readonly escape_html: boolean;
}

export const EMBEDDER_SOURCES = ["auto", "documents", "endpoint", "pushed", "none"] as const;
export type EmbedderSource = (typeof EMBEDDER_SOURCES)[number];

/** Where the vectors of an index come from. */
export interface EmbedderSettings {
  readonly source: EmbedderSource;
  /** Of an OpenAI-compatible server. Set when the source is "endpoint" and only then; so is the model. */
  readonly url: string | null;
  readonly model: string | null;
  /** Never here: the record keeps it sealed. */
  readonly api_key: null;
  /** What is embedded of a document. Null means the searchable fields. */
  readonly fields: readonly string[] | null;
  readonly dimensions: number;
}

export interface SemanticSettings {
  /** The mode "auto" is hybrid when fewer documents match all words. */
  readonly auto_max_full_matches: number;
  /** Of a hit without any of the query's words. */
  readonly min_similarity: number;
  /** How many nearest documents a query takes. */
  readonly candidates: number;
}

export interface IndexSettings {
  /** Null means all string and string[] fields in schema order. */
  readonly searchable_attributes: readonly string[] | null;
  /** In the order of the searchable attributes. Null means weights that fall in that order. */
  readonly weights: readonly number[] | null;
  readonly num_typos: number;
  readonly prefix: boolean;
  readonly min_len_1typo: number;
  readonly min_len_2typo: number;
  readonly typo_on_numbers: boolean;
  readonly typo_policy: "auto" | "always" | "missing";
  readonly stop_words: readonly string[];
  readonly language: string | null;
  readonly sku_fields: readonly string[];
  readonly brand_field: string | null;
  readonly token_separators: readonly string[];
  readonly symbols_to_index: readonly string[];
  readonly drop_tokens_threshold: number;
  readonly highlight: HighlightSettings;
  readonly embedder: EmbedderSettings;
  readonly semantic: SemanticSettings;
  readonly ai: AiSetting;
}

/** Who reads the queries of an index: the rules, or a language model behind an OpenAI-compatible server. */
export interface AiSetting {
  readonly provider: "rules" | "endpoint";
  /** Set when the provider is "endpoint" and only then; so is the model. */
  readonly url: string | null;
  readonly model: string | null;
  /** Never here: the record keeps it sealed. */
  readonly api_key: null;
  readonly timeout_ms: number;
}

/** The settings that name a server of a model (`url`), for which a key may have been given (`api_key`). */
export const KEYED_SETTINGS = ["embedder", "ai"] as const satisfies readonly (keyof IndexSettings)[];
export type KeyedSetting = (typeof KEYED_SETTINGS)[number];

export type IndexStatus = "active" | "rebuilding" | "error";

export interface IndexRecord {
  /** Permanent number of the index's data, never reused: the key of its documents in every shard. */
  readonly uid: number;
  readonly id: number;
  readonly tenant: number;
  readonly name: string;
  readonly fields: readonly FieldDefinition[];
  readonly defaultSortingField: string | null;
  /** Unknown properties of the schema object, echoed. */
  readonly schemaExtensions: Readonly<Record<string, unknown>>;
  /** Goes up with every change that makes stored segments stale (fields, analysis settings). */
  readonly schemaVersion: number;
  readonly nextSlot: number;
  readonly settings: IndexSettings;
  /** The API keys that were given with settings, sealed with the key of the data directory for the tenant and the server. */
  readonly sealedKeys?: { readonly [K in KeyedSetting]?: Uint8Array };
  /** Number of the query log, when it is not the uid: a swap exchanges the logs of two indexes with their names. */
  readonly log?: number;
  /** Its documents lie in one shard, see schema/placement.ts. */
  readonly isHome?: true;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  /** Its shards do not all have the index yet, so nobody sees it. The next start takes a creation back that was cut short. */
  readonly making?: true;
}

export function isMade({ making }: IndexRecord): boolean {
  return making !== true;
}

/** The number of the index's query log. No other index has it or had it. */
export function logOf({ log, uid }: Pick<IndexRecord, "log" | "uid">): number {
  return log ?? uid;
}

export const RULE_TYPES = ["boost", "pin", "hide", "bury"] as const;
export type RuleType = (typeof RULE_TYPES)[number];

export interface RuleConditions {
  /** All of these must be in the query as whole words. When there are none, the rule always fires. */
  readonly query_contains: readonly string[];
}

/** Members that are not set are absent; which ones a rule has depends on its type. */
export interface RuleEffect {
  readonly filter_by?: string;
  readonly weight?: number;
  /** Document ids; those of a pin in the order of their places. */
  readonly documents?: readonly string[];
}

export interface RankingRule {
  readonly id: number;
  /** Uid of its index. */
  readonly index: number;
  readonly name: string;
  readonly type: RuleType;
  readonly conditions: RuleConditions;
  readonly effect: RuleEffect;
  /** The higher one wins, then the lower id. */
  readonly priority: number;
  readonly enabled: boolean;
  /** ISO 8601 UTC. */
  readonly created_at: string;
  readonly updated_at: string;
}

export const SYNONYM_TYPES = ["multi_way", "one_way"] as const;
export type SynonymType = (typeof SYNONYM_TYPES)[number];

export interface SynonymGroup {
  readonly id: number;
  /** Uid of its index. */
  readonly index: number;
  readonly type: SynonymType;
  /** Words or phrases; the root is one of them. */
  readonly synonyms: readonly string[];
  /** The entry that finds the others, but not the reverse; null in a multi_way group. */
  readonly root: string | null;
  readonly enabled: boolean;
  /** ISO 8601 UTC. */
  readonly created_at: string;
  readonly updated_at: string;
}

export const FEED_FORMATS = ["brandx_merchant", "brandx_catalog", "json", "csv"] as const;
export type FeedFormat = (typeof FEED_FORMATS)[number];

export const SYNC_MODES = ["upsert", "replace"] as const;
type SyncMode = (typeof SYNC_MODES)[number];

/** Where an index gets documents from: a feed, how it is read, and when. */
export interface DataSource {
  readonly id: number;
  /** Uid of its index. */
  readonly index: number;
  /** Without user name and password. */
  readonly url: string;
  readonly format: FeedFormat;
  /** `manual`, `hourly`, `daily` or five fields of cron, in UTC. */
  readonly schedule: string;
  readonly sync_mode: SyncMode;
  /** From paths of the feed to fields of the schema. */
  readonly field_map: Readonly<Record<string, string>>;
  readonly credentials: SealedCredentials | null;
  readonly enabled: boolean;
  /** Where the items are: a JSON pointer or the path of an XML element. Null: found by the format. */
  readonly items_path: string | null;
  readonly id_field: string | null;
  readonly delimiter: string | null;
  readonly encoding: string | null;
  /** A run in `replace` mode may delete this part of the index. */
  readonly max_delete_ratio: number;
  /** The feed's server refused the credentials; the schedule rests until they change. */
  readonly suspended: boolean;
  /** ISO 8601 UTC. */
  readonly created_at: string;
  readonly updated_at: string;
  /** When the next run is due by the schedule, and when the last one was. ISO 8601 UTC. */
  readonly next_due: string | null;
  readonly last_due: string | null;
  /** Of the feed that the last run read as a whole and without a failed item. */
  readonly validators: FeedValidators | null;
}

/** What the feed's server asks for. The password is sealed with the key of the data directory. */
export interface SealedCredentials {
  readonly username: string;
  readonly sealedPassword: Uint8Array;
}

/** They hold as long as the index is what the feed was read into, and nobody else has written to it. */
export interface FeedValidators {
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Uid of the index. */
  readonly index: number;
  readonly schemaVersion: number;
  /** Of the index when the feed had been read. */
  readonly generation: number;
}

export const RUN_STATUSES = ["queued", "running", "completed", "failed", "auth_failed", "cancelled"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const RUN_TRIGGERS = ["manual", "schedule", "start"] as const;
export type RunTrigger = (typeof RUN_TRIGGERS)[number];

/** One reading of a feed. */
export interface SyncRun {
  readonly id: number;
  /** Uid of the source's index. */
  readonly index: number;
  readonly source: number;
  readonly status: RunStatus;
  readonly trigger: RunTrigger;
  /** ISO 8601 UTC. */
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly counts: RunCounts;
  readonly not_modified: boolean;
  readonly error: string | null;
  readonly error_code: FeedErrorCode | null;
  /** The first errors of items, deflated JSON, since many of them say the same. Null for none. */
  readonly packedErrors: Uint8Array | null;
}

export interface RunCounts {
  /** Written: new ones and changed ones. */
  readonly imported: number;
  readonly failed: number;
  readonly deleted: number;
  readonly unchanged: number;
  /** Of the feed as it was sent. */
  readonly bytes: number;
}

/** Something that a person has to look at. */
export interface Incident {
  readonly id: number;
  /** Uid of the source's index. */
  readonly index: number;
  readonly source: number;
  readonly run: number;
  readonly code: FeedErrorCode;
  readonly message: string;
  /** ISO 8601 UTC; `resolved_at` is null while it is open. */
  readonly created_at: string;
  readonly resolved_at: string | null;
}

/** What a key may be for. `admin` includes all others. */
export const SCOPES = [
  "search",
  "events",
  "documents",
  "indexes",
  "rules",
  "sources",
  "analytics",
  "coach",
  "keys",
  "admin",
] as const;
export type Scope = (typeof SCOPES)[number];

export interface TenantRecord {
  readonly id: number;
  readonly name: string;
  /** Name of a plan of the configuration. */
  readonly plan: string;
  readonly createdAt: string;
}

export interface KeyRecord {
  readonly id: number;
  readonly tenant: number;
  readonly name: string;
  /** SHA-256 of the value, hexadecimal; the value itself is not kept. */
  readonly hash: string;
  /** The value's first characters, for people. */
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  /** Names of indexes, `*` standing for any characters. */
  readonly indexes: readonly string[];
  readonly expiresAt: string | null;
  /** Requests per second; null: no limit. */
  readonly rateLimit: number | null;
  readonly createdAt: string;
  /** The value before the last rotation, while it is still good. Absent when there is none. */
  readonly previous?: PreviousKeyValue;
  /** The last day (UTC, "2026-01-31") on which a request came with the key; absent when there was none. */
  readonly lastUsedOn?: string;
}

/** A value that a rotation has replaced. */
export interface PreviousKeyValue {
  readonly hash: string;
  readonly prefix: string;
  readonly expiresAt: string;
}

/** What a tenant has used in one month (UTC, "2026-01"). */
export interface UsageRecord {
  readonly tenant: number;
  readonly month: string;
  readonly searches: number;
  /** Analyses of the coach; absent when there was none. */
  readonly coach?: number;
}

/** All that a query needs to know of an index, as of one state of the catalog. */
export interface IndexContents {
  readonly record: IndexRecord;
  readonly rules: readonly RankingRule[];
  readonly synonyms: readonly SynonymGroup[];
}
