// The cost of HTTP itself: a trivial query on a small index beside a bare uWebSockets.js handler that parses the same
// JSON and sends the same number of bytes, one after the other with the same client.

import { fileURLToPath } from "node:url";
import { createIndex } from "../../server/cli/index-setup.js";
import { Connection, requestBytes } from "./connection.js";
import { drive } from "./drive.js";
import type { Target } from "./measure.js";
import { ServerProcess } from "./server-process.js";

const INDEX = "bench-baseline";
const DOCUMENTS = 100;
const CLIENTS = 32;
const BODY = { q: "*", per_page: 1, fields: ["id"] };

export interface Baseline {
  readonly replyBytes: number;
  readonly skein: Side;
  readonly bare: Side;
}

interface Side {
  readonly perSecond: number;
  /** null where there is no /proc. */
  readonly perCpuSecond: number | null;
}

export async function measureBaseline(target: Target, seconds: number): Promise<Baseline> {
  const { client, url, key } = target;
  await createIndex(client, INDEX, { fields: [{ name: "title", type: "string" }] });
  const documents = Array.from({ length: DOCUMENTS }, (_, i) => ({ id: `d${i}`, title: `number ${i}` }));
  await client.json("POST", `/v1/indexes/${INDEX}/documents/batch`, { action: "upsert", documents });
  const path = `/v1/indexes/${INDEX}/query`;
  const request = requestBytes(url, path, key, BODY);
  const connection = await Connection.open(url.hostname, Number(url.port));
  const { bodyBytes } = await connection.ask(request);
  connection.close();
  const skein = await measure(url, request, seconds, target.server);
  const program = fileURLToPath(new URL("./baseline-server.js", import.meta.url));
  const server = await ServerProcess.run([program, String(bodyBytes)]);
  try {
    const bare = await measure(server.url, requestBytes(server.url, path, key, BODY), seconds, server);
    return { replyBytes: bodyBytes, skein, bare };
  } finally {
    await server.stop();
    await client.json("DELETE", `/v1/indexes/${INDEX}`);
  }
}

async function measure(
  url: URL,
  request: Buffer,
  seconds: number,
  server: ServerProcess | null,
): Promise<Side> {
  const queries = [{ kind: "trivial", request }];
  await drive(url, queries, CLIENTS, seconds / 4);
  const before = server?.cpuSeconds() ?? null;
  const load = await drive(url, queries, CLIENTS, seconds);
  const after = server?.cpuSeconds() ?? null;
  if (load.failed > 0) throw new Error(`${load.failed} requests of the baseline failed`);
  const cpu = before === null || after === null ? null : after - before;
  return { perSecond: load.perSecond, perCpuSecond: cpu === null ? null : load.queries / cpu };
}
