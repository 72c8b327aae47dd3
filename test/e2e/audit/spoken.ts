// A server with a record of everything it prints and replies. Also a loopback server that echoes every
// credential it receives in the body, headers and reason phrase of its response, so that any code that
// printed a response would leak the credential.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { MAIN } from "../world/harness.js";

interface HeardReply {
  readonly status: number;
  readonly text: string;
}

export class SpokenServer {
  /** Everything printed and replied so far. */
  heard = "";
  url = "";
  #ended: Promise<number | null> = Promise.resolve(null);
  #stop: () => void = () => undefined;

  /** Resolves with null once the server is listening, or with its exit code if it exits first. */
  async launch(args: readonly string[], env: Readonly<Record<string, string>>): Promise<number | null> {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("SKEIN_"));
    const child = spawn(process.execPath, [MAIN, "serve", "--port", "0", "--shards", "1", ...args], {
      cwd: tmpdir(),
      env: { ...Object.fromEntries(inherited), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#ended = once(child, "close").then(([code]) => code as number | null);
    this.#stop = () => void child.kill();
    let printed = "";
    const listening = new Promise<null>((resolve) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          this.heard += text;
          printed += text;
          const url = /"url":"(http[^"]+)"[^\n]*"listening"/.exec(printed)?.[1];
          if (url === undefined) return;
          this.url = url;
          resolve(null);
        });
      }
    });
    return Promise.race([listening, this.#ended]);
  }

  async stop(): Promise<number | null> {
    this.#stop();
    return this.#ended;
  }

  /**
   * With `secretReply`, the reply is not recorded, because it contains a new secret, which may be shown this
   * once.
   */
  async call(
    method: string,
    path: string,
    { key, body, secretReply = false }: { key?: string; body?: unknown; secretReply?: boolean } = {},
  ): Promise<HeardReply> {
    const reply = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!secretReply) this.heard += `${JSON.stringify([...reply.headers])} ${text}\n`;
    return { status: reply.status, text };
  }
}

export interface TrapServer {
  readonly port: number;
  /** Authorization headers received so far. */
  readonly sent: Set<string>;
  close(): void;
}

/**
 * The path selects the behaviour: /status/500, /nonsense, /redirect, /cut or /garbage; any other path gets
 * the reply from `ok`.
 */
export async function startTrapServer(ok: (path: string, body: string) => unknown): Promise<TrapServer> {
  const sent = new Set<string>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { authorization = "" } = request.headers;
    if (authorization !== "") sent.add(authorization);
    const [scheme, value = ""] = authorization.split(" ");
    const plain = scheme === "Basic" ? Buffer.from(value, "base64").toString() : value;
    const echo = `${authorization} ${plain}`;
    const path = request.url ?? "/";
    const status = Number(/\/status\/(\d+)/.exec(path)?.[1] ?? 200);
    response.setHeader("x-echo", echo);
    if (path.includes("/cut")) request.socket.destroy();
    else if (path.includes("/garbage")) request.socket.end(`${echo}\r\n\r\n`);
    else if (path.includes("/redirect"))
      response.writeHead(302, { location: `http://${plain}@10.0.0.1/${plain}?q=${plain}` }).end(echo);
    else if (status !== 200 || path.includes("/nonsense"))
      response.writeHead(status, echo).end(`{"error": "${echo}"`);
    else response.writeHead(200).end(JSON.stringify(ok(path, Buffer.concat(pieces).toString())));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    sent,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
