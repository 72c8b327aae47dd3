// A feed server on loopback that can simulate any fault. Each path has a script: the answer to the first
// request, to the second, and so on; the last answer repeats. Knows nothing about the code that fetches from
// it.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";

export interface FeedAnswer {
  /** Default: 200. */
  readonly status?: number;
  /**
   * Names in lower case. An `etag` or `last-modified` is honoured: a conditional request that matches gets
   * 304.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * A string or byte array is sent with its length. A function's pieces are sent in chunks; in that case,
   * `gzip`, `ranges` and a number in `cutAfter` or `stallAfter` have no effect.
   */
  readonly body?: string | Uint8Array | (() => Iterable<Uint8Array> | AsyncIterable<Uint8Array>);
  /** Compresses the body and sets Content-Encoding. */
  readonly gzip?: boolean;
  /** Answers with 401 to a request without these credentials. */
  readonly basicAuth?: { readonly username: string; readonly password: string };
  /** Honours Range and If-Range. */
  readonly ranges?: boolean;
  /** Closes the connection after this number of body bytes; "head" resets it before the head. */
  readonly cutAfter?: number | "head";
  /** Stops sending after this number of body bytes, or before the head if "head". */
  readonly stallAfter?: number | "head";
  /** The bytes of the whole response, sent unchanged before the connection is closed. */
  readonly raw?: string | Uint8Array;
}

export interface FeedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface FeedServer {
  readonly port: number;
  /** `http://127.0.0.1:PORT` plus the path; `host` replaces 127.0.0.1. */
  url(path: string, host?: string): string;
  /** Sets a path's script; the next request for the path gets the first answer. */
  route(path: string, ...script: FeedAnswer[]): void;
  /** All requests since the start, including those for paths without a script (404). */
  readonly requests: FeedRequest[];
  /** Number of open connections. */
  openConnections(): number;
  /** Resolves once no connection is open. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

export interface FeedServerOptions {
  /** Serves HTTPS. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

export async function startFeedServer({ tls }: FeedServerOptions = {}): Promise<FeedServer> {
  const scripts = new Map<string, FeedAnswer[]>();
  const requests: FeedRequest[] = [];
  const sockets = new Set<Socket>();

  const listener: RequestListener = ({ url = "/", headers }, response) => {
    const path = url.split("?")[0]!;
    requests.push({ path: url, headers });
    const script = scripts.get(path) ?? [{ status: 404 }];
    const answer = script.length > 1 ? script.shift()! : script[0]!;
    void give(answer, headers, response).catch(() => response.destroy());
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  return {
    port,
    url: (path, host = "127.0.0.1") => `${tls === undefined ? "http" : "https"}://${host}:${port}${path}`,
    route: (path, ...script) => void scripts.set(path, script),
    requests,
    openConnections: () => sockets.size,
    quiet: async () => {
      while (sockets.size > 0) await new Promise((resolve) => [...sockets][0]!.once("close", resolve));
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function give(answer: FeedAnswer, asked: IncomingHttpHeaders, response: ServerResponse): Promise<void> {
  const socket = response.socket!;
  if (answer.raw !== undefined) return void socket.end(answer.raw);
  if (answer.cutAfter === "head") return void socket.resetAndDestroy();
  if (answer.stallAfter === "head") return;
  const { status = 200, headers = {} } = answer;
  if (!isAuthorised(answer, asked)) return void response.writeHead(401).end();
  if (isUnchanged(headers, asked)) return void response.writeHead(304, headers).end();
  if (typeof answer.body === "function") {
    response.writeHead(status, headers);
    const pieces = Readable.from(answer.body(), { objectMode: false });
    return void pieces.on("error", () => response.destroy()).pipe(response);
  }
  const plain = Buffer.from(answer.body ?? "");
  const whole = answer.gzip ? gzipSync(plain) : plain;
  const encoding = answer.gzip ? { "content-encoding": "gzip" } : {};
  const from = answer.ranges ? rangeStart(headers, asked) : 0;
  if (from >= whole.length && from > 0) return void response.writeHead(416).end();
  const body = whole.subarray(from);
  const range = from > 0 ? { "content-range": `bytes ${from}-${whole.length - 1}/${whole.length}` } : {};
  const all = { "content-length": String(body.length), ...encoding, ...range, ...headers };
  response.writeHead(from > 0 ? 206 : status, all);
  const stop = answer.cutAfter ?? answer.stallAfter;
  if (stop === undefined) return void response.end(body);
  response.flushHeaders();
  await new Promise((written) => response.write(body.subarray(0, stop), written));
  // Closes the connection normally rather than resetting it, because a reset may overtake bytes in transit,
  // and the reader must get all of them.
  if (answer.cutAfter !== undefined) socket.end();
}

function isAuthorised({ basicAuth }: FeedAnswer, asked: IncomingHttpHeaders): boolean {
  if (basicAuth === undefined) return true;
  const { username, password } = basicAuth;
  return asked.authorization === `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function isUnchanged(headers: Readonly<Record<string, string>>, asked: IncomingHttpHeaders): boolean {
  const etag = asked["if-none-match"];
  const modified = asked["if-modified-since"];
  return etag === undefined
    ? modified !== undefined && modified === headers["last-modified"]
    : etag === headers.etag;
}

/**
 * Offset of the first byte requested; 0 if the client requests the whole body, or a range of another version
 * of it.
 */
function rangeStart(headers: Readonly<Record<string, string>>, asked: IncomingHttpHeaders): number {
  const start = /^bytes=(\d+)-$/.exec(asked.range ?? "")?.[1];
  const validator = asked["if-range"];
  const isSame =
    validator === undefined || validator === headers.etag || validator === headers["last-modified"];
  return start !== undefined && isSame ? Number(start) : 0;
}
