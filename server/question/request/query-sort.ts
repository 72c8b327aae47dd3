// Parses the sort expression `field:asc|desc, ...` into sort keys, validated against the schema.
import type { ResolvedField, ResolvedSchema } from "../../catalog/schema/resolved-schema.js";
import type { SkeinError } from "../../ground/errors.js";
import { invalid } from "./query-lists.js";

export interface SortRequest {
  /** Null for sorting by text match (`_text_match`). */
  readonly field: ResolvedField | null;
  readonly descending: boolean;
}

/**
 * Parses a sort expression. `parameter` is the parameter's name for error messages. Throws SkeinError
 * SK-SE-400.
 */
export function parseSort(
  parameter: string,
  items: readonly string[],
  schema: ResolvedSchema,
): SortRequest[] {
  const keys = items.map((item) => parseKey(parameter, item, schema));
  const fields = keys.map((key) => key.field);
  if (new Set(fields).size < fields.length) throw invalid(`${parameter} names a field twice`);
  return keys;
}

function parseKey(parameter: string, item: string, schema: ResolvedSchema): SortRequest {
  const colon = item.lastIndexOf(":");
  const direction = item
    .slice(colon + 1)
    .trim()
    .toLowerCase();
  if (colon <= 0 || (direction !== "asc" && direction !== "desc")) {
    throw invalid(
      `${parameter}: '${item.slice(0, 80)}' is not a sort key; expected <field>:asc or <field>:desc`,
    );
  }
  const name = item.slice(0, colon).trim();
  const descending = direction === "desc";
  if (name === "_text_match") return { field: null, descending };
  const field = schema.field(name);
  if (field === undefined)
    throw invalid(`${parameter}: unknown field '${name}'; expected a field of the schema`);
  const problem = unsortable(parameter, field);
  if (problem !== null) throw problem;
  return { field, descending };
}

function unsortable(parameter: string, field: ResolvedField): SkeinError | null {
  if (field.array)
    return invalid(`${parameter}: field '${field.name}' is an array; arrays cannot be sorted by`);
  if (field.sort) return null;
  if (field.unready.includes("sort"))
    return invalid(`${parameter}: field '${field.name}' is being re-indexed and cannot be sorted by yet`);
  return invalid(
    `${parameter}: field '${field.name}' cannot be sorted by; its schema entry needs sort: true`,
  );
}
