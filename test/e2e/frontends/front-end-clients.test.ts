// Tests the clients in front-end-clients.ts.
import { Agent } from "node:http";
import { afterEach, expect, test, vi } from "vitest";
import { sharedServer } from "../world/shared-server.js";
import { oneForEach } from "./front-end-clients.js";

const FRONT_ENDS = 4;
/** Longer than the roughly ten seconds after which the server closes an idle connection. */
const IDLE_MS = 15_000;

const server = sharedServer({ frontEnds: FRONT_ENDS });

afterEach(() => {
  vi.restoreAllMocks();
});

test("a client that has been idle reconnects to its front-end", async () => {
  const clients = await oneForEach(server, FRONT_ENDS);
  const start = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => start + IDLE_MS);
  const closed = vi.spyOn(Agent.prototype, "destroy");
  const frontEnds = await Promise.all(
    clients.map(async (client) => {
      const { json } = await client.post("/v1/indexes/probe/query", { q: "lamp" });
      return json.query_id;
    }),
  );
  expect(new Set(closed.mock.contexts).size).toBeGreaterThanOrEqual(FRONT_ENDS);
  for (const [i, { frontEnd }] of clients.entries()) expect(frontEnds[i]).toContain(frontEnd);
  for (const client of clients) client.close();
});
