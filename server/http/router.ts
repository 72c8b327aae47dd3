// The route table as data, and finding a path in it. Knows no route.
import type { Principal } from "../access/tenants/principal.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { Scope } from "../catalog/records/key.js";
import type { CatalogState } from "../catalog/state.js";
import { type ErrorCode, SkeinError } from "../ground/errors.js";
import type { SearchServices, Services } from "./services.js";
import type { HttpReply, HttpRequest } from "./transport/port.js";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** What a handler of an open route gets. */
export interface OpenContext<S extends SearchServices = Services> {
  readonly services: S;
  readonly request: HttpRequest;
  /** Of the request, for lines of the log. */
  readonly id: string;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  /** The URL's parameters; most routes have none. Throws SK-SYS-400 for a repeated one. */
  query(): URLSearchParams;
}

export interface TenantContext<S extends SearchServices = Services> extends OpenContext<S> {
  readonly principal: Principal;
  /** The catalog as of the request's arrival. */
  readonly state: CatalogState;
}

export interface IndexContext<S extends SearchServices = Services> extends TenantContext<S> {
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
export interface OpenRoute<S extends SearchServices = Services> extends RouteBase {
  readonly access: "open";
  handle(context: OpenContext<S>): Reply;
}

/** A key with the scope; "bootstrap": only the bootstrap admin key. */
export interface TenantRoute<S extends SearchServices = Services> extends RouteBase {
  readonly access: "tenant";
  readonly scope: Scope | "bootstrap";
  handle(context: TenantContext<S>): Reply;
}

/** A key with the scope that covers the index {name}. */
export interface IndexRoute<S extends SearchServices = Services> extends RouteBase {
  readonly access: "index";
  readonly scope: Scope;
  /** The code when the index does not exist. */
  readonly missing: ErrorCode;
  /** The key may stand in the URL, for requests whose headers a page cannot set. */
  readonly keyInUrl?: true;
  handle(context: IndexContext<S>): Reply;
}

export type Route<S extends SearchServices = Services> = OpenRoute<S> | TenantRoute<S> | IndexRoute<S>;

export type Match<S extends SearchServices> =
  | { readonly route: Route<S>; readonly params: Record<string, string> }
  | {
      readonly route: null /** Methods of the path; empty when the path is unknown. */;
      readonly allow: readonly string[];
    };

interface Entry<S extends SearchServices> {
  readonly route: Route<S>;
  readonly segments: readonly string[];
  /** By segment: the name of the parameter, null where the path is fixed. */
  readonly parameters: readonly (string | null)[];
}

export class Router<S extends SearchServices> {
  readonly #byLength = new Map<number, Entry<S>[]>();

  constructor(routes: readonly Route<S>[]) {
    for (const route of routes) {
      const segments = route.path.split("/");
      const entries = this.#byLength.get(segments.length) ?? [];
      entries.push({ route, segments, parameters: segments.map(parameterOf) });
      this.#byLength.set(segments.length, entries);
    }
    for (const entries of this.#byLength.values())
      entries.sort((a, b) => parameterCount(a) - parameterCount(b));
  }

  /** Whether there is a route for this. */
  has(method: string, path: string): boolean {
    return this.#find(method, path.split("/")) !== undefined;
  }

  #find(method: string, segments: readonly string[]): Entry<S> | undefined {
    const wanted = method === "HEAD" ? "GET" : method;
    const entries = this.#byLength.get(segments.length) ?? [];
    return entries.find((entry) => entry.route.method === wanted && fits(entry, segments));
  }

  /** HEAD finds the GET route. Throws SK-SYS-400 for a path with broken percent-encoding. */
  match(method: string, path: string): Match<S> {
    const segments = path.split("/");
    const entries = this.#byLength.get(segments.length) ?? [];
    const found = this.#find(method, segments);
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

function parameterCount({ parameters }: Pick<Entry<never>, "parameters">): number {
  return parameters.filter((name) => name !== null).length;
}

function fits(entry: Pick<Entry<never>, "parameters" | "segments">, segments: readonly string[]): boolean {
  for (let i = 0; i < segments.length; i++) {
    if (entry.parameters[i] === null ? segments[i] !== entry.segments[i] : segments[i] === "") return false;
  }
  return true;
}

function decoded(
  { parameters }: Pick<Entry<never>, "parameters">,
  segments: readonly string[],
): Record<string, string> {
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
