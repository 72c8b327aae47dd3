// An index's definition: its name, its fields with their flags, and its default sorting field. Turns an
// untrusted body into checked definitions with all defaults filled in. Knows nothing about stored data.
import { languageCodes } from "../../../engine-wasm/host/stemmer.js";
import { SkeinError } from "../../ground/errors.js";
import {
  FIELD_TYPE_NAMES,
  FIELD_TYPES,
  type FieldType,
  isTextType,
  typesThat,
} from "../../ground/field-types.js";
import { describe, type JsonObject } from "../../ground/input/json-value.js";
import {
  asGiven,
  defaultsTo,
  object,
  optional,
  required,
  type ValuesOf,
} from "../../ground/input/object-reader.js";
import {
  checked,
  flag,
  type InputRules,
  list,
  oneOf,
  refuse,
  text,
  type ValueReader,
} from "../../ground/input/readers.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";

/** A schema field with all defaults filled in. Unknown properties are kept and returned to clients. */
export interface FieldDefinition {
  readonly name: string;
  readonly type: FieldType;
  readonly facet: boolean;
  readonly optional: boolean;
  readonly index: boolean;
  readonly sort: boolean;
  readonly infix: boolean;
  readonly language?: string;
  /** The field's permanent number in its index. Never reused, and not shown to clients. */
  readonly slot: number;
  readonly [extension: string]: unknown;
}

const RESERVED_NAMES = ["id", "embedding"];
const NEVER_SORTED = typesThat(({ sortDefault }) => sortDefault === null);
const SORTED = typesThat(({ sortDefault }) => sortDefault === true);

export function invalidIndex(message: string): SkeinError {
  return new SkeinError("SK-IX-400", message);
}

/** Rules for reading the bodies of index requests. */
export function indexRules(limits: Limits): InputRules {
  return { limits, code: "SK-IX-400" };
}

export const INDEX_NAME: ValueReader<string> = checked(
  text(FIXED_LIMITS.indexNameBytesMax),
  (name) =>
    /^[a-z0-9_-]+$/.test(name) ? null : `must consist of a-z, 0-9, "_" and "-", not ${describe(name)}`,
  { pattern: "^[a-z0-9_-]+$" },
);

/** An ISO 639-1 code of a language that has a stemmer. */
export const LANGUAGE: ValueReader<string> = checked(text(FIXED_LIMITS.languageBytesMax), (language) => {
  const known = languageCodes();
  return known.includes(language) ? null : `must be one of ${known.join(", ")}, not ${describe(language)}`;
});

const FIELD_MEMBERS = {
  name: required(
    checked(text(FIXED_LIMITS.fieldNameBytesMax), fieldNameProblem, { minLength: 1 }),
    "Not id, embedding or beginning with _.",
  ),
  type: required(
    oneOf(FIELD_TYPE_NAMES),
    FIELD_TYPE_NAMES.map((name) => `${name}: ${FIELD_TYPES[name].takes}.`).join(" "),
  ),
  facet: defaultsTo(false, flag()),
  optional: defaultsTo(true, flag()),
  index: defaultsTo(true, flag(), "Must be true for a field with facet, sort or infix."),
  sort: optional(flag(), `Default true for ${SORTED}, else false; must be false for ${NEVER_SORTED}.`),
  infix: defaultsTo(false, flag()),
  language: optional(LANGUAGE),
};
export const FIELD = object(FIELD_MEMBERS, { unknown: "kept" });

const DROP = defaultsTo(false, flag(), "true removes the field.");
const FIELD_CHANGE = object({ name: FIELD_MEMBERS.name, drop: DROP }, { unknown: "kept" });

const DEFAULT_SORTING_FIELD = defaultsTo(null, text(FIXED_LIMITS.fieldNameBytesMax));

export const SCHEMA = object(
  {
    fields: required(list(FIELD, "fieldsPerIndexMax", "an array of fields")),
    default_sorting_field: DEFAULT_SORTING_FIELD,
  },
  { unknown: "kept" },
);

