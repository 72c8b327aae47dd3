// An OpenAI-compatible embeddings server on loopback that can simulate any fault. It computes vectors by
// hashing words and pieces of words, so texts that share pieces are similar, and equal texts have equal
// vectors. Knows nothing about its callers.
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";

const NUMBERS = 512;
/** Number of dimensions that one piece of a word affects. */
const TOUCHED = 8;

/** How the answer to a request differs from a proper answer. */
export interface EmbeddingAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, sent unchanged. */
  readonly body?: string;
  /** Replaces the proper items under `data`. */
  readonly items?: (items: readonly EmbeddingItem[]) => unknown;
  /** Delays the answer until this promise settles. */
  readonly after?: Promise<unknown>;
  /** Stops sending before the answer or in the middle of its body. */
  readonly silent?: "before" | "within";
  /** Sends spaces indefinitely instead of a body. */
  readonly endless?: boolean;
  /** Resets the connection instead of answering. */
  readonly reset?: boolean;
}

/** Chooses the answer to a request from its texts; null for a proper answer. */
type AnswerToTexts = (texts: readonly string[]) => EmbeddingAnswer | null;

export interface EmbeddingItem {
  readonly object: "embedding";
  readonly index: number;
  readonly embedding: readonly number[];
}

interface EmbeddingRequest {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingMessage["headers"];
  /** Number of the connection that the request arrived on: 1, 2 ... */
  readonly connection: number;
  readonly body: {
    readonly model: string;
    readonly input: readonly string[];
    readonly dimensions: number;
    readonly encoding_format: string;
  };
}

export interface EmbeddingServer {
  readonly port: number;
  /** The address to configure in a client, such as `http://127.0.0.1:PORT/v1`. */
  url(host?: string): string;
  /** Sets the answers to the next requests, one each; later requests get proper answers. */
  script(...answers: EmbeddingAnswer[]): void;
  /**
   * Sets the answer to every unscripted request from now on, either fixed or depending on the request's
   * texts; null for proper answers.
   */
  always(answer: EmbeddingAnswer | AnswerToTexts | null): void;
  readonly requests: EmbeddingRequest[];
  /** The texts of all requests so far. */
  texts(): string[];
  /** Maximum number of concurrent requests so far. */
  readonly atOnceMax: number;
  openConnections(): number;
  /** Closes connections that have no request in progress. */
  closeIdle(): void;
  close(): Promise<void>;
}

export interface EmbeddingServerOptions {
  /** The accepted key; requests with any other key get 401. */
  readonly apiKey?: string;
  /** Groups of synonyms: every word has the vector of the first word in its group. */
  readonly meanings?: readonly (readonly string[])[];
  /** Serves HTTPS. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

export async function startEmbeddingServer(options: EmbeddingServerOptions = {}): Promise<EmbeddingServer> {
  const { apiKey, meanings = [], tls } = options;
  const requests: EmbeddingRequest[] = [];
  const script: EmbeddingAnswer[] = [];
  const sockets = new Map<Socket, number>();
  let always: EmbeddingAnswer | AnswerToTexts | null = null;
  let connections = 0;
  let atOnce = 0;
  let atOnceMax = 0;

  const listener: RequestListener = (request, response) => {
    atOnceMax = Math.max(atOnceMax, ++atOnce);
    response.once("close", () => void atOnce--);
    void (async () => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const body = JSON.parse(String(Buffer.concat(pieces))) as EmbeddingRequest["body"];
      const { url: path = "", method = "", headers } = request;
      requests.push({ path, method, headers, connection: sockets.get(request.socket) ?? 0, body });
      const known = apiKey === undefined || headers.authorization === `Bearer ${apiKey}`;
      const proper = known ? {} : { status: 401, body: `{"error": "wrong key ${headers.authorization}"}` };
      const items = body.input.map(
        (text, index): EmbeddingItem => ({
          object: "embedding",
          index,
          embedding: [...hashedVector(text, meanings)],
        }),
      );
      const usual = typeof always === "function" ? always(body.input) : always;
      await give(script.shift() ?? usual ?? proper, items, response);
    })().catch(() => response.destroy());
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.on(tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
    sockets.set(socket, ++connections);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  return {
    port,
    url: (host = "127.0.0.1") => `${tls === undefined ? "http" : "https"}://${host}:${port}/v1`,
    script: (...answers) => void script.push(...answers),
    always: (answer) => {
      always = answer;
    },
    requests,
    texts: () => requests.flatMap(({ body }) => body.input),
    get atOnceMax() {
      return atOnceMax;
    },
    openConnections: () => sockets.size,
    closeIdle: () => server.closeIdleConnections(),
    close: async () => {
      for (const socket of sockets.keys()) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function give(
  answer: EmbeddingAnswer,
  items: readonly EmbeddingItem[],
  response: ServerResponse,
): Promise<void> {
  await answer.after;
  if (answer.reset) return void response.socket?.resetAndDestroy();
  if (answer.silent === "before") return;
  const data = answer.items === undefined ? items : answer.items(items);
  const body = answer.body ?? JSON.stringify({ object: "list", data, usage: { total_tokens: 1 } });
  response.writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers });
  if (answer.endless) return endless(response);
  if (answer.silent === "within") return void response.write(body.slice(0, body.length >> 1));
  response.end(body);
}

/** Sends a space every millisecond until the client gives up. */
function endless(response: ServerResponse): void {
  const timer = setInterval(() => response.write(" "), 1);
  response.once("close", () => clearInterval(timer));
}

/** A vector of length 1, or all zeros for a text without words. */
export function hashedVector(text: string, meanings: readonly (readonly string[])[] = []): Float64Array {
  const vector = new Float64Array(NUMBERS);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const meant = meanings.find((words) => words.includes(word))?.[0] ?? word;
    touch(vector, `=${meant}`, 2);
    const padded = `^${meant}$`;
    for (let at = 0; at + 3 <= padded.length; at++) touch(vector, padded.slice(at, at + 3), 1);
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((number) => number / length);
}

/** Adds `weight` or `-weight` to some numbers at positions derived from the piece. */
function touch(vector: Float64Array, piece: string, weight: number): void {
  let state = 0x811c9dc5;
  for (const character of piece) state = Math.imul(state ^ character.codePointAt(0)!, 0x01000193);
  for (let i = 0; i < TOUCHED; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    const at = (state >>> 16) % NUMBERS;
    vector[at] = vector[at]! + (state & 0x8000 ? weight : -weight);
  }
}
