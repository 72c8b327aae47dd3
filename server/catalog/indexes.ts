// Builds index records: a new one from a create body, a changed one from a PATCH body. Slots are permanent. A
// field gets a new slot if its type changes, so an old segment's values are never read as another type. All
// functions are pure; the catalog stores the results.
import { isTextType } from "../ground/field-types.js";
import { describe, isObject } from "../ground/input/json-value.js";
import { object, optional, required } from "../ground/input/object-reader.js";
import { type InputRules, refuse, text } from "../ground/input/readers.js";
import { FIXED_LIMITS, type Limits } from "../ground/limits.js";
import type { ModelServers } from "./definition/model-servers.js";
import {
  checkDefaultSortingField,
  extensions,
  FIELD,
  type FieldDefinition,
  fieldDefinition,
  INDEX_NAME,
  indexRules,
  invalidIndex,
  refuseDuplicates,
  SCHEMA,
  SCHEMA_CHANGE,
} from "./definition/schema.js";
import {
  analysisDiffers,
  changedSettings,
  checkSettings,
  SETTINGS,
  type SettingsOf,
  settingsOf,
} from "./definition/settings.js";
import { asReady, FIELD_USES, type FieldUse, type IndexRecord } from "./records/index-record.js";

export const NEW_INDEX = object(
  { name: required(INDEX_NAME), schema: required(SCHEMA), settings: optional(SETTINGS) },
  { unknown: "ignored" },
);
export const INDEX_CHANGE = object(
  {
    name: optional(text(FIXED_LIMITS.indexNameBytesMax), "Only the present one."),
    schema: required(SCHEMA_CHANGE),
  },
  { unknown: "ignored" },
);

/** Members of a field definition that determine the bytes in segments, besides the type. */
const STORED_MEMBERS = [...FIELD_USES, "optional", "language"] as const;

/** An index record without the uid, ids and creation time that are assigned when the index is created. */
export type IndexDraft = Omit<IndexRecord, "uid" | "id" | "tenant" | "createdAt">;

/** Reads the body of a create request. Throws SK-IX-400. */
export function readNewIndex(body: unknown, limits: Limits, servers: ModelServers): IndexDraft {
  const rules = indexRules(limits);
  const { name, schema, settings = SETTINGS.defaults } = NEW_INDEX.read(body, "", rules);
  const { fields: given, default_sorting_field: sorting, ...others } = schema;
  const fields = given.map((field, i) => fieldDefinition(field, `schema.fields[${i}]`, rules, i));
  refuseDuplicates(fields.map((field) => field.name));
  return {
    name,
    fields,
    defaultSortingField: checkDefaultSortingField(sorting, fields, rules),
    schemaExtensions: extensions(others, "schema"),
    schemaVersion: 1,
    nextSlot: fields.length,
    ...settingsOf(settings, null, fields, "settings", servers, rules),
  };
}

/**
 * Returns the record after a PATCH body {schema: {fields?, default_sorting_field?}}. Listed fields are added,
 * changed or (drop: true) removed; others stay unchanged. If `hasRecords` is true, the index has documents,
 * so no field may become required. Throws SK-IX-400.
 */
export function readChangedIndex(
  record: IndexRecord,
  body: unknown,
  hasRecords: boolean,
  limits: Limits,
): IndexRecord {
  const rules = indexRules(limits);
  const { name, schema } = INDEX_CHANGE.read(body, "", rules, {
    schema: { default_sorting_field: record.defaultSortingField },
  });
  // A body without `schema` is more likely a mistake than a request to change nothing.
  if (isObject(body) && !Object.hasOwn(body, "schema"))
    refuse("schema", "is missing; expected an object", rules);
  if (name !== undefined && name !== record.name)
    refuse("name", "cannot be changed; use swap-with to exchange two indexes", rules);
  const { fields, default_sorting_field: sorting, ...others } = schema;
  const change = fields === undefined ? record : changedFields(record, fields, hasRecords, rules);
  checkSettings(record.settings, change.fields, "settings", rules);
  return {
    ...asReady(record),
    fields: change.fields,
    nextSlot: change.nextSlot,
    schemaVersion: change.schemaVersion,
    ...(change.unready === undefined ? {} : { unready: change.unready }),
    defaultSortingField: checkDefaultSortingField(sorting, change.fields, rules),
    schemaExtensions: extensions({ ...record.schemaExtensions, ...others }, "schema"),
  };
}

