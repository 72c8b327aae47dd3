// Makes sure that the index for an import exists: uses the existing one, or creates it with a given or
// inferred schema. No other part of the import calls the index routes.

import { readFile } from "node:fs/promises";
import type { InferredSchema } from "../../documents/formats/infer.js";
import { messageOf } from "../../documents/formats/input-error.js";
import { FIELD_TYPE_NAMES, type FieldType } from "../../ground/field-types.js";
import { type ApiClient, RefusedError } from "../api.js";
import { CliError } from "../failure.js";

export interface ExistingIndex {
  readonly types: ReadonlyMap<string, FieldType>;
  readonly records: number;
}

/** Returns the index's description, or null if there is no such index. */
export async function findIndex(client: ApiClient, name: string): Promise<ExistingIndex | null> {
  let answer: unknown;
  try {
    answer = await client.json("GET", `/v1/indexes/${encodeURIComponent(name)}`);
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404) return null;
    throw error;
  }
  const data = (answer as { data?: { schema?: { fields?: unknown }; records_count?: unknown } }).data;
  return { types: fieldTypes(data?.schema?.fields), records: Number(data?.records_count ?? 0) };
}

export async function createIndex(client: ApiClient, name: string, schema: unknown): Promise<void> {
  await client.json("POST", "/v1/indexes", { name, schema });
}

/**
 * Reads a schema file. It contains `{"fields": [...]}`, a whole create request, or a plain list of fields.
 */
export async function readSchemaFile(path: string): Promise<InferredSchema> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new CliError(`--schema: cannot read ${path}: ${messageOf(error)}`);
  }
  const inner = typeof parsed === "object" && parsed !== null && "schema" in parsed ? parsed.schema : parsed;
  const schema: unknown = Array.isArray(inner) ? { fields: inner } : inner;
  if (
    typeof schema !== "object" ||
    schema === null ||
    !("fields" in schema) ||
    !Array.isArray(schema.fields)
  ) {
    throw new CliError(`--schema: ${path} must contain {"fields": [{"name": ..., "type": ...}, ...]}`);
  }
  return schema as InferredSchema;
}

/**
 * Field types by field name, from the entries that have both a name and a type. The server validates the
 * rest.
 */
export function fieldTypes(fields: unknown): Map<string, FieldType> {
  const types = new Map<string, FieldType>();
  for (const field of Array.isArray(fields) ? fields : []) {
    const { name, type } = field as { name?: unknown; type?: unknown };
    const known = FIELD_TYPE_NAMES.find((candidate) => candidate === type);
    if (typeof name === "string" && known !== undefined) types.set(name, known);
  }
  return types;
}
