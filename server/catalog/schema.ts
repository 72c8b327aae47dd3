// The definition of an index: names, fields with their flags, the default sorting field. Turns an untrusted
// body into checked definitions with all defaults filled in. Knows nothing of stored data.
import { languageCodes } from "../../engine-wasm/host/stemmer.js";
import { SkeinError } from "../errors.js";
import { FIELD_TYPE_NAMES, FIELD_TYPES, isTextType, typesThat } from "../field-types.js";
import { describe, type JsonObject, Members } from "../input.js";
import type { Limits } from "../limits.js";
import type { FieldDefinition } from "./types.js";

const FIELD_MEMBERS = [
  "name",
  "type",
  "facet",
  "optional",
  "index",
  "sort",
  "infix",
  "language",
  "drop",
  "slot",
];
const RESERVED_NAMES = ["id", "embedding"];

export function invalidIndex(message: string): SkeinError {
  return new SkeinError("SK-IX-400", message);
}

export function readIndexName(body: Members, limits: Limits): string {
  const name = body.string("name", limits.indexNameBytesMax);
  if (!/^[a-z0-9_-]+$/.test(name)) {
    body.refuse("name", `must consist of a-z, 0-9, "_" and "-", not ${describe(name)}`);
  }
  return name;
}

/** All fields of a new schema, with slots from `firstSlot` on. */
export function readFields(schema: Members, limits: Limits, firstSlot: number): FieldDefinition[] {
  const entries = schema.array("fields", limits.fieldsPerIndexMax, "an array of fields");
  const fields = entries.map((entry, i) => readField(entry, `schema.fields[${i}]`, limits, firstSlot + i));
  refuseDuplicates(fields.map((field) => field.name));
  return fields;
}

/** Also of a change: every name at most once. */
export function refuseDuplicates(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw invalidIndex(`schema.fields names ${describe(name)} twice`);
    seen.add(name);
  }
}

export function readFieldName(members: Members, limits: Limits): string {
  const name = members.string("name", limits.fieldNameBytesMax);
  if (name === "" || name.trim() !== name)
    members.refuse("name", "must not be empty or begin or end with white space");
  if (/[\p{Cc}\p{Surrogate}]/u.test(name)) members.refuse("name", "must not contain control characters");
  if (RESERVED_NAMES.includes(name) || name.startsWith("_")) {
    members.refuse("name", `${describe(name)} is reserved: "id", "embedding" and names that begin with "_"`);
  }
  return name;
}

/** One field entry. Unknown properties are kept. Throws SK-IX-400. */
export function readField(entry: unknown, path: string, limits: Limits, slot: number): FieldDefinition {
  const members = new Members(entry, path, "SK-IX-400");
  const name = readFieldName(members, limits);
  const type =
    members.optionalOneOf("type", FIELD_TYPE_NAMES) ??
    members.refuse("type", `is missing; expected one of ${FIELD_TYPE_NAMES.join(", ")}`);
  const index = members.optionalBoolean("index") ?? true;
  const facet = members.optionalBoolean("facet") ?? false;
  const { sortDefault } = FIELD_TYPES[type];
  const sort = members.optionalBoolean("sort") ?? (index && sortDefault === true);
  const infix = members.optionalBoolean("infix") ?? false;
  const language = members.optionalString("language", 20);
  if (sort && sortDefault === null)
    members.refuse("sort", `must be false: a ${type} field has no one value to sort by`);
  if (!index && (sort || facet)) members.refuse("index", "must be true for a field with facet or sort");
  if (infix && !isTextType(type)) members.refuse("infix", `must be false for a ${type} field`);
  if (language !== undefined) checkLanguage(language, members);
  if (language !== undefined && !isTextType(type))
    members.refuse("language", `must be absent for a ${type} field`);
  return {
    name,
    type,
    facet,
    optional: members.optionalBoolean("optional") ?? true,
    index,
    sort,
    infix,
    ...(language === undefined ? {} : { language }),
    ...extensions(members.others(FIELD_MEMBERS), path, limits),
    slot,
  };
}

/** Throws SK-IX-400 for a language without a stemmer. */
export function checkLanguage(language: string, members: Members): void {
  const known = languageCodes();
  if (known.includes(language)) return;
  members.refuse("language", `must be one of ${known.join(", ")}, not ${describe(language)}`);
}

/** Properties that we do not know are kept and echoed, up to a size. */
export function extensions(
  others: Record<string, unknown>,
  path: string,
  limits: Limits,
): Record<string, unknown> {
  if (JSON.stringify(others).length > limits.extensionsBytesMax) {
    throw invalidIndex(`${path} has more than ${limits.extensionsBytesMax} bytes of unknown properties`);
  }
  return others;
}

/** The default sorting field of a schema, null when there is none. */
export function readDefaultSortingField(schema: Members, fields: readonly FieldDefinition[]): string | null {
  const name = schema.optionalString("default_sorting_field", 1000);
  if (name === undefined || name === "") return null;
  const field = fields.find((candidate) => candidate.name === name);
  if (field === undefined)
    return schema.refuse(
      "default_sorting_field",
      `names ${describe(name)}, which is not a field of the schema`,
    );
  if (!FIELD_TYPES[field.type].ranks) {
    return schema.refuse(
      "default_sorting_field",
      `must name an ${typesThat(({ ranks }) => ranks)} field; ${describe(name)} is ${field.type}`,
    );
  }
  if (!field.sort)
    return schema.refuse("default_sorting_field", `names ${describe(name)}, which has sort: false`);
  return name;
}

/** What clients see of a field. */
export function fieldView(field: FieldDefinition): JsonObject {
  const { slot: _slot, ...shown } = field;
  return shown;
}
