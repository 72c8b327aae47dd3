// The interface between the HTTP transport and the service: requests, replies and listeners. uws-transport.ts
// (uWebSockets.js) and node-transport.ts (node:http) implement it. It depends on neither of the two
// libraries.

import type { CertificatePair } from "../../access/edge/certificate.js";
import type { HeaderBlock, HeaderLines } from "../../access/edge/headers.js";
import type { ErrorCode, SkeinError } from "../../ground/errors.js";
import type { RequestLife } from "../../ground/jobs/request-life.js";
import type { Limits } from "../../ground/limits.js";
import type { BodyMemory } from "./body-memory.js";
import type { UnsentBytes } from "./unsent.js";

/** The request headers that the service reads. Transports copy only these. */
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
export const HEADER_PLACES: ReadonlyMap<string, number> = new Map(
  READ_HEADERS.map((name, place) => [name, place]),
);

export interface HttpRequest {
  /** In upper case. */
  readonly method: string;
  /** As sent, percent-encoded, without the query. */
  readonly path: string;
  /** As sent, without the question mark. */
  readonly query: string;
  /**
   * The client's address as text: that of the connection's peer, not the one that a proxy reports. May be
   * empty once the client has disconnected or received the reply.
   */
  readonly ip: string;
  /** The header's value; "" if the header is absent. */
  header(name: ReadHeader): string;
  /** True once the client has closed the connection. */
  readonly aborted: boolean;
  /** Aborts when the client closes the connection. */
  readonly signal: AbortSignal;
  /** Ends when the client closes the connection. The service limits it, and ends it with the reply. */
  readonly life: RequestLife;
  /** From now on, counts the body towards this tenant's share of the memory for bodies. */
  chargeTo(tenant: number): void;
  /**
   * Returns the whole body, without a promise if it has already arrived. Throws a SkeinError with the code
   * `tooLarge` as soon as the body is known to exceed `bytesMax`, SK-SYS-408 if the body does not arrive in
   * time, and ClientGone if the client disconnects. A request may call either `body` or `bodyStream`, and
   * only once.
   */
  body(bytesMax: number, tooLarge: ErrorCode): Uint8Array | Promise<Uint8Array>;
  /**
   * Streams the body. If the caller reads slowly, the client is slowed down. Throws like `body`, except that
   * there is no size limit.
   */
  bodyStream(): AsyncIterable<Uint8Array>;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: HeaderLines;
  /** The value in the {data} envelope, if the body was made from a value. The audit log reads it. */
  readonly data?: unknown;
  /**
   * Bytes must not change before `onFinished`; then they may. A stream is sent piece by piece, no faster than
   * the client reads it. If the stream throws, the connection is closed.
   */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array>;
  /**
   * Called once, when the reply has been handed to the connection or the client has disconnected. If a stream
   * was cut off, `failure` is the reason.
   */
  readonly onFinished?: (failure: unknown) => void;
}

export interface TextReply extends HttpReply {
  readonly body: string;
}

/** A reply as the transport sends it: the route's reply and the headers that every reply has. */
export interface SentReply {
  readonly reply: HttpReply;
  /** The X-Request-Id; "" if the reply's own headers have it. */
  readonly id: string;
  readonly common: HeaderBlock;
  /** Called once, at the same time and with the same argument as the reply's `onFinished`, which it calls. */
  finished(failure: unknown): void;
}

/** The reply to a request that is not valid HTTP. Nobody waits for its end. */
export interface SentRefusal extends SentReply {
  readonly reply: TextReply;
}

/** All lines of the reply's head, except the length. */
export function headerLines({ reply, id, common }: SentReply): HeaderLines {
  return [...reply.headers, ...(id === "" ? [] : [["x-request-id", id] as const]), ...common.lines];
}

/** Must neither throw nor reject. */
export type HttpHandler = (request: HttpRequest) => SentReply | Promise<SentReply>;

/** Builds the reply to a request that breaks a rule of HTTP and never reaches the handler. Must not throw. */
export type MalformedHandler = (why: SkeinError, requestId?: string) => SentRefusal;

/** State shared by all of a listener's exchanges. */
export interface ExchangeContext {
  readonly limits: Limits;
  readonly memory: BodyMemory;
  readonly unsent: UnsentBytes;
}

/** True once a listener has stopped accepting; see HttpListener.stopAccepting. */
export interface Closing {
  now: boolean;
}

export interface ListenOptions extends ExchangeContext {
  readonly host: string;
  readonly port: number;
  /**
   * True if other threads of this process listen on the same address. The system then distributes connections
   * among them.
   */
  readonly isShared: boolean;
  /** Null for plain HTTP. */
  readonly certificate: CertificatePair | null;
  readonly handler: HttpHandler;
  readonly malformed: MalformedHandler;
}

export interface HttpListener {
  readonly port: number;
  /**
   * Uses this certificate for new connections; open connections keep theirs. If the certificate is unusable,
   * throws or rejects and keeps the previous one. The listener must have been started with a certificate.
   */
  useCertificate(pair: CertificatePair): void | Promise<void>;
  /** Number of open connections, including idle ones. */
  readonly connections: number;
  /**
   * Accepts no new connections. Requests on open connections still arrive. Every reply that has not begun yet
   * is sent with `Connection: close`, and its connection is closed after it.
   */
  stopAccepting(): void;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** A listener whose sockets belong to this thread. */
export interface OwnListener extends HttpListener {
  /** Closes all connections at once, even in the middle of a request's callback. */
  cut(): void;
}

/** The client closed the connection before its request was finished, so no reply can be sent. */
export class ClientGone extends Error {
  constructor() {
    super("the client closed the connection");
    this.name = "ClientGone";
  }
}

/** Reason phrases for the status codes that the server uses. */
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
  411: "Length Required",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  417: "Expectation Failed",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  503: "Service Unavailable",
};
