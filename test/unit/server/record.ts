// An index record and an analyser for unit tests.
import type { ModelServers } from "../../../server/catalog/definition/model-servers.js";
import type { FieldDefinition } from "../../../server/catalog/definition/schema.js";
import { DEFAULT_SETTINGS, type IndexSettings } from "../../../server/catalog/definition/settings.js";
import type { IndexContents } from "../../../server/catalog/index-contents.js";
import type { IndexRecord } from "../../../server/catalog/records/index-record.js";
import { ResolvedSchema } from "../../../server/catalog/schema/resolved-schema.js";
import type { TextAnalyser } from "../../../server/catalog/schema/text-analyser.js";
import type { FieldType } from "../../../server/ground/field-types.js";
import { DEFAULT_LIMITS } from "../../../server/ground/limits.js";
import { createLogger } from "../../../server/ground/log.js";
import { NOTHING_POPULAR } from "../../../server/query-log/popularity/popularity.js";
import { type QueriedIndex, QueriedIndexes } from "../../../server/search/matching/queried-index.js";

export function field(
  name: string,
  type: FieldType,
  slot: number,
  more: Partial<FieldDefinition> = {},
): FieldDefinition {
  const isText = type === "string" || type === "string[]";
  return {
    name,
    type,
    slot,
    facet: false,
    optional: true,
    index: true,
    sort: !isText && !type.endsWith("[]"),
    infix: false,
    ...more,
  };
}

export const FIELDS: readonly FieldDefinition[] = [
  field("title", "string", 0),
  field("brand", "string", 1, { facet: true, sort: true }),
  field("tags", "string[]", 2, { facet: true }),
  field("price", "float", 3),
  field("stock", "int32", 4),
  field("views", "int64", 5),
  field("sale", "bool", 6),
  field("sizes", "int32[]", 7, { facet: true }),
  field("notes", "string", 8, { index: false }),
];

export function makeRecord(settings: Partial<IndexSettings> = {}, fields = FIELDS): IndexRecord {
  return {
    uid: 1,
    id: 1,
    tenant: 1,
    name: "products",
    fields,
    defaultSortingField: null,
    schemaExtensions: {},
    schemaVersion: 1,
    nextSlot: fields.length,
    settings: { ...DEFAULT_SETTINGS, ...settings },
    createdAt: "2026-01-01T00:00:00.000Z",
  };
}

/**
 * Allows any public model server in settings. A "sealed" key stays readable, so that a test can see which key
 * it is and which server it is for.
 */
export const SERVERS: ModelServers = {
  addresses: { allowPrivate: false, allowHosts: [] },
  seal: (apiKey, url) => Buffer.from(`${[...apiKey].reverse().join("")} for ${new URL(url).origin}`),
};

export const schema = new ResolvedSchema(makeRecord());

/** Stands in for the engine's analyser. Its terms are sequences of letters and digits, in lower case. */
export const analyser: TextAnalyser = {
  analysis: "runs of letters and digits",
  tokens: (text) =>
    [...text.matchAll(/[\p{L}\p{N}]+/gu)].map((match, position) => ({
      term: match[0].toLowerCase(),
      start: match.index,
      end: match.index + match[0].length,
      position,
      parts: 1,
    })),
  terms: (text) => (text.match(/[\p{L}\p{N}]+/gu) ?? []).map((term) => term.toLowerCase()),
  fold: (text) => Buffer.from(text.trim().toLowerCase()),
  hash: (id) => [...id].reduce((hash, c) => (hash * 31n + BigInt(c.codePointAt(0) ?? 0)) % 2n ** 64n, 7n),
};

/** Returns the index as a query sees it. */
export function queried(record: IndexRecord, contents: Partial<IndexContents> = {}): QueriedIndex {
  const indexes = new QueriedIndexes(
    () => analyser,
    () => NOTHING_POPULAR,
    DEFAULT_LIMITS,
    createLogger("fatal"),
  );
  return indexes.of({ record, rules: [], synonyms: [], ...contents });
}
