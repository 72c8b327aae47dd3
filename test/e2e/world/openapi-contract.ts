// Checks HTTP exchanges against an OpenAPI 3.1 document. The path, status and content type must be described.
// A JSON reply must match its schema and have no members that the schema does not list. A JSON request that
// the server accepted must match the request schema.
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { Reply } from "./reply.js";

interface ContentHolder {
  content: Record<string, unknown>;
}

interface Operation {
  requestBody?: ContentHolder;
  responses: Record<string, ContentHolder>;
}

interface OpenApiDocument {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
}

/**
 * Which schemas to use: those in the document as written, or those in a copy whose objects allow no
 * additional members.
 */
type Schemas = "described" | "closed";

const JSON_TYPE = "application/json";
const ERROR = "/components/schemas/Error";

/**
 * Contracts, keyed by the document's text. Servers of the same build share a contract, because compiling its
 * checks takes long.
 */
const known = new Map<string, OpenApiContract>();

export class OpenApiContract {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true });
  private readonly compiled = new Map<string, ValidateFunction>();
  private readonly templates: { template: string; pattern: RegExp }[];

  constructor(private readonly document: OpenApiDocument) {
    formats.default(this.ajv);
    this.ajv.addSchema(document, "described" satisfies Schemas);
    this.ajv.addSchema(closed(document) as object, "closed" satisfies Schemas);
    this.templates = Object.keys(document.paths)
      .sort((a, b) => a.split("{").length - b.split("{").length)
      .map((template) => ({ template, pattern: new RegExp(`^${template.replace(/\{[^}]+\}/g, "[^/]+")}$`) }));
  }

  static of(text: string): OpenApiContract {
    const contract = known.get(text) ?? new OpenApiContract(JSON.parse(text) as OpenApiDocument);
    known.set(text, contract);
    return contract;
  }

  /**
   * Throws if the server accepted a JSON request that the document does not describe. Refused slots of a
   * multi-search are not checked.
   */
  checkRequest(method: string, path: string, body: unknown, reply: Reply): void {
    const { at, operation } = this.operation(method, path);
    if (reply.status >= 300 || !isJsonBody(body) || operation?.requestBody === undefined) return;
    const where = `${method} ${path}: request`;
    this.checkContent(
      where,
      "described",
      `${at}/requestBody`,
      operation.requestBody,
      JSON_TYPE,
      accepted(asValue(body), reply),
    );
  }

  /**
   * Throws if the reply differs from what the document promises. A request for an undocumented path must be
   * refused with an error body. OPTIONS is not checked: it is answered for every path and described for none.
   */
  checkReply(method: string, path: string, reply: Reply): void {
    if (method === "OPTIONS") return;
    const where = `${method} ${path} -> ${reply.status}: response`;
    const value = method === "HEAD" ? undefined : reply.json;
    const { at, operation } = this.operation(method === "HEAD" ? "GET" : method, path);
    if (operation === undefined) {
      if (reply.status < 400) throw new Error(`${where}: answered, but not in /openapi.json`);
      if (value !== undefined) this.checkValue(where, "closed", ERROR, value);
      return;
    }
    const described = operation.responses[reply.status];
    if (described === undefined) throw new Error(`${where}: the status is not in /openapi.json`);
    const mediaType = reply.headers["content-type"]?.split(";")[0] ?? "none";
    this.checkContent(where, "closed", `${at}/responses/${reply.status}`, described, mediaType, value);
  }

  private operation(method: string, path: string): { at: string; operation: Operation | undefined } {
    const { paths } = this.document;
    const route = path.split("?")[0]!;
    const verb = method.toLowerCase();
    const template =
      this.templates.find(({ template, pattern }) => pattern.test(route) && verb in paths[template]!)
        ?.template ?? "";
    return { at: `/paths/${escapePointer(template)}/${verb}`, operation: paths[template]?.[verb] };
  }

  /** `value` is undefined if there is no body. Bodies of types other than JSON are not checked. */
  private checkContent(
    where: string,
    schemas: Schemas,
    at: string,
    { content }: ContentHolder,
    mediaType: string,
    value: unknown,
  ): void {
    if (content[mediaType] === undefined)
      throw new Error(`${where}: the content type ${mediaType} is not in /openapi.json`);
    if (mediaType !== JSON_TYPE || value === undefined) return;
    this.checkValue(where, schemas, `${at}/content/${escapePointer(mediaType)}/schema`, value);
  }

  private checkValue(where: string, schemas: Schemas, pointer: string, value: unknown): void {
    const validate = this.validator(`${schemas}#${encodePointer(pointer)}`);
    if (validate(value)) return;
    const why = validate.errors!.map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
    throw new Error(`${where} does not fit /openapi.json: ${why.join(", ")}\n${preview(value)}`);
  }

  private validator(reference: string): ValidateFunction {
    let validate = this.compiled.get(reference);
    if (validate === undefined) {
      validate = this.ajv.compile({ $ref: reference });
      this.compiled.set(reference, validate);
    }
    return validate;
  }
}

/**
 * Returns a copy of the document in which an object may have only the members listed in its schema.
 * Exceptions are maps and users' documents: objects whose schema lists no members or describes additional
 * ones.
 */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== "object" || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, closed(value)]));
  const listsMembers = copy.type === "object" && "properties" in copy;
  return listsMembers && !("additionalProperties" in copy) ? { ...copy, unevaluatedProperties: false } : copy;
}

function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function encodePointer(pointer: string): string {
  return pointer.split("/").map(encodeURIComponent).join("/");
}

function isJsonBody(body: unknown): boolean {
  return (
    body !== undefined && !(body instanceof Uint8Array) && (typeof body !== "string" || /^\s*\{/.test(body))
  );
}

function asValue(body: unknown): unknown {
  return typeof body === "string" ? JSON.parse(body) : JSON.parse(JSON.stringify(body));
}

/** The request without the multi-search slots that got an error. */
function accepted(body: unknown, { json }: Reply): unknown {
  const { searches } = body as { searches?: unknown[] };
  const results = (json.data as { results?: object[] } | undefined)?.results;
  if (!Array.isArray(searches) || !Array.isArray(results)) return body;
  return { ...(body as object), searches: searches.filter((_, i) => !("error" in results[i]!)) };
}

function preview(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 1500);
}
