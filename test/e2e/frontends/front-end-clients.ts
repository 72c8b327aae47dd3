// Clients that each know which front-end serves them.
import { Agent, request } from "node:http";
import { ADMIN_KEY, type TestServer } from "../world/harness.js";

const PROBE = {
  fields: [
    { name: "name", type: "string" },
    { name: "value", type: "int32" },
  ],
};

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

/** A client with a single connection, so that one front-end receives all its requests. */
export class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(readonly url: string) {}

  post(path: string, body: unknown, key = ADMIN_KEY): Promise<Seen> {
    return new Promise((resolve, reject) => {
      const sentText = typeof body === "string" ? body : JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "content-length": Buffer.byteLength(sentText),
      };
      const sent = request(`${this.url}${path}`, { method: "POST", agent: this.#agent, headers }, (reply) => {
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

  close(): void {
    this.#agent.destroy();
  }
}

/** The front-end that answered a query. */
function frontEndOf({ json }: Seen): string {
  return json.query_id.slice(-12);
}

/**
 * Returns one client per front-end. The operating system distributes the connections; queries to a new index
 * named `index` show which front-end has which connection.
 */
export async function oneForEach(server: TestServer, frontEnds: number, index = "probe"): Promise<Client[]> {
  await server.createIndex(index, PROBE, [{ id: "1", name: "lamp", value: 1 }]);
  const clients = new Map<string, Client>();
  for (let tries = 0; clients.size < frontEnds; tries++) {
    if (tries > 1_000) throw new Error(`${clients.size} of ${frontEnds} front-ends accept connections`);
    const client = new Client(server.url);
    const frontEnd = frontEndOf(await client.post(`/v1/indexes/${index}/query`, { q: "lamp" }));
    if (clients.has(frontEnd)) client.close();
    else clients.set(frontEnd, client);
  }
  return [...clients.values()];
}
