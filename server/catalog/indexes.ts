// Makes index records: a new one from a create body, a changed one from a PATCH body. Slots are permanent: a
// field whose type or flags change gets a new slot, so that an old segment never answers for the new
// definition. Pure functions; the catalog stores what they return.
import { describe, Members } from "../input.js";
import type { Limits } from "../limits.js";
import {
  extensions,
  invalidIndex,
  readDefaultSortingField,
  readField,
  readFieldName,
  readFields,
  readIndexName,
  refuseDuplicates,
} from "./schema.js";
import { analysisDiffers, changedSettings, checkSettings, DEFAULT_SETTINGS } from "./settings.js";
import type { FieldDefinition, IndexRecord, IndexSettings } from "./types.js";

const SCHEMA_MEMBERS = ["fields", "default_sorting_field"];
/** What of a field is in the segments' bytes. */
const STORED_MEMBERS = ["type", "facet", "index", "sort"] as const;

/** A record without the numbers and times that the catalog assigns. */
export type IndexDraft = Omit<IndexRecord, "uid" | "id" | "tenant" | "createdAt">;

/** Throws SK-IX-400. */
export function readNewIndex(body: unknown, limits: Limits): IndexDraft {
  const members = new Members(body, "", "SK-IX-400");
  const name = readIndexName(members, limits);
  const schema = members.object("schema");
  const fields = readFields(schema, limits, 0);
  const settings = members.has("settings")
    ? changedSettings(DEFAULT_SETTINGS, members.value("settings"), fields, limits, "settings")
    : DEFAULT_SETTINGS;
  return {
    name,
    fields,
    defaultSortingField: readDefaultSortingField(schema, fields),
    schemaExtensions: extensions(schema.others(SCHEMA_MEMBERS), "schema", limits),
    schemaVersion: 1,
    nextSlot: fields.length,
    settings,
  };
}

/**
 * The record after a PATCH body {schema: {fields?, default_sorting_field?}}: listed fields are added, changed
 * or (drop: true) removed, others stay. `hasRecords`: documents exist, so no field may become required.
 */
export function readChangedIndex(
  record: IndexRecord,
  body: unknown,
  hasRecords: boolean,
  limits: Limits,
): IndexRecord {
  const members = new Members(body, "", "SK-IX-400");
  if (members.has("name") && members.value("name") !== record.name) {
    members.refuse("name", "cannot be changed; use swap-with to exchange two indexes");
  }
  const schema = members.object("schema");
  const change = schema.has("fields") ? changedFields(record, schema, hasRecords, limits) : record;
  const defaultGiven = schema.has("default_sorting_field");
  const defaults = defaultGiven
    ? schema
    : new Members({ default_sorting_field: record.defaultSortingField }, "schema", "SK-IX-400");
  checkSettings(record.settings, change.fields, new Members({}, "settings", "SK-IX-400"));
  return {
    ...record,
    fields: change.fields,
    nextSlot: change.nextSlot,
    schemaVersion: change.schemaVersion,
    defaultSortingField: readDefaultSortingField(defaults, change.fields),
    schemaExtensions: extensions(
      { ...record.schemaExtensions, ...schema.others(SCHEMA_MEMBERS) },
      "schema",
      limits,
    ),
  };
}

/** The record after a settings PATCH. */
export function readChangedSettings(record: IndexRecord, body: unknown, limits: Limits): IndexRecord {
  return withSettings(record, changedSettings(record.settings, body, record.fields, limits));
}

/** The record with other settings, which fit its schema; documents that must be analysed anew make it a new version. */
export function withSettings(record: IndexRecord, settings: IndexSettings): IndexRecord {
  const stale = analysisDiffers(record.settings, settings);
  return { ...record, settings, schemaVersion: record.schemaVersion + (stale ? 1 : 0) };
}

type FieldChange = Pick<IndexRecord, "fields" | "nextSlot" | "schemaVersion">;

function changedFields(
  record: IndexRecord,
  schema: Members,
  hasRecords: boolean,
  limits: Limits,
): FieldChange {
  const entries = schema.array("fields", limits.fieldsPerIndexMax, "an array of fields");
  const fields = new Map(record.fields.map((field) => [field.name, field]));
  const names: string[] = [];
  let nextSlot = record.nextSlot;
  let stale = false;
  entries.forEach((entry, i) => {
    const path = `schema.fields[${i}]`;
    const members = new Members(entry, path, "SK-IX-400");
    const name = readFieldName(members, limits);
    names.push(name);
    const before = fields.get(name);
    if (members.optionalBoolean("drop") === true) {
      if (before === undefined)
        throw invalidIndex(`${path} drops ${describe(name)}, which is not a field of the schema`);
      fields.delete(name);
      stale = true;
      return;
    }
    const field = readField(merged(before, members), path, limits, before?.slot ?? nextSlot);
    if (!field.optional && (before?.optional ?? true) && hasRecords) {
      members.refuse("optional", "must be true: the index holds documents that may lack the field");
    }
    const rebuilt = before === undefined || STORED_MEMBERS.some((member) => before[member] !== field[member]);
    fields.set(name, rebuilt ? { ...field, slot: nextSlot++ } : field);
    stale ||= rebuilt || before.optional !== field.optional || before.language !== field.language;
  });
  refuseDuplicates(names);
  if (fields.size > limits.fieldsPerIndexMax) {
    throw invalidIndex(
      `schema.fields would have ${fields.size} entries; at most ${limits.fieldsPerIndexMax} are allowed`,
    );
  }
  if (nextSlot > limits.fieldSlotsPerIndexMax) {
    throw invalidIndex("schema.fields has been changed too often; copy the documents to a new index");
  }
  return { fields: [...fields.values()], nextSlot, schemaVersion: record.schemaVersion + (stale ? 1 : 0) };
}

/** The old definition under the new members; a new type falls back to its own defaults. */
function merged(before: FieldDefinition | undefined, members: Members): Record<string, unknown> {
  const given = members.others([]);
  if (before === undefined) return given;
  const { slot: _slot, ...kept } = before;
  if (given.type === undefined || given.type === before.type) return { ...kept, ...given };
  const { sort: _sort, facet: _facet, infix: _infix, language: _language, ...rest } = kept;
  return { ...rest, ...given };
}
