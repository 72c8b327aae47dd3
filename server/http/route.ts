// What a route declares, and what its handler gets for it.
import type { Principal } from "../access/tenants/principal.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { Scope } from "../catalog/records/key.js";
import type { CatalogState } from "../catalog/state.js";
import type { ErrorCode } from "../ground/errors.js";
import type { SearchServices, Services } from "./services.js";
import type { HttpReply, HttpRequest } from "./transport/port.js";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** What a handler of an open route gets. */
export interface RouteRequest<S extends SearchServices = Services> {
  readonly services: S;
  readonly request: HttpRequest;
  /** Of the request, for lines of the log. */
  readonly id: string;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  /** The URL's parameters; most routes have none. Throws SK-SYS-400 for a repeated one. */
  query(): URLSearchParams;
}

/** `B`: what the route's body reader gives. */
export interface TenantRequest<B = undefined, S extends SearchServices = Services> extends RouteRequest<S> {
  readonly principal: Principal;
  /** The catalog when the request arrived. */
  readonly state: CatalogState;
  readonly body: B;
}

export interface IndexRequest<B = undefined, S extends SearchServices = Services>
  extends TenantRequest<B, S> {
  readonly record: IndexRecord;
}

/** Reads the body of a request that may be made. Throws SkeinError and ClientGone. */
export type BodyReader<B> = (
  request: Pick<TenantRequest<unknown, SearchServices>, "request" | "services" | "principal">,
) => B | Promise<B>;

type Reply = HttpReply | Promise<HttpReply>;

interface RouteBase {
  readonly method: Method;
  /** With parameters in braces, exactly as in the OpenAPI document. */
  readonly path: string;
  /** operationId of the OpenAPI document. */
  readonly operation: string;
}

/** No key needed, and no body read. */
export interface OpenRoute<S extends SearchServices = Services> extends RouteBase {
  readonly access: "open";
  /** 503 unless the server serves; the others answer while it starts and stops, too. */
  readonly whileServing?: true;
  readonly handle: (request: RouteRequest<S>) => Reply;
}

/** A key with the scope; "bootstrap": only the bootstrap admin key. */
export type TenantRoute<S extends SearchServices = Services> = RouteBase & {
  readonly access: "tenant";
  readonly scope: Scope | "bootstrap";
} & (
    | Handling<undefined, TenantRequest<undefined, S>>
    | Handling<unknown, TenantRequest<unknown, S>>
    | Handling<Uint8Array, TenantRequest<Uint8Array, S>>
  );

/** A key with the scope that covers the index {name}. */
export type IndexRoute<S extends SearchServices = Services> = RouteBase & {
  readonly access: "index";
  readonly scope: Scope;
  /** The code when the index does not exist. */
  readonly missing: ErrorCode;
  /** Uses the index's data: 503 if it cannot be opened, and a swap that drops it waits for the reply. */
  readonly opens?: true;
  /** The key may stand in the URL, for requests whose headers a page cannot set. */
  readonly keyInUrl?: true;
} & (
    | Handling<undefined, IndexRequest<undefined, S>>
    | Handling<unknown, IndexRequest<unknown, S>>
    | Handling<Uint8Array, IndexRequest<Uint8Array, S>>
    | Handling<AsyncIterable<Uint8Array>, IndexRequest<AsyncIterable<Uint8Array>, S>>
  );

/** A route without a body reader gets no body. */
type Handling<B, Request> = (B extends undefined
  ? { readonly body?: undefined }
  : { readonly body: BodyReader<B> }) & { readonly handle: (request: Request) => Reply };

export type Route<S extends SearchServices = Services> = OpenRoute<S> | TenantRoute<S> | IndexRoute<S>;
