// The server's operations, read from its own /openapi.json.

/** A JSON schema in the OpenAPI document. */
export type Schema = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  /** The path, with parameters in braces. */
  readonly template: string;
  readonly tag: string;
  readonly parameters: readonly Parameter[];
  /** The body's schema by content type; empty for an operation without a body. */
  readonly bodies: Readonly<Record<string, Schema>>;
}

interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export function operationsOf({ paths }: OpenApi): Operation[] {
  return Object.entries(paths).flatMap(([template, item]) =>
    Object.entries(item).map(([verb, { operationId, tags, parameters = [], requestBody }]) => ({
      id: operationId,
      method: verb.toUpperCase(),
      template,
      tag: tags[0] ?? "",
      parameters,
      bodies: Object.fromEntries(
        Object.entries(requestBody?.content ?? {}).map(([media, { schema }]) => [media, schema]),
      ),
    })),
  );
}

const REFERENCE = "#/components/schemas/";

/** The schema that a reference points to, or the schema itself. */
export function resolved(schema: Schema, { components }: OpenApi): Schema {
  const { $ref } = schema;
  if (typeof $ref !== "string") return schema;
  if (!$ref.startsWith(REFERENCE)) throw new Error(`a reference in /openapi.json points elsewhere: ${$ref}`);
  return components.schemas[$ref.slice(REFERENCE.length)]!;
}
