// The port between the HTTP transport and the service: what a request offers, what a reply is, what a listener can
// do. Two implementations: uws-transport.ts (uWebSockets.js) and node-transport.ts (node:http). Knows neither.

import type { CertificatePair } from "../../access/edge/certificate.js";
import type { HeaderLines } from "../../access/edge/headers.js";
import type { ErrorCode, SkeinError } from "../../ground/errors.js";
import type { Limits } from "../../ground/limits.js";
import type { BodyMemory } from "./body-memory.js";
import type { UnsentBytes } from "./unsent.js";

/** The headers that are read. A transport copies only these. */
export const READ_HEADERS = [
  "authorization",
  "content-type",
  "content-encoding",
  "content-length",
  "x-request-id",
  "x-skein-tenant",
  "x-forwarded-for",
  "origin",
  "access-control-request-headers",
] as const;
export type ReadHeader = (typeof READ_HEADERS)[number];

export interface HttpRequest {
  /** In upper case. */
  readonly method: string;
  /** As sent, percent-encoded, without the query. */
  readonly path: string;
  /** As sent, without the question mark. */
  readonly query: string;
  /** Address of the peer as text. It may be empty once the client has gone or has the reply. */
  readonly ip: string;
  /** The header's value, "" when absent. */
  header(name: ReadHeader): string;
  /** True once the client has closed the connection. */
  readonly aborted: boolean;
  /** Aborted when the client closes the connection. */
  readonly signal: AbortSignal;
  /**
   * The whole body. Throws a SkeinError with `tooLarge` as soon as it is known to exceed `bytesMax`, SK-SYS-408
   * when it does not arrive in time, and ClientGone. A caller may call either body or bodyStream, and only once.
   */
  body(bytesMax: number, tooLarge: ErrorCode): Promise<Uint8Array>;
  /** The body piece by piece; reading slowly slows the client down. Throws like `body`. */
  bodyStream(): AsyncIterable<Uint8Array>;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: HeaderLines;
  /** The value of the body's member `data`, where the body was made from one. */
  readonly data?: unknown;
  /** A stream is sent in pieces, no faster than the client reads. If it throws, the connection is cut. */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Called once when the reply has been handed over or the client has gone; `failure` is why a stream was cut. */
  readonly onFinished?: (failure: unknown) => void;
}

export interface TextReply extends HttpReply {
  readonly body: string;
}

/** Must not throw and must not reject. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpReply>;

/** The reply to bytes that are no request, so that the handler never sees them. Must not throw. */
export type MalformedHandler = (why: SkeinError) => TextReply;

/** What all exchanges of a listener share. */
export interface ExchangeContext {
  readonly limits: Limits;
  readonly memory: BodyMemory;
  readonly unsent: UnsentBytes;
}

export interface ListenOptions extends ExchangeContext {
  readonly host: string;
  readonly port: number;
  /** Other threads of this process listen on the same address, and the system spreads the connections over them. */
  readonly isShared: boolean;
  /** null: plain HTTP. */
  readonly certificate: CertificatePair | null;
  readonly handler: HttpHandler;
  readonly malformed: MalformedHandler;
}

export interface HttpListener {
  readonly port: number;
  /**
   * New connections get this certificate; open ones go on with theirs. Throws or rejects when the library cannot use it, and then the
   * one before stays in use. Requires a listener that was started with a certificate.
   */
  useCertificate(pair: CertificatePair): void | Promise<void>;
  /** No new connections; requests on open ones still arrive. */
  stopAccepting(): void;
  /** Cuts all connections. */
  close(): Promise<void>;
}

/** The client closed the connection before the request was done; nobody is left to answer. */
export class ClientGone extends Error {
  constructor() {
    super("the client closed the connection");
    this.name = "ClientGone";
  }
}

/** Reason phrases of the statuses in use. */
export const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
};
