// Servers that record the requests they take, and a client that sends a server bytes as they are.
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import type { HttpReply, HttpRequest } from "../../../server/http/transport/port.js";
import { listenOver } from "../../e2e/world/listener.js";
import type { Transport } from "../../e2e/world/transports.js";
import type { FramedRequest } from "../../oracle/http-framing.js";

export interface RecordingServer {
  readonly port: number;
  /** The requests whose body has arrived to its end, since the last call. */
  taken(): FramedRequest[];
  close(): Promise<void>;
}

function recording(): { record(request: FramedRequest): void; taken(): FramedRequest[] } {
  let requests: FramedRequest[] = [];
  return {
    record(request) {
      requests.push(request);
    },
    taken() {
      const taken = requests;
      requests = [];
      return taken;
    },
  };
}

/** One of Skein's HTTP implementations, without the service behind it. */
export async function startTransport(transport: Transport): Promise<RecordingServer> {
  const { record, taken } = recording();
  const handler = async (request: HttpRequest): Promise<HttpReply> => {
    try {
      const body = Buffer.from(await request.body(1e6, "SK-SYS-413")).toString("latin1");
      const { method, path, query } = request;
      record({ method, target: query === "" ? path : `${path}?${query}`, body });
      return { status: 200, headers: [], body: "taken" };
    } catch {
      return { status: 500, headers: [], body: "failed" };
    }
  };
  const { port, close } = await listenOver(transport, handler);
  return { port, taken, close };
}

/** node:http with the strict parser that is its default. */
export async function startBareNode(): Promise<RecordingServer> {
  const { record, taken } = recording();
  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("error", () => undefined);
    message.on("end", () => {
      const { method = "", url = "" } = message;
      record({
        method,
        target: url.replace(/^([^?]*)\?$/, "$1"),
        body: Buffer.concat(chunks).toString("latin1"),
      });
      response.end("taken");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  return { port: (server.address() as AddressInfo).port, taken, close };
}

/** A connection to the server with all that it has replied. */
export class Wire {
  readonly #socket: Socket;
  #replies = "";
  #ended = false;
  #changed: () => void = () => undefined;

  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    this.#socket.on("data", (data) => {
      this.#replies += data.toString("latin1");
      this.#changed();
    });
    for (const event of ["end", "error", "close"]) {
      this.#socket.on(event, () => {
        this.#ended = true;
        this.#changed();
      });
    }
  }

  get replies(): string {
    return this.#replies;
  }

  /** True once the server has closed the connection. */
  get ended(): boolean {
    return this.#ended;
  }

  async send(pieces: readonly string[]): Promise<void> {
    for (const piece of pieces) {
      this.#socket.write(piece, "latin1");
      await turn();
    }
  }

  /** Resolves once the condition holds. Rejects if it does not for a long time. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`the server has only replied: ${this.#replies}`)),
          60_000,
        );
        this.#changed = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** Says that no more bytes follow. Resolves once the server has read them all and has closed its side. */
  async end(): Promise<void> {
    this.#socket.end();
    await this.until(() => this.ended);
    this.#socket.destroy();
  }
}
