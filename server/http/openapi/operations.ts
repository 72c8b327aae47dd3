// Helpers for describing OpenAPI operations: parameters, JSON bodies, replies. Plain data.
import type { JsonSchema } from "../../ground/input/readers.js";
import { ref } from "./components.js";
import { EXAMPLES } from "./examples.js";

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly JsonSchema[];
  readonly requestBody?: JsonSchema;
  readonly responses: Readonly<Record<string, JsonSchema>>;
  readonly security?: readonly JsonSchema[];
}

export type PathItem = Readonly<Partial<Record<"get" | "post" | "patch" | "delete", Operation>>>;

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: "Invalid request.",
  401: "No valid API key.",
  403: "The key does not allow this.",
  404: "Not found.",
  405: "Method not allowed.",
  408: "The body did not arrive in time.",
  409: "Conflict.",
  413: "Too large.",
  415: "Unsupported content type.",
  429: "Too many requests, or the quota is used up.",
  500: "Unexpected failure.",
  503: "Not available at the moment.",
};
/** Error statuses that any operation with a key may return. */
const ALWAYS = [400, 401, 403, 404, 429, 500, 503];
const WITH_BODY = [408, 413, 415];

export const NDJSON: JsonSchema = { "application/x-ndjson": { schema: { type: "string" } } };

export function json(schema: JsonSchema): JsonSchema {
  return { "application/json": { schema } };
}

export function jsonBody(schema: string, required = true): JsonSchema {
  return { required, content: json(ref(schema)) };
}

/** A reply in the {data} envelope. */
export function data(description: string, schema: JsonSchema): JsonSchema {
  return {
    description,
    content: json({ type: "object", properties: { data: schema }, required: ["data"] }),
  };
}

export function listOf(name: string): JsonSchema {
  return { type: "array", items: ref(name) };
}

export function errors(statuses: readonly number[]): Record<string, JsonSchema> {
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      { description: DESCRIPTIONS[status] ?? "Error.", content: json(ref("Error")) },
    ]),
  );
}

export function pathParameter(name: string, description: string, type = "string"): JsonSchema {
  return { name, in: "path", required: true, description, schema: { type } };
}

export function queryParameter(
  name: string,
  description: string,
  schema: JsonSchema,
  required = false,
): JsonSchema {
  return { name, in: "query", required, description, schema };
}

/** An operation that needs a key. Adds the error replies that all such operations have in common. */
export function operation(
  tag: string,
  operationId: string,
  summary: string,
  parts: {
    parameters?: readonly JsonSchema[];
    body?: JsonSchema;
    replies: Readonly<Record<string, JsonSchema>>;
    also?: readonly number[];
  },
): Operation {
  const statuses = [...ALWAYS, ...(parts.body === undefined ? [] : WITH_BODY), ...(parts.also ?? [])];
  return {
    operationId,
    summary,
    tags: [tag],
    ...(parts.parameters === undefined ? {} : { parameters: parts.parameters }),
    ...(parts.body === undefined ? {} : { requestBody: withExample(parts.body, operationId) }),
    responses: { ...parts.replies, ...errors(statuses) },
  };
}

function withExample(body: JsonSchema, operationId: string): JsonSchema {
  const example = EXAMPLES[operationId];
  const content = Object.entries(body.content as Readonly<Record<string, JsonSchema>>);
  return {
    ...body,
    content: Object.fromEntries(
      content.map(([type, media]) => [
        type,
        {
          ...media,
          example: type === "text/plain" ? JSON.stringify(example) : example,
        },
      ]),
    ),
  };
}

/** An operation that needs no key. */
export function openOperation(
  operationId: string,
  summary: string,
  responses: Readonly<Record<string, JsonSchema>>,
): Operation {
  return { operationId, summary, tags: ["server"], responses, security: [] };
}
