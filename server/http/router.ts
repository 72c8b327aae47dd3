// The route table as data, and finding a path in it. Knows no route.
import type { CatalogState } from "../catalog/state.js";
import type { IndexRecord, Scope } from "../catalog/types.js";
import { type ErrorCode, SkeinError } from "../errors.js";
import type { Principal } from "../tenants/principal.js";
import type { HttpReply, HttpRequest } from "./port.js";
import type { Services } from "./services.js";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** What a handler of an open route gets. */
export interface OpenContext {
  readonly services: Services;
  readonly request: HttpRequest;
  /** Of the request, for lines of the log. */
  readonly id: string;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  /** The URL's parameters; most routes have none. Throws SK-SYS-400 for a repeated one. */
  query(): URLSearchParams;
}

export interface TenantContext extends OpenContext {
  readonly principal: Principal;
  /** The catalog as of the request's arrival. */
  readonly state: CatalogState;
}

export interface IndexContext extends TenantContext {
  readonly record: IndexRecord;
}

type Reply = HttpReply | Promise<HttpReply>;

interface RouteBase {
  readonly method: Method;
  /** With parameters in braces, exactly as in the OpenAPI document. */
  readonly path: string;
  /** operationId of the OpenAPI document. */
  readonly operation: string;
}

/** No key needed. */
export interface OpenRoute extends RouteBase {
  readonly access: "open";
  handle(context: OpenContext): Reply;
}

/** A key with the scope; "bootstrap": only the bootstrap admin key. */
export interface TenantRoute extends RouteBase {
  readonly access: "tenant";
  readonly scope: Scope | "bootstrap";
  handle(context: TenantContext): Reply;
}

/** A key with the scope that covers the index {name}. */
export interface IndexRoute extends RouteBase {
  readonly access: "index";
  readonly scope: Scope;
  /** The code when the index does not exist. */
  readonly missing: ErrorCode;
  /** The key may stand in the URL, for requests whose headers a page cannot set. */
  readonly keyInUrl?: true;
  handle(context: IndexContext): Reply;
}

export type Route = OpenRoute | TenantRoute | IndexRoute;

export type Match =
  | { readonly route: Route; readonly params: Record<string, string> }
  | {
      readonly route: null /** Methods of the path; empty when the path is unknown. */;
      readonly allow: readonly string[];
    };

interface Entry {
  readonly route: Route;
  readonly segments: readonly string[];
  /** By segment: the name of the parameter, null where the path is fixed. */
  readonly parameters: readonly (string | null)[];
}

export class Router {
  readonly #byLength = new Map<number, Entry[]>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const segments = route.path.split("/");
      const entries = this.#byLength.get(segments.length) ?? [];
      entries.push({ route, segments, parameters: segments.map(parameterOf) });
      this.#byLength.set(segments.length, entries);
    }
    for (const entries of this.#byLength.values())
      entries.sort((a, b) => parameterCount(a) - parameterCount(b));
  }

  /** HEAD finds the GET route. Throws SK-SYS-400 for a path with broken percent-encoding. */
  match(method: string, path: string): Match {
    const segments = path.split("/");
    const wanted = method === "HEAD" ? "GET" : method;
    const entries = this.#byLength.get(segments.length) ?? [];
    const found = entries.find((entry) => entry.route.method === wanted && fits(entry, segments));
    if (found !== undefined) return { route: found.route, params: decoded(found, segments) };
    const methods = entries
      .filter((entry) => fits(entry, segments))
      .map((entry) => entry.route.method as string);
    if (methods.length === 0) return { route: null, allow: [] };
    return { route: null, allow: [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"] };
  }
}

function parameterOf(segment: string): string | null {
  return segment.startsWith("{") ? segment.slice(1, -1) : null;
}

function parameterCount({ parameters }: Entry): number {
  return parameters.filter((name) => name !== null).length;
}

function fits(entry: Entry, segments: readonly string[]): boolean {
  for (let i = 0; i < segments.length; i++) {
    if (entry.parameters[i] === null ? segments[i] !== entry.segments[i] : segments[i] === "") return false;
  }
  return true;
}

function decoded({ parameters }: Entry, segments: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (let i = 0; i < parameters.length; i++) {
    const name = parameters[i]!;
    if (name !== null) params[name] = decodeSegment(segments[i]!);
  }
  return params;
}

function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    throw new SkeinError("SK-SYS-400", "the path has a broken percent-encoding", { cause: error });
  }
}
