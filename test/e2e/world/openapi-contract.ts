// Holds HTTP exchanges against an OpenAPI 3.1 document: the path and status must be described, the response
// must fit its schema, and a request that the server accepted must fit the request schema.
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { Reply } from "./reply.js";

interface ContentHolder {
  $ref?: string;
  content?: Record<string, unknown>;
}

interface Operation {
  requestBody?: ContentHolder;
  responses: Record<string, ContentHolder>;
}

interface OpenApiDocument {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
}

export class OpenApiContract {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true });
  private readonly compiled = new Map<string, ValidateFunction>();
  private readonly templates: { template: string; pattern: RegExp }[];

  constructor(private readonly document: OpenApiDocument) {
    formats.default(this.ajv);
    this.ajv.addSchema(document, "openapi");
    this.templates = Object.keys(document.paths)
      .sort((a, b) => a.split("{").length - b.split("{").length)
      .map((template) => ({ template, pattern: new RegExp(`^${template.replace(/\{[^}]+\}/g, "[^/]+")}$`) }));
  }

  /** Throws when the exchange is not what the document promises. Unknown paths must be answered 404. */
  check(method: string, path: string, body: unknown, reply: Reply): void {
    const where = `${method} ${path} -> ${reply.status}`;
    const route = path.split("?")[0]!;
    const template = this.templates.find(({ pattern }) => pattern.test(route))?.template;
    const operation =
      template === undefined ? undefined : this.document.paths[template]![method.toLowerCase()];
    if (template === undefined || operation === undefined) {
      if (reply.status < 400) throw new Error(`${where}: answered, but not in /openapi.json`);
      return;
    }
    const at = `/paths/${escapePointer(template)}/${method.toLowerCase()}`;
    this.checkResponse(where, `${at}/responses`, operation, reply);
    if (reply.status < 300 && isJsonBody(body) && operation.requestBody !== undefined) {
      this.checkContent(
        `${where}: request`,
        `${at}/requestBody`,
        operation.requestBody,
        "application/json",
        asValue(body),
      );
    }
  }

  private checkResponse(where: string, at: string, operation: Operation, reply: Reply): void {
    const key = [String(reply.status), `${String(reply.status)[0]}XX`, "default"].find(
      (name) => operation.responses[name] !== undefined,
    );
    if (key === undefined) throw new Error(`${where}: the status is not in /openapi.json`);
    if (!reply.isJson) return;
    this.checkContent(
      `${where}: response`,
      `${at}/${key}`,
      operation.responses[key]!,
      "application/json",
      reply.json,
    );
  }

  private checkContent(
    where: string,
    at: string,
    holder: ContentHolder,
    mediaType: string,
    value: unknown,
  ): void {
    const pointer = holder.$ref === undefined ? at : holder.$ref.slice(1);
    const resolved = holder.$ref === undefined ? holder : (this.resolve(pointer) as ContentHolder);
    if (resolved.content?.[mediaType] === undefined)
      throw new Error(`${where}: no ${mediaType} in /openapi.json`);
    const validate = this.validator(`${pointer}/content/${escapePointer(mediaType)}/schema`);
    if (!validate(value)) {
      throw new Error(
        `${where} does not fit /openapi.json: ${this.ajv.errorsText(validate.errors)}\n${preview(value)}`,
      );
    }
  }

  private validator(pointer: string): ValidateFunction {
    let validate = this.compiled.get(pointer);
    if (validate === undefined) {
      validate = this.ajv.compile({ $ref: `openapi#${encodePointer(pointer)}` });
      this.compiled.set(pointer, validate);
    }
    return validate;
  }

  private resolve(pointer: string): unknown {
    return pointer
      .split("/")
      .slice(1)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<unknown>((value, part) => (value as Record<string, unknown>)[part], this.document);
  }
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

function preview(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 1500);
}
