// Checks that every reply must pass, whatever the request.

import type { Route } from "../../../server/http/route.js";
import { ROUTES } from "../../../server/http/routes/table.js";
import type { Reply } from "../../e2e/world/reply.js";
import { finding } from "../target.js";
import type { Operation } from "./operations.js";
import { type FuzzRequest, isForTheLibrary, saidBy } from "./request.js";
import { ALL_INDEXES, contentWord, TENANTS } from "./tenants.js";
import type { Principal, Rights, World } from "./world.js";

/** For each OpenAPI tag, the families of error codes that its operations may return in addition to SK-SYS. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  indexes: ["IX"],
  documents: ["IX", "DOC"],
  search: ["SE", "DOC"],
  rules: ["IX", "RR", "SY"],
  sources: ["IX", "DS"],
  analytics: ["IX", "AN"],
  coach: ["IX", "AI", "RR", "SY"],
  keys: [],
  tenants: [],
  snapshots: [],
  audit: [],
  server: [],
};
const TENANT_NAME = new RegExp(`(${TENANTS.join("|")})[\\w-]*`, "g");
const VISIBLE_ASCII = /^[!-~]*$/;
const REQUEST_ID = /^[\w.:-]{1,100}$/;

/**
 * A request, its caller and the caller's rights at that time, and the operation that the path selects, if
 * any.
 */
export interface Case {
  readonly request: FuzzRequest;
  readonly principal: Principal;
  readonly rights: Rights | null;
  readonly operation: Operation | undefined;
}

export class Judge {
  readonly #routes = new Map(ROUTES.map((route) => [route.operation, route]));
  /**
   * Tenants whose indexes have been swapped or copied, so that the judge no longer knows whose contents an
   * index has.
   */
  readonly #mixed = new Set<string>();

  constructor(private readonly world: Pick<World, "contract" | "wordOf">) {}

  /** Returns to the initial state. */
  forget(): void {
    this.#mixed.clear();
  }

  /** Throws if the reply breaks a rule. */
  check(one: Case, reply: Reply): void {
    const { request } = one;
    const isOfTheLibrary = reply.headers["x-request-id"] === undefined || reply.status === 431;
    if (isOfTheLibrary && isForTheLibrary(request)) {
      if (reply.status !== 400 && reply.status !== 431) finding(`a strange head is answered ${reply.status}`);
      return;
    }
    if (reply.status >= 500) finding(`answered ${reply.status}: ${reply.text.slice(0, 500)}`);
    this.world.contract.checkReply(request.method, request.path, reply);
    this.#checkRequest(one, reply);
    checkHeaders(request, reply);
    if (reply.status >= 400) checkError(one, reply);
    else checkLines(reply);
    if (reply.status < 300) this.#checkRights(one);
    this.#checkIsolation(one, reply);
  }

  /**
   * JSON that the server accepts must match the OpenAPI document, because the document tells clients what
   * they may send.
   */
  #checkRequest({ request, operation }: Case, reply: Reply): void {
    const { body, path, method } = request;
    const isJson = operation?.bodies["application/json"] !== undefined;
    if (reply.status >= 300 || !isJson || body === null || body.length === 0) return;
    if (operation.id === "sendEvents") return; // each event is rejected on its own
    this.world.contract.checkRequest(method, path, parsed(body), reply);
  }

  /** A request without the required scope or index must not succeed. */
  #checkRights({ request, principal, rights, operation }: Case): void {
    if (operation === undefined || request.method === "OPTIONS") return;
    const route = this.#routes.get(operation.id);
    if (route === undefined) finding(`the server's routes know no operation ${operation.id}`);
    if (route.access === "open" || principal.name === "bootstrap") return;
    if (rights === null) finding(`${principal.name} has no valid key and succeeds`);
    const { scope } = route;
    if (scope === "bootstrap") finding(`${principal.name} is not the bootstrap key and succeeds`);
    if (!rights.scopes.includes(scope) && !rights.scopes.includes("admin"))
      finding(`${principal.name} lacks the scope ${scope} and succeeds`);
    if (route.access === "index") this.#checkIndexes(request, principal, rights, route);
  }

  #checkIndexes(request: FuzzRequest, principal: Principal, rights: Rights, route: Route): void {
    const name = pathIndex(request, route.path);
    if (!covers(rights, name)) finding(`${principal.name} does not cover ${name} and succeeds`);
    if (request.method === "GET" || request.body === null) return;
    const named = namedIndexes(request);
    const foreign = named.find((index) => index !== name && !covers(rights, index));
    if (foreign !== undefined)
      finding(`${principal.name} does not cover ${foreign} of the body and succeeds`);
  }

  /** No reply reveals anything about another tenant, or about an index that the key does not cover. */
  #checkIsolation({ request, principal, rights, operation }: Case, reply: Reply): void {
    const route = operation === undefined ? undefined : this.#routes.get(operation.id);
    if (route?.access === "open" || (route?.access === "tenant" && route.scope === "bootstrap")) return;
    if (operation?.id === "usage" && isForAll(principal, request)) return;
    const text = `${reply.text}\n${Object.values(reply.headers).join("\n")}`.toLowerCase();
    const said = saidBy(request);
    const saidNames = new Set(namesIn(said));
    const tenant = this.#tenantOf(principal, rights, request);
    const others = TENANTS.filter((word) => word !== tenant);
    const other = namesIn(text).find(
      (name) => others.some((word) => name.startsWith(word)) && !saidNames.has(name),
    );
    if (other !== undefined) finding(`${principal.name} is told of ${other}: ${around(text, other)}`);
    if (rights === null || this.#mixed.has(tenant)) return;
    // Replies about keys may name all of the tenant's indexes, because a key lists the patterns of its index
    // names.
    const wordsOf = (name: string): string[] =>
      operation?.tag === "keys" ? [contentWord(name)] : [name, contentWord(name)];
    const hidden = ALL_INDEXES.filter((name) => name.startsWith(tenant) && !covers(rights, name)).flatMap(
      wordsOf,
    );
    const told = hidden.find((word) => text.includes(word) && !said.includes(word));
    if (told !== undefined) finding(`${principal.name} is told of ${told}: ${around(text, told)}`);
  }

  /**
   * The word of the tenant for which the request acts. Empty for a caller without a valid key, who must learn
   * nothing about any tenant.
   */
  #tenantOf({ name, tenant }: Principal, rights: Rights | null, { headers }: FuzzRequest): string {
    if (name !== "bootstrap") return rights === null ? "" : (tenant ?? "");
    return this.world.wordOf(headers.find(([header]) => header === "x-skein-tenant")?.[1] ?? "");
  }

  /**
   * Must be called for every reply, so that the judge knows when contents may have moved to another index.
   */
  note({ request, operation }: Case, reply: Reply): void {
    if (reply.status >= 300 || request.body === null || operation?.template.includes("{name}") !== true)
      return;
    const named = ALL_INDEXES.filter((name) => saidBy(request).includes(name));
    if (named.length > 1) for (const name of named) this.#mixed.add(name.split("-")[0]!);
  }
}

