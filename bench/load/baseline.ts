// Measures how much of a query's cost is HTTP: sends trivial queries to a small index, and the same requests
// to a minimal handler that uses the same HTTP library, parses the same JSON and sends the same number of
// bytes. The same client measures both in turn. Repeated queries, which are answered from the cache, and
// queries with varying filters, which are not, are measured separately.

import { builtFile } from "../../engine-wasm/host/runtime/built-files.js";
import type { ApiClient } from "../../server/cli/api.js";
import { createIndex } from "../../server/cli/commands/index-setup.js";
import { Connection, requestBytes } from "./connection.js";
import { drive } from "./drive.js";
import type { Target } from "./measure.js";
import { meter } from "./server-meter.js";
import { ServerProcess } from "./server-process.js";

const INDEX = "bench-baseline";
const DOCUMENTS = 100;
const CLIENTS = 32;
const BODY = { q: "*", per_page: 1, fields: ["id"] };
/** Number of distinct queries. The cache is smaller, so a query has been evicted by the time it recurs. */
const DIFFERENT = 100_000;

export interface Baseline {
  readonly replyBytes: number;
  readonly repeated: Side;
  readonly different: Side;
  readonly bare: Side;
}

export interface Side {
  readonly perSecond: number;
  /** Null on systems without /proc. */
  readonly perCpuSecond: number | null;
  /** Share of queries answered from the cache; null for the bare handler. */
  readonly remembered: number | null;
}

export async function measureBaseline(target: Target, seconds: number): Promise<Baseline> {
  const { client, url, key } = target;
  const fields = [
    { name: "title", type: "string" },
    { name: "n", type: "int32" },
  ];
  await createIndex(client, INDEX, { fields });
  const documents = Array.from({ length: DOCUMENTS }, (_, n) => ({ id: `d${n}`, title: `number ${n}`, n }));
  await client.json("POST", `/v1/indexes/${INDEX}/documents/batch`, { action: "upsert", documents });
  const path = `/v1/indexes/${INDEX}/query`;
  // All documents pass the filter.
  const request = (n: number): Buffer => requestBytes(url, path, key, { ...BODY, filter_by: `n:>=-${n}` });
  const connection = await Connection.open(url.hostname, Number(url.port));
  const { bodyBytes } = await connection.ask(request(0));
  connection.close();
  const skein = { url, server: target.server, client };
  const repeated = await measure(skein, [request(DIFFERENT)], seconds);
  const different = await measure(
    skein,
    Array.from({ length: DIFFERENT }, (_, n) => request(n)),
    seconds,
  );
  const program = builtFile("bench/load/baseline-server.js");
  const server = await ServerProcess.run([program, String(bodyBytes)]);
  try {
    const bare = await measure({ url: server.url, server, client: null }, [request(DIFFERENT)], seconds);
    return { replyBytes: bodyBytes, repeated, different, bare };
  } finally {
    await server.stop();
    await client.json("DELETE", `/v1/indexes/${INDEX}`);
  }
}

interface Measured {
  readonly url: URL;
  readonly server: ServerProcess | null;
  /** Null for the bare handler, which has no metrics. */
  readonly client: ApiClient | null;
}

async function measure(
  { url, server, client }: Measured,
  requests: readonly Buffer[],
  seconds: number,
): Promise<Side> {
  const queries = requests.map((request) => ({ kind: "trivial", request }));
  const warm = await drive(url, queries, CLIENTS, seconds / 4);
  const stop = client === null ? null : await meter(client, server);
  const before = server?.cpuSeconds() ?? null;
  const load = await drive(url, queries, CLIENTS, seconds, warm.queries);
  const after = server?.cpuSeconds() ?? null;
  if (load.failed > 0) throw new Error(`${load.failed} requests of the baseline failed`);
  const cpu = before === null || after === null ? null : after - before;
  return {
    perSecond: load.perSecond,
    perCpuSecond: cpu === null ? null : load.queries / cpu,
    remembered: stop === null ? null : (await stop()).remembered,
  };
}