/** Returns the record after a settings PATCH. */
export function readChangedSettings(
  record: IndexRecord,
  body: unknown,
  limits: Limits,
  servers: ModelServers,
): IndexRecord {
  return withSettings(record, changedSettings(record, body, record.fields, limits, servers));
}

/**
 * Returns the record with other settings, which must fit its schema. Increments the schema version if the new
 * settings require analysing the documents again.
 */
export function withSettings(
  { sealedKeys: _replaced, ...record }: IndexRecord,
  { settings, sealedKeys }: SettingsOf,
): IndexRecord {
  const stale = analysisDiffers(record.settings, settings);
  const keys = sealedKeys === undefined ? {} : { sealedKeys };
  return { ...record, settings, ...keys, schemaVersion: record.schemaVersion + (stale ? 1 : 0) };
}

type FieldChange = Pick<IndexRecord, "fields" | "nextSlot" | "schemaVersion" | "unready">;

function changedFields(
  record: IndexRecord,
  entries: readonly Readonly<Record<string, unknown>>[],
  hasRecords: boolean,
  rules: InputRules,
): FieldChange {
  const { limits } = rules;
  const fields = new Map(record.fields.map((field) => [field.name, field]));
  const unready = new Map(Object.entries(record.unready ?? {}));
  const names: string[] = [];
  let nextSlot = record.nextSlot;
  let stale = false;
  entries.forEach((entry, i) => {
    const path = `schema.fields[${i}]`;
    const name = entry.name as string;
    names.push(name);
    const before = fields.get(name);
    if (entry.drop === true && before === undefined)
      throw invalidIndex(`${path} drops ${describe(name)}, which is not a field of the schema`);
    const given = FIELD.read(merged(before, entry), path, rules);
    if (entry.drop === true) {
      fields.delete(name);
      unready.delete(name);
      stale = true;
      return;
    }
    const field = fieldDefinition(given, path, rules, before?.slot ?? nextSlot);
    if (!field.optional && (before?.optional ?? true) && hasRecords) {
      refuse(`${path}.optional`, "must be true: the index holds documents that may lack the field", rules);
    }
    const retyped = before === undefined || before.type !== field.type;
    fields.set(name, retyped ? { ...field, slot: nextSlot++ } : field);
    stale ||= retyped || STORED_MEMBERS.some((member) => before[member] !== field[member]);
    const uses = retyped ? [] : unreadyUses(before, unready.get(name) ?? [], field);
    if (uses.length > 0) unready.set(name, uses);
    else unready.delete(name);
  });
  refuseDuplicates(names);
  if (fields.size > limits.fieldsPerIndexMax) {
    throw invalidIndex(
      `schema.fields would have ${fields.size} entries; at most ${limits.fieldsPerIndexMax} are allowed`,
    );
  }
  if (nextSlot > FIXED_LIMITS.fieldSlotsPerIndexMax) {
    throw invalidIndex("schema.fields has been changed too often; copy the documents to a new index");
  }
  return {
    fields: [...fields.values()],
    nextSlot,
    schemaVersion: record.schemaVersion + (stale ? 1 : 0),
    ...(unready.size === 0 ? {} : { unready: Object.fromEntries(unready) }),
  };
}

/**
 * Returns the uses of a changed field for which some segments lack the data. `already` are those for which
 * some lacked it before the change.
 */
function unreadyUses(
  before: FieldDefinition,
  already: readonly FieldUse[],
  after: FieldDefinition,
): FieldUse[] {
  // Numbers are sorted by the values that filters read, too.
  const sortsAnyway = !isTextType(after.type) && before.index && !already.includes("index");
  return FIELD_USES.filter((use) => {
    if (!after[use] || (use === "sort" && sortsAnyway)) return false;
    return !before[use] || already.includes(use);
  });
}

/**
 * Merges the given members into the field's old definition. If the type changes, the old sort, facet, infix
 * and language are not kept, so the new type's defaults apply.
 */
function merged(
  before: FieldDefinition | undefined,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (before === undefined) return given;
  const { slot: _slot, ...kept } = before;
  if (given.type === undefined || given.type === before.type) return { ...kept, ...given };
  const { sort: _sort, facet: _facet, infix: _infix, language: _language, ...rest } = kept;
  return { ...rest, ...given };
}
