// HTTP clients that know which front-end serves them.
import { Agent, request } from "node:http";
import { ADMIN_KEY, type TestServer } from "../world/harness.js";

const PROBE = {
  fields: [
    { name: "name", type: "string" },
    { name: "value", type: "int32" },
  ],
};

const PROBE_QUERY = { q: "lamp" };
/**
 * Maximum number of connections to try until a particular front-end, or every front-end, has accepted one.
 */
const TRIES_MAX = 1_000;

/** An answer as a client sees it. */
export interface Seen {
  readonly status: number;
  readonly text: string;
  readonly json: {
    found: number;
    query_id: string;
    hits: { document: { id: string; value: number } }[];
    code?: string;
  };
}

/**
 * Maximum time in milliseconds that a connection may be idle and still be reused. The server closes idle
 * connections after a longer time, and a busy test may not notice before it sends the next request.
 */
const IDLE_MS_MAX = 3_000;

/** A client with a single connection at a time, always to the same front-end. */
export class Client {
  readonly #url: string;
  readonly #probe: string;
  #agent = newAgent();
  #requests = 0;
  /** When the last request ended. */
  #endedMs = performance.now();
  #connected: Promise<void> = Promise.resolve();
  #frontEnd = "";

  private constructor(url: string, probe: string) {
    this.#url = url;
    this.#probe = probe;
  }

  /**
   * Connects to a front-end that the operating system chooses. `probe` is the path of a query route, used to
   * find out which front-end it is.
   */
  static async connect(url: string, probe: string): Promise<Client> {
    const client = new Client(url, probe);
    client.#frontEnd = await client.#probed();
    return client;
  }

  /** The front-end that receives the requests. */
  get frontEnd(): string {
    return this.#frontEnd;
  }

  async post(path: string, body: unknown, key = ADMIN_KEY): Promise<Seen> {
    const isIdle = this.#requests === 0 && performance.now() - this.#endedMs > IDLE_MS_MAX;
    if (isIdle) this.#connected = this.#reconnect();
    this.#requests++;
    try {
      await this.#connected;
      return await this.#send(path, body, key);
    } finally {
      this.#requests--;
      this.#endedMs = performance.now();
    }
  }

  /**
   * Sends the head and the first half of a request, which then waits for its other half for as long as the
   * connection lasts. Resolves with what becomes of it.
   */
  half(path: string, body: string, type = "application/json"): Promise<number | "cut"> {
    return new Promise((resolve) => {
      const sent = request(`${this.#url}${path}`, {
        method: "POST",
        agent: this.#agent,
        headers: { ...headersFor(body, ADMIN_KEY), "content-type": type },
      });
      sent.on("response", ({ statusCode }) => resolve(statusCode!));
      sent.on("error", () => resolve("cut"));
      sent.write(body.slice(0, body.length / 2));
    });
  }

  /** Connects once more, to a front-end that the operating system chooses. */
  another(): Promise<Client> {
    return Client.connect(this.#url, this.#probe);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #reconnect(): Promise<void> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      this.#agent.destroy();
      this.#agent = newAgent();
      if ((await this.#probed()) === this.#frontEnd) return;
    }
    throw new Error("a client cannot reconnect to its front-end");
  }

  async #probed(): Promise<string> {
    return frontEndOf(await this.#send(this.#probe, PROBE_QUERY, ADMIN_KEY));
  }

  #send(path: string, body: unknown, key: string): Promise<Seen> {
    return new Promise((resolve, reject) => {
      const sentText = typeof body === "string" ? body : JSON.stringify(body);
      const options = { method: "POST", agent: this.#agent, headers: headersFor(sentText, key) };
      const sent = request(`${this.#url}${path}`, options, (reply) => {
        const chunks: Buffer[] = [];
        reply.on("data", (chunk: Buffer) => chunks.push(chunk));
        reply.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: reply.statusCode!, text, json: JSON.parse(text) });
        });
        reply.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(sentText);
    });
  }
}

function headersFor(body: string, key: string): Record<string, string | number> {
  return {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
}

function newAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 });
}

/** The front-end that answered a query; "" if the query failed. */
function frontEndOf({ status, json }: Seen): string {
  return status === 200 ? json.query_id.slice(-12) : "";
}

/** Returns another client of the front-end that serves `client`. */
export async function besides(client: Client): Promise<Client> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const other = await client.another();
    if (other.frontEnd === client.frontEnd) return other;
    other.close();
  }
  throw new Error("no other connection reaches the client's front-end");
}

/**
 * Returns one client per front-end. The operating system distributes the connections; queries to a new index
 * named `index` show which front-end has which connection.
 */
export async function oneForEach(server: TestServer, frontEnds: number, index = "probe"): Promise<Client[]> {
  await server.createIndex(index, PROBE, [{ id: "1", name: "lamp", value: 1 }]);
  const clients = new Map<string, Client>();
  for (let tries = 0; clients.size < frontEnds; tries++) {
    if (tries > TRIES_MAX) throw new Error(`${clients.size} of ${frontEnds} front-ends accept connections`);
    const client = await Client.connect(server.url, `/v1/indexes/${index}/query`);
    if (client.frontEnd === "" || clients.has(client.frontEnd)) client.close();
    else clients.set(client.frontEnd, client);
  }
  return [...clients.values()];
}
