// A raw keep-alive HTTP connection that sends prepared bytes, one request at a time. It reads a reply's
// status and length but does not parse the body. A query costs the client a few microseconds, which leaves
// the cores to the server.

import { connect, type Socket } from "node:net";

const HEADERS_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("\r\n0\r\n\r\n");

export interface Answer {
  readonly status: number;
  readonly bodyBytes: number;
}

export class Connection {
  #pending: { resolve(answer: Answer): void; reject(error: Error): void } | null = null;
  #head: Buffer = Buffer.alloc(0);
  #status = 0;
  /** Bytes of the answer still to arrive; -1 while its headers are incomplete, Infinity if it is chunked. */
  #missing = -1;
  #bodyBytes = 0;
  #tail: Buffer = Buffer.alloc(0);
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
      this.#head = Buffer.alloc(0);
      this.#missing = -1;
      this.#bodyBytes = 0;
      this.#tail = Buffer.alloc(0);
      this.socket.write(request);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#missing < 0) {
      this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
      const end = this.#head.indexOf(HEADERS_END);
      if (end < 0) return;
      const headers = this.#head.toString("latin1", 0, end + 2);
      this.#status = Number(headers.slice(9, 12));
      const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(headers);
      this.#missing = length === null ? Number.POSITIVE_INFINITY : Number(length[1]);
      this.#receiveBody(this.#head.subarray(end + 4));
    } else {
      this.#receiveBody(chunk);
    }
  }

  #receiveBody(bytes: Buffer): void {
    this.#bodyBytes += bytes.length;
    if (this.#missing !== Number.POSITIVE_INFINITY) {
      this.#missing -= bytes.length;
      if (this.#missing <= 0) this.#finish();
      return;
    }
    const joined = Buffer.concat([this.#tail, bytes]);
    this.#tail = joined.subarray(Math.max(0, joined.length - LAST_CHUNK.length));
    if (this.#tail.equals(LAST_CHUNK)) this.#finish();
  }

  #finish(): void {
    const pending = this.#pending;
    this.#pending = null;
    pending?.resolve({ status: this.#status, bodyBytes: this.#bodyBytes });
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
