// The command line's HTTP client. It keeps connections to one server alive, and defines the errors that
// commands report. Knows the reply formats that all routes share ({data} and {error, code}), but not the
// individual routes.

import http from "node:http";
import https from "node:https";
import tls from "node:tls";
import { CliError } from "./failure.js";

export interface ApiReply {
  readonly status: number;
  readonly body: Buffer;
  /** Value of Retry-After in seconds, or 0 if the reply has none. */
  readonly retryAfter: number;
}

/** The server replied with an error. */
export class RefusedError extends CliError {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** There was no reply: nothing listens at the address, or the connection broke. */
export class ConnectionError extends CliError {
  constructor(
    message: string,
    /** False if no connection was established, so the server cannot have seen the request. */
    readonly mayHaveArrived: boolean,
  ) {
    super(message);
  }
}

export interface Body {
  readonly parts: readonly Uint8Array[];
  readonly contentType: string;
}

export class ApiClient {
  readonly url: URL;
  readonly #key: string | null;
  readonly #agent: http.Agent;

  constructor(url: string, key: string | null, connections = 8) {
    this.url = parseUrl(url);
    this.#key = key;
    const options = { keepAlive: true, maxSockets: connections };
    this.#agent = this.url.protocol === "https:" ? new https.Agent(options) : new http.Agent(options);
  }

  /** Closes all connections. */
  close(): void {
    this.#agent.destroy();
  }

  /**
   * Sends one request and returns the reply, whatever its status. Throws ConnectionError if no complete reply
   * arrives.
   */
  exchange(method: string, path: string, body?: Body): Promise<ApiReply> {
    const length = body === undefined ? 0 : body.parts.reduce((sum, part) => sum + part.byteLength, 0);
    const headers: http.OutgoingHttpHeaders = { accept: "application/json" };
    if (this.#key !== null) headers.authorization = `Bearer ${this.#key}`;
    if (body !== undefined) {
      headers["content-type"] = body.contentType;
      headers["content-length"] = length;
    }
    const send = this.url.protocol === "https:" ? https.request : http.request;
    return new Promise((resolve, reject) => {
      let connected = false;
      const fail = async (error: NodeJS.ErrnoException) => {
        const text = (await protocolText(this.url, error)) ?? connectionText(this.url, error);
        reject(new ConnectionError(text, connected && error.code !== "ECONNREFUSED"));
      };
      const request = send(this.#target(path), { method, headers, agent: this.#agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", fail);
        response.on("end", () => {
          resolve({
            status: response.statusCode ?? 0,
            body: Buffer.concat(chunks),
            retryAfter: Number(response.headers["retry-after"]) || 0,
          });
        });
      });
      request.on("error", fail);
      request.on("socket", (socket) => {
        if (!socket.connecting) connected = true;
        else socket.once("connect", () => (connected = true));
      });
      for (const part of body?.parts ?? []) request.write(part);
      request.end();
    });
  }

  /** Returns the unparsed body of a successful reply. Throws RefusedError for any other reply. */
  async bytes(method: string, path: string, payload?: unknown): Promise<Buffer> {
    const reply = await this.exchange(method, path, payload === undefined ? undefined : jsonBody(payload));
    if (reply.status >= 200 && reply.status < 300) return reply.body;
    throw refusal(reply);
  }

  /**
   * Returns the body of a successful reply, parsed with `parseExact`. Throws RefusedError for any other
   * reply.
   */
  async json(method: string, path: string, payload?: unknown): Promise<unknown> {
    return parseExact(await this.bytes(method, path, payload));
  }

  #target(path: string): string {
    return this.url.origin + this.url.pathname.replace(/\/$/, "") + path;
  }
}

function jsonBody(payload: unknown): Body {
  return { parts: [Buffer.from(JSON.stringify(payload))], contentType: "application/json" };
}

/** The error for an unsuccessful reply. */
export function refusal(reply: ApiReply): RefusedError {
  try {
    const body: unknown = JSON.parse(reply.body.toString("utf8"));
    if (typeof body === "object" && body !== null && "error" in body && typeof body.error === "string") {
      const code = "code" in body && typeof body.code === "string" ? body.code : "";
      return new RefusedError(reply.status, code, code === "" ? body.error : `${body.error} (${code})`);
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return new RefusedError(reply.status, "", `the server answered ${reply.status} without an explanation`);
}

const STRING_OR_LONG_INTEGER = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;

/** Like JSON.parse, but integers beyond 2^53 become strings of their exact digits. */
export function parseExact(body: Uint8Array): unknown {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  return JSON.parse(
    text.replace(STRING_OR_LONG_INTEGER, (token) =>
      token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"${token}"`,
    ),
  );
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new CliError(`--url must be an http or https address such as http://127.0.0.1:8800, not "${text}"`);
  }
  return url;
}

/**
 * Explains the error if the address says http but the server expects https, or the reverse. Returns null for
 * any other error.
 */
async function protocolText(url: URL, error: NodeJS.ErrnoException): Promise<string | null> {
  const secure = url.protocol === "https:";
  if (secure ? !NOT_TLS.test(error.message) : !(NOT_HTTP.test(error.code ?? "") && (await speaksTls(url)))) {
    return null;
  }
  const [spoken, given] = secure ? ["http", "https"] : ["https", "http"];
  return `the server at ${url.host} speaks ${spoken.toUpperCase()}, not ${given.toUpperCase()}; use ${spoken}://${url.host}`;
}

/** Error codes for certificates whose issuer Node does not know. */
const UNKNOWN_AUTHORITY = /SELF_SIGNED_CERT|^UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)/;
/** OpenSSL's messages about a non-TLS reply. */
const NOT_TLS = /wrong version number|packet length too long|http request/;
/**
 * Node's errors when it sends plain HTTP to a TLS server, which closes the connection or replies with TLS
 * bytes.
 */
const NOT_HTTP = /^(ECONNRESET|EPIPE|HPE_.*)$/;
const TLS_ANSWER_MS = 2000;

/** True if the server replies to a TLS handshake, whether with a certificate or with an alert. */
function speaksTls(url: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const place = { host, port: Number(url.port || 80) };
    const socket = tls.connect({ ...place, rejectUnauthorized: false, timeout: TLS_ANSWER_MS });
    const end = (spoken: boolean) => {
      socket.destroy();
      resolve(spoken);
    };
    socket.on("secureConnect", () => end(true));
    socket.on("error", (error: NodeJS.ErrnoException) => end(/_ALERT_/.test(error.code ?? "")));
    socket.on("timeout", () => end(false));
    socket.on("close", () => end(false));
  });
}

function connectionText(url: URL, error: NodeJS.ErrnoException): string {
  if (error.code === "ECONNREFUSED") {
    return `no server answers at ${url.origin}; start one with "skein serve" or name another with --url`;
  }
  const advice = UNKNOWN_AUTHORITY.test(error.code ?? "")
    ? "; for a certificate of your own, name the file of its authority in NODE_EXTRA_CA_CERTS"
    : "";
  return `the connection to ${url.origin} failed: ${error.message}${advice}`;
}
