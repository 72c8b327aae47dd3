// The declaration of a route, and the request that its handler receives.
import type { Principal } from "../access/tenants/principal.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { Scope } from "../catalog/records/key.js";
import type { CatalogState } from "../catalog/state.js";
import type { ErrorCode } from "../ground/errors.js";
import type { SearchServices, Services } from "./services.js";
import type { HttpReply, HttpRequest } from "./transport/port.js";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** The request passed to the handler of a route that needs no key. */
export interface RouteRequest<S extends SearchServices = Services> {
  readonly services: S;
  readonly request: HttpRequest;
  /** Request id for log lines. */
  readonly id: string;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  /**
   * The query string's parameters. Parsed when they are read, because most requests have none. Throws
   * SK-SYS-400 if a parameter is repeated.
   */
  readonly query: URLSearchParams;
}

/** `B` is the type that the route's body reader returns. */
export interface TenantRequest<B = undefined, S extends SearchServices = Services> extends RouteRequest<S> {
  readonly principal: Principal;
  /** The catalog's state when the key was checked. */
  readonly state: CatalogState;
  readonly body: B;
}

export interface IndexRequest<B = undefined, S extends SearchServices = Services>
  extends TenantRequest<B, S> {
  readonly record: IndexRecord;
}

/** Reads the body, once the caller's rights have been checked. Throws SkeinError and ClientGone. */
export type BodyReader<B> = (
  request: Pick<TenantRequest<unknown, SearchServices>, "request" | "services" | "principal">,
) => B | Promise<B>;

type Reply = HttpReply | Promise<HttpReply>;

interface RouteBase {
  readonly method: Method;
  /** Path with its parameters in braces, exactly as in the OpenAPI document. */
  readonly path: string;
  /** The operationId in the OpenAPI document. */
  readonly operation: string;
}

/** A route that needs no key and reads no body. */
export interface OpenRoute<S extends SearchServices = Services> extends RouteBase {
  readonly access: "open";
  /**
   * If true, the route answers 503 unless the server is serving. Other open routes also answer during start
   * and shutdown.
   */
  readonly whileServing?: true;
  readonly handle: (request: RouteRequest<S>) => Reply;
}

/** A route that needs a key with the given scope. "bootstrap": only the bootstrap admin key is accepted. */
export type TenantRoute<S extends SearchServices = Services> = RouteBase & {
  readonly access: "tenant";
  readonly scope: Scope | "bootstrap";
} & (
    | Handling<undefined, TenantRequest<undefined, S>>
    | Handling<unknown, TenantRequest<unknown, S>>
    | Handling<Uint8Array, TenantRequest<Uint8Array, S>>
  );

/**
 * A route that needs a key with the given scope, which must also cover the index named by the path parameter
 * {name}.
 */
export type IndexRoute<S extends SearchServices = Services> = RouteBase & {
  readonly access: "index";
  readonly scope: Scope;
  /** Error code if the index does not exist. */
  readonly missing: ErrorCode;
  /**
   * True if the route reads the index's data. Such a route answers 503 if the index cannot be opened, and a
   * swap that drops the index waits until the reply has been sent.
   */
  readonly opens?: true;
  /** True if the URL may contain the key. Meant for requests where a web page cannot set headers. */
  readonly keyInUrl?: true;
} & (
    | Handling<undefined, IndexRequest<undefined, S>>
    | Handling<unknown, IndexRequest<unknown, S>>
    | Handling<Uint8Array, IndexRequest<Uint8Array, S>>
    | Handling<AsyncIterable<Uint8Array>, IndexRequest<AsyncIterable<Uint8Array>, S>>
  );

/**
 * Pairs a body reader with a handler for the type that it returns. Without a body reader, the handler gets no
 * body.
 */
type Handling<B, Request> = (B extends undefined
  ? { readonly body?: undefined }
  : { readonly body: BodyReader<B> }) & { readonly handle: (request: Request) => Reply };

export type Route<S extends SearchServices = Services> = OpenRoute<S> | TenantRoute<S> | IndexRoute<S>;

/** True for queries, suggestions and everything else that has to be answered within `searchMsMax`. */
export function isSearch<S extends SearchServices>(route: Route<S>): boolean {
  return route.access !== "open" && route.scope === "search";
}
