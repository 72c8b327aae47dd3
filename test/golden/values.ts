// The values in the small-record fixtures. They are frozen with the bytes: a later format gets additional
// values and fixtures.

import type { DataSource } from "../../server/catalog/records/data-source.js";
import type { Incident } from "../../server/catalog/records/incident.js";
import type { IndexRecord } from "../../server/catalog/records/index-record.js";
import type { KeyRecord } from "../../server/catalog/records/key.js";
import type { Recommendation } from "../../server/catalog/records/recommendation.js";
import type { RankingRule } from "../../server/catalog/records/rule.js";
import type { SyncRun } from "../../server/catalog/records/sync-run.js";
import type { SynonymGroup } from "../../server/catalog/records/synonym.js";
import type { TenantRecord } from "../../server/catalog/records/tenant.js";
import type { UsageRecord } from "../../server/catalog/records/usage.js";
import type { ShardSchema } from "../../shards/protocol/control.js";
import type { DeadList } from "../../shards/segments/dead-documents.js";
import type { DocumentRecord } from "../../shards/segments/document-record.js";
import type { Manifest } from "../../shards/segments/manifest.js";
import type { ModelRecord } from "../../shards/vectors/model-store.js";
import type { VectorRecord } from "../../shards/vectors/vector-record.js";

export const UID = 7;
export const SEQ = 2 ** 40 + 1;

export const MANIFEST: Manifest = {
  generation: 2 ** 40,
  maxSeq: 2 ** 50,
  nextSegment: 12,
  schemaVersion: 3,
  published: 0,
  inDoubt: [],
  segments: [
    {
      id: 11,
      rows: 1000,
      bytes: 4_000_000_000,
      pieces: 9,
      schemaVersion: 2,
      firstSeq: 1,
      lastSeq: 1500,
      deleted: 7,
    },
    { id: 4, rows: 1, bytes: 200, pieces: 1, schemaVersion: 3, firstSeq: 1501, lastSeq: 1501, deleted: 0 },
  ],
};

export const SPREAD_MANIFEST: Manifest = {
  ...MANIFEST,
  published: 2 ** 40 - 3,
  inDoubt: [
    { generation: 2 ** 40 - 1, shards: 2, maxSeqBefore: 1501 },
    { generation: 2 ** 40, shards: 65_535, maxSeqBefore: 2 ** 50 },
  ],
};

export const SCHEMA: ShardSchema = {
  version: 4,
  fields: [
    { slot: 0, name: "title", type: 0, flags: 4, language: 1 },
    { slot: 300, name: "größe", type: 7, flags: 7, language: 0 },
  ],
  analysis: { symbolsToIndex: "#", tokenSeparators: "/" },
};

export const PIECE = Buffer.from("bytes of a segment");
export const UNFINISHED_PIECES = 3;

export const DELETED_ROWS = [0, 7, 8, 19];
export const DELETED_ROWS_OF = 20;

export const DEAD: DeadList = { generation: 9, seqs: [1, 2 ** 32, 2 ** 53 - 1] };

export const RELEASED_DOCUMENTS = 2 ** 40 + 3;

export const DOCUMENT: DocumentRecord = {
  internal: true,
  id: "ключ",
  raw: Buffer.from('{"id":"ключ","_boost":2}'),
};

/** A model stored in two pieces, one full and one short. */
export const MODEL_BYTES = Buffer.alloc(512 * 1024 + 20, 0x5a);
export const MODEL_RECORD: ModelRecord = {
  number: 70_000,
  since: 3,
  bytes: MODEL_BYTES.length,
  documents: 2 ** 33,
  fields: 0xfedcba98,
  trainedAt: 1_767_323_045,
  tookMs: 41_000,
};

/** Codes stored in two pieces; the fixture is the second piece. */
export const CODES = {
  origin: 0x80000001,
  bytes: Buffer.concat([Buffer.alloc(512 * 1024), Buffer.from("end of codes")]),
};

export const VECTOR: VectorRecord = {
  origin: 0x80000000,
  vector: Buffer.concat([
    Buffer.from("0000003c", "hex"),
    Buffer.from(Array.from({ length: 512 }, (_, i) => i % 256)),
  ]),
};

const TIME = "2026-01-02T03:04:05.678Z";

export const TENANT: TenantRecord = { id: 2, name: "größe", plan: "default", createdAt: TIME };

export const KEY: KeyRecord = {
  id: 3,
  tenant: 2,
  name: "shop",
  hash: "00ff".repeat(16),
  prefix: "sk_1234",
  scopes: ["search", "documents"],
  indexes: ["products", "old-*"],
  expiresAt: "2027-01-01T00:00:00.000Z",
  rateLimit: 50,
  createdAt: TIME,
};

export const USAGE: UsageRecord = { tenant: 2, month: "2026-01", searches: 2 ** 40 };

