// Replies of a listener that has stopped accepting: they are complete and ask the client to close the
// connection.
import { Agent, request } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { listenOver } from "../../../../e2e/world/listener.js";
import { TRANSPORTS } from "../../../../e2e/world/transports.js";

async function* streamed(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("first ");
  yield Buffer.from("second");
}

test.each(TRANSPORTS)(
  "over %s streamed and short replies stay intact while the listener closes",
  async (transport) => {
    const listener = await listenOver(transport, async ({ path }) => ({
      status: 200,
      headers: [],
      body: path === "/stream" ? streamed() : "short",
    }));
    onTestFinished(() => listener.close());
    const agents = ["/stream", "/short"].map((path) => ({
      path,
      agent: new Agent({ keepAlive: true, maxSockets: 1 }),
    }));
    onTestFinished(() => {
      for (const { agent } of agents) agent.destroy();
    });
    const get = (agent: Agent, path: string) =>
      new Promise<{ text: string; connection: string | undefined }>((resolve, reject) => {
        const sent = request({ port: listener.port, host: "127.0.0.1", path, agent }, async (response) => {
          let text = "";
          try {
            for await (const piece of response) text += piece;
            resolve({ text, connection: response.headers.connection });
          } catch (error) {
            reject(error as Error);
          }
        });
        sent.on("error", reject);
        sent.end();
      });
    for (const { agent } of agents) await get(agent, "/short"); // opens the connections
    listener.stopAccepting();
    const replies = await Promise.all(agents.map(({ agent, path }) => get(agent, path)));
    expect(replies).toEqual([
      { text: "first second", connection: "close" },
      { text: "short", connection: "close" },
    ]);
  },
);