/** `fields` stays unparsed here, because each field is first merged with its old definition. */
export const SCHEMA_CHANGE = object(
  {
    fields: optional(
      list(
        {
          ...asGiven(FIELD_CHANGE),
          schema: {
            ...object({ ...FIELD_MEMBERS, drop: DROP }, { unknown: "kept" }).changeSchema,
            required: ["name"],
          },
        },
        "fieldsPerIndexMax",
        "an array of fields",
      ),
    ),
    default_sorting_field: DEFAULT_SORTING_FIELD,
  },
  { unknown: "kept" },
);

function fieldNameProblem(name: string): string | null {
  if (name === "" || name.trim() !== name) return "must not be empty or begin or end with white space";
  if (/\p{Cc}/u.test(name)) return "must not contain control characters";
  if (!RESERVED_NAMES.includes(name) && !name.startsWith("_")) return null;
  return `${describe(name)} is reserved: "id", "embedding" and names that begin with "_"`;
}

/** Throws SK-IX-400 if a schema, or a change to a schema, lists a field twice. */
export function refuseDuplicates(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw invalidIndex(`schema.fields names ${describe(name)} twice`);
    seen.add(name);
  }
}

/** Builds a field's definition from its entry. Unknown properties are kept. Throws SK-IX-400. */
export function fieldDefinition(
  given: ValuesOf<typeof FIELD_MEMBERS>,
  path: string,
  rules: InputRules,
  slot: number,
): FieldDefinition {
  const { name, type, facet, optional, index, sort: wanted, infix, language, ...others } = given;
  const { drop: _drop, slot: _slot, ...unknown } = others as Record<string, unknown>;
  const { sortDefault } = FIELD_TYPES[type];
  const sort = wanted ?? (index && sortDefault === true);
  if (sort && sortDefault === null)
    refuse(`${path}.sort`, `must be false: a ${type} field has no single value to sort by`, rules);
  if (!index && (sort || facet || infix))
    refuse(`${path}.index`, "must be true for a field with facet, sort or infix", rules);
  if (infix && !isTextType(type)) refuse(`${path}.infix`, `must be false for a ${type} field`, rules);
  if (language !== undefined && !isTextType(type))
    refuse(`${path}.language`, `must be absent for a ${type} field`, rules);
  return {
    name,
    type,
    facet,
    optional,
    index,
    sort,
    infix,
    ...(language === undefined ? {} : { language }),
    ...extensions(unknown, path),
    slot,
  };
}

/**
 * Returns the unknown properties, which are stored and shown to clients. Throws SK-IX-400 if they are too
 * large.
 */
export function extensions(
  others: Readonly<Record<string, unknown>>,
  path: string,
): Readonly<Record<string, unknown>> {
  if (JSON.stringify(others).length > FIXED_LIMITS.extensionsBytesMax) {
    throw invalidIndex(
      `${path} has more than ${FIXED_LIMITS.extensionsBytesMax} bytes of unknown properties`,
    );
  }
  return others;
}

/** Returns the schema's default sorting field, or null if it has none. Throws SK-IX-400. */
export function checkDefaultSortingField(
  name: string | null,
  fields: readonly FieldDefinition[],
  rules: InputRules,
): string | null {
  if (name === null || name === "") return null;
  const path = "schema.default_sorting_field";
  const field = fields.find((candidate) => candidate.name === name);
  if (field === undefined)
    return refuse(path, `names ${describe(name)}, which is not a field of the schema`, rules);
  if (!FIELD_TYPES[field.type].ranks) {
    const able = typesThat(({ ranks }) => ranks);
    return refuse(path, `must name an ${able} field; ${describe(name)} is ${field.type}`, rules);
  }
  return field.sort ? name : refuse(path, `names ${describe(name)}, which has sort: false`, rules);
}

/** The view of a field for clients. */
export function fieldView(field: FieldDefinition): JsonObject {
  const { slot: _slot, ...shown } = field;
  return shown;
}