/** True if the request uses the bootstrap key without a tenant header. */
function isForAll({ name }: Principal, { headers }: FuzzRequest): boolean {
  return name === "bootstrap" && !headers.some(([header]) => header === "x-skein-tenant");
}

/**
 * Returns every full name in the text that starts with a tenant's word. Full names matter because a caller
 * who may see an index's name may not be allowed to see its contents.
 */
function namesIn(text: string): string[] {
  return text.match(TENANT_NAME) ?? [];
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    return finding("a body that is no JSON is accepted");
  }
}

function checkHeaders(request: FuzzRequest, { status, headers }: Reply): void {
  const id = headers["x-request-id"];
  if (typeof id !== "string" || id === "") finding("the reply has no x-request-id");
  const given = request.headers.find(([name]) => name === "x-request-id")?.[1] ?? "";
  // node:http refuses a head with other bytes in its target before it reads the headers.
  const isRead = status !== 400 || VISIBLE_ASCII.test(request.path);
  if (isRead && REQUEST_ID.test(given) && id !== given) finding(`x-request-id ${given} became ${id}`);
  if ((status === 429 || status === 503) && !(Number(headers["retry-after"]) >= 1))
    finding(`${status} without Retry-After`);
  if (status === 401 && headers["www-authenticate"] === undefined) finding("401 without WWW-Authenticate");
  if (status === 405 && headers.allow === undefined) finding("405 without Allow");
}

function checkError({ request, operation }: Case, { status, json, headers }: Reply): void {
  if (headers["content-type"] !== "application/json; charset=utf-8")
    finding(`an error of the content type ${headers["content-type"]}`);
  if (request.method === "HEAD") return;
  const [, family, suffix] = /^SK-([A-Z]+)-(\d{3})$/.exec(json.code) ?? [];
  if (Number(suffix) !== status) finding(`${status} with the code ${json.code}`);
  if (typeof json.error !== "string" || json.error.trim() === "") finding("an error without a sentence");
  const families = operation === undefined ? [] : FAMILIES[operation.tag];
  if (families === undefined) finding(`judge.ts knows no families of error codes for ${operation!.tag}`);
  if (family !== "SYS" && !families.includes(family!))
    finding(`${json.code} of ${operation?.id}: ${json.error}`);
}

/** Every line of NDJSON must be a JSON value. */
function checkLines({ text, headers }: Reply): void {
  if (headers["content-type"]?.startsWith("application/x-ndjson") !== true) return;
  for (const line of text.split("\n")) {
    if (line === "") continue;
    try {
      JSON.parse(line);
    } catch {
      finding(`a line that is no JSON: ${line.slice(0, 300)}`);
    }
  }
}

function covers({ indexes }: Rights, name: string): boolean {
  return indexes.some((pattern) => new RegExp(`^${pattern.replace(/\*+/g, ".*")}$`).test(name));
}

/** Returns the path segment at the position of {name} in the template. */
function pathIndex({ path }: FuzzRequest, template: string): string {
  const at = template.split("/").indexOf("{name}");
  return decodeURIComponent(path.split("?")[0]!.split("/")[at]!);
}

/** Returns the index that a member of the body such as source_index or target_index names, if any. */
function namedIndexes({ body }: FuzzRequest): string[] {
  const text = Buffer.from(body!).toString("utf8");
  const named = [...text.matchAll(/"\w+_index"\s*:\s*"([^"]+)"/g)].map(([, name]) => name!);
  return named.slice(-1); // if a member is repeated, the server uses the last one
}

function around(text: string, word: string): string {
  const at = text.indexOf(word);
  return text.slice(Math.max(0, at - 200), at + 200);
}