export const INDEX: IndexRecord = {
  uid: 7,
  id: 4,
  tenant: 2,
  name: "products",
  fields: [
    {
      name: "title",
      type: "string",
      facet: false,
      optional: false,
      index: true,
      sort: false,
      infix: false,
      language: "en",
      slot: 0,
    },
    {
      name: "price",
      type: "float",
      facet: true,
      optional: true,
      index: true,
      sort: true,
      infix: false,
      slot: 2,
      unit: "EUR",
    },
  ],
  defaultSortingField: "price",
  schemaExtensions: { owner: { team: "shop" } },
  schemaVersion: 5,
  nextSlot: 3,
  settings: {
    searchable_attributes: ["title"],
    weights: [2.5],
    num_typos: 1,
    prefix: true,
    min_len_1typo: 4,
    min_len_2typo: 8,
    typo_on_numbers: false,
    typo_policy: "auto",
    stop_words: ["the"],
    language: "en",
    sku_fields: [],
    brand_field: null,
    token_separators: ["/"],
    symbols_to_index: ["#"],
    drop_tokens_threshold: 1,
    highlight: { snippet_tokens: 30, start_tag: "<b>", end_tag: "</b>", escape_html: true },
    embedder: {
      source: "endpoint",
      url: "https://models.example/v1",
      model: "small",
      api_key: null,
      fields: ["title"],
      dimensions: 512,
    },
    semantic: { auto_max_full_matches: 5, min_similarity: 0.25, candidates: 100 },
    ai: {
      provider: "endpoint",
      url: "https://models.example/v1",
      model: "small",
      api_key: null,
      timeout_ms: 400,
    },
  },
  sealedKeys: {
    embedder: Buffer.from("000102030405060708090a0b0c0d0e0f", "hex"),
    ai: Buffer.from("101112131415161718191a1b1c1d1e1f", "hex"),
  },
  createdAt: TIME,
};

/** A deleted index whose data has not been removed yet. */
export const DROPPED_UID = 8;

export const RULES: readonly RankingRule[] = [
  {
    id: 1,
    index: 7,
    name: "new ones first",
    type: "boost",
    conditions: { query_contains: [] },
    effect: { filter_by: "price:>10", weight: 2.5 },
    priority: 10,
    enabled: true,
    created_at: TIME,
    updated_at: TIME,
  },
  {
    id: 2,
    index: 7,
    name: "pin",
    type: "pin",
    conditions: { query_contains: ["red", "shoe"] },
    effect: { documents: ["b", "a"] },
    priority: -1,
    enabled: false,
    created_at: TIME,
    updated_at: "2026-02-02T03:04:05.678Z",
  },
];

export const SYNONYMS: readonly SynonymGroup[] = [
  {
    id: 1,
    index: 7,
    type: "multi_way",
    synonyms: ["sneaker", "running shoe"],
    root: null,
    enabled: true,
    created_at: TIME,
    updated_at: TIME,
  },
  {
    id: 2,
    index: 7,
    type: "one_way",
    synonyms: ["phone", "iphone"],
    root: "phone",
    enabled: false,
    created_at: TIME,
    updated_at: TIME,
  },
];

export const SOURCE: DataSource = {
  id: 4,
  index: 7,
  url: "https://shop.example/feed.xml?lang=de",
  format: "brandx_merchant",
  schedule: "0 */2 * * *",
  sync_mode: "replace",
  field_map: { "g:price": "price", Größe: "size" },
  credentials: { username: "shop", sealedPassword: Buffer.from(Array.from({ length: 30 }, (_, i) => i * 8)) },
  enabled: true,
  items_path: null,
  id_field: "g:id",
  delimiter: null,
  encoding: "windows-1252",
  max_delete_ratio: 0.25,
  suspended: false,
  created_at: TIME,
  updated_at: TIME,
  next_due: "2026-01-02T06:00:00.000Z",
  last_due: "2026-01-02T04:00:00.000Z",
  validators: { etag: '"v1"', lastModified: null, index: 7, schemaVersion: 3, generation: 2 ** 33 },
};

export const RUN: SyncRun = {
  id: 9,
  index: 7,
  source: 4,
  status: "failed",
  trigger: "schedule",
  created_at: TIME,
  started_at: TIME,
  finished_at: "2026-01-02T04:00:09.000Z",
  counts: { imported: 2 ** 33, failed: 2, deleted: 0, unchanged: 70_000, bytes: 2 ** 40 },
  not_modified: false,
  error: "the feed ended before it was complete",
  error_code: "SK-DS-520",
  packedErrors: Buffer.of(1, 2, 250),
};

export const INCIDENT: Incident = {
  id: 2,
  index: 7,
  source: 4,
  run: 9,
  code: "SK-DS-401",
  message: "the feed's server answered 401",
  created_at: TIME,
  resolved_at: null,
};

export const RECOMMENDATION: Recommendation = {
  id: 6,
  index: 7,
  type: "missing_synonym",
  title: "People say “couch”, your catalogue says “sofa”",
  description: "Make them synonyms.",
  confidence: "high",
  search_count: 70_000,
  evidence: { reformulations: 31, examples: ["couch größe"] },
  payload: { user_term: "couch", your_term: "sofa", kind: "one_way" },
  status: "applied",
  created: { kind: "synonym", id: 2 },
  created_at: TIME,
  updated_at: "2026-02-02T03:04:05.678Z",
};

/** A snapshot file's contents: keys and values in key order. */
export const BACKUP_ENTRIES: readonly (readonly [string, string])[] = [
  ["a", ""],
  ["index/1", "one"],
  ["index/2", "größe"],
];

export const SNAPSHOT_MANIFEST = {
  id: "20260102-030405-0a1b2c",
  createdAt: TIME,
  shards: 1,
  indexes: 2,
  documents: 2 ** 40,
  files: [
    { name: "catalog.skb", bytes: 100, records: 3, sha256: "0f".repeat(32) },
    { name: "shard-0.skb", bytes: 2 ** 33, records: 2 ** 20, sha256: "f0".repeat(32) },
  ],
};

export const RESHARD_PLAN = { from: 2, to: 8, done: [1, 7], home: [7], complete: false };
