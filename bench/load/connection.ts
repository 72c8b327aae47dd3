// A raw keep-alive HTTP connection that sends prepared bytes, one request at a time. It reads a reply's
// status and length but does not parse the body. A query costs the client a few microseconds, which leaves
// the cores to the server.

import { connect, type Socket } from "node:net";
import { ReplyReader } from "./reply-reader.js";

export interface Answer {
  readonly status: number;
  readonly bodyBytes: number;
}

export class Connection {
  #pending: { resolve(answer: Answer): void; reject(error: Error): void } | null = null;
  #reply = new ReplyReader();
  #closed: Error | null = null;

  private constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
    socket.on("data", (chunk) => this.#receive(chunk));
    const fail = (why: string) => {
      this.#closed ??= new Error(why);
      this.#pending?.reject(this.#closed);
      this.#pending = null;
    };
    socket.on("error", (error) => fail(error.message));
    socket.on("close", () => fail("the server closed the connection"));
  }

  static open(host: string, port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, host);
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.removeListener("error", reject);
        resolve(new Connection(socket));
      });
    });
  }

  /**
   * Sends the request and resolves when the whole answer has arrived. No other request may be in flight.
   * Rejects once the connection is closed.
   */
  ask(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== null) return reject(this.#closed);
      this.#pending = { resolve, reject };
      this.#reply = new ReplyReader();
      this.socket.write(request);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  #receive(chunk: Buffer): void {
    if (!this.#reply.receive(chunk)) return;
    const { status, bodyBytes } = this.#reply;
    const pending = this.#pending;
    this.#pending = null;
    pending?.resolve({ status, bodyBytes });
  }
}

/** Builds a POST request's bytes. */
export function requestBytes(url: URL, path: string, key: string, body: unknown): Buffer {
  const payload = Buffer.from(JSON.stringify(body));
  const head =
    `POST ${path} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${payload.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), payload]);
}
