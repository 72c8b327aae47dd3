// `npm run demo` starts a server with a small shop, runs a few searches, and suggests what to try next. Runs
// until Ctrl-C; with --exit (or SKEIN_DEMO_EXIT=1) it ends after the searches. Its help text is in
// scripts/demo.mjs.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { messageOf } from "../../documents/formats/input-error.js";
import { loadConfig } from "../../operate/config/config.js";
import { ConfigError } from "../../operate/config/values.js";
import { startServer } from "../../start/main.js";
import { ApiClient } from "../api.js";
import { createIndex, findIndex } from "../commands/index-setup.js";
import { stopSignal } from "../commands/serve.js";
import { CliError, EXIT_FAILED, speaksToUser } from "../failure.js";
import { type QueryAnswer, resultLines } from "../results.js";
import { widthOf } from "../show.js";
import { grouped } from "../table.js";
import { upload } from "../upload/sender.js";
import { DEMO_SCHEMA, demoCatalogue, type Product } from "./catalogue.js";
import { FEED_INDEX, followFeed, serveFeed } from "./feed.js";
import { MEANING_SAMPLE, type Sample, sampleCommand, sampleSearches } from "./samples.js";

const INDEX = "products";
const PORT = 8800;
const ASK_MS = 100;
/**
 * Maximum time (ms) to wait for the vectors. If they are not ready by then, as on a busy machine, the demo
 * continues without them.
 */
const VECTORS_MS_MAX = 30_000;

async function demo(): Promise<void> {
  const { values: options } = parseArgs({
    options: { port: { type: "string" }, "data-dir": { type: "string" }, exit: { type: "boolean" } },
  });
  const temporary = options["data-dir"] === undefined;
  const dataDir = options["data-dir"] ?? mkdtempSync(join(tmpdir(), "skein-demo-"));
  const key = process.env.SKEIN_ADMIN_KEY ?? `demo_${randomBytes(12).toString("hex")}`;
  const port = options.port ?? String((await isFree(PORT)) ? PORT : 0);
  const config = loadConfig({ data_dir: dataDir, port, admin_key: key, log_level: "error" });
  const feeds = { ...config.feeds, allowHosts: ["127.0.0.1"] };
  const server = await startServer({ ...config, feeds });
  const products = demoCatalogue();
  const feed = await serveFeed(products);
  try {
    await fill(server.url, key, products);
    await showSearches(server.url, key, products);
    await showFeed(server.url, key, feed.url);
    if (options.exit !== true && process.env.SKEIN_DEMO_EXIT !== "1") {
      print(whatNext(server.url, key));
      await stopSignal();
      print("\nStopping.");
    }
  } finally {
    await server.stop();
    feed.server.close();
    if (temporary) rmSync(dataDir, { recursive: true, force: true });
  }
}

async function fill(url: string, key: string, products: readonly Product[]): Promise<void> {
  const client = new ApiClient(url, key);
  try {
    if ((await findIndex(client, INDEX)) === null) await createIndex(client, INDEX, DEMO_SCHEMA);
    const started = performance.now();
    const documents = products.map((product, i) => ({
      at: i + 1,
      bytes: Buffer.from(JSON.stringify(product)),
    }));
    const counts = await upload(client, oneGroup(documents), {
      index: INDEX,
      action: "upsert",
      batchSize: 1000,
      parallel: 1,
      onProgress: () => {},
      onRejected: ({ id, error }) => {
        throw new CliError(`the demo product ${id ?? ""} was rejected: ${error}`);
      },
    });
    const took = Math.round(performance.now() - started);
    print(
      `Skein runs at ${url} with ${grouped(counts.succeeded)} demo products, stored and searchable after ${took} ms.`,
    );
  } finally {
    client.close();
  }
}

async function* oneGroup<T>(group: T[]): AsyncGenerator<T[]> {
  yield group;
}

async function showSearches(url: string, key: string, products: readonly Product[]): Promise<void> {
  const client = new ApiClient(url, key);
  try {
    for (const sample of sampleSearches(products)) await showSearch(client, sample);
    if (await haveVectors(client)) await showSearch(client, MEANING_SAMPLE);
  } finally {
    client.close();
  }
}

async function showSearch(client: ApiClient, { shows, query }: Sample): Promise<void> {
  const width = widthOf(process.stdout);
  const fields = ["name", "sku", "category", "price", "rating"];
  print(`\n${shows}\n$ ${sampleCommand(INDEX, query)}\n`);
  const answer = await client.json("POST", `/v1/indexes/${INDEX}/query`, { ...query, fields });
  print(resultLines(answer as QueryAnswer, width).join("\n"));
}

/** Waits for the products' vectors, which are computed in the background from the products' own texts. */
async function haveVectors(client: ApiClient): Promise<boolean> {
  const end = performance.now() + VECTORS_MS_MAX;
  while (performance.now() < end) {
    const { data } = (await client.json("GET", `/v1/indexes/${INDEX}/stats`)) as {
      data: { embedder: { state: string } };
    };
    if (data.embedder.state === "ready") return true;
    await sleep(ASK_MS);
  }
  return false;
}

async function showFeed(url: string, key: string, feedUrl: string): Promise<void> {
  const client = new ApiClient(url, key);
  try {
    const run = await followFeed(client, feedUrl);
    print(`\nThe index ${FEED_INDEX} follows a merchant feed, which the demo serves at ${feedUrl}:`);
    print(`${run.documents_imported + run.documents_unchanged} products read, read again every hour.`);
  } finally {
    client.close();
  }
}

function whatNext(url: string, key: string): string {
  return `
The server stays up until Ctrl-C. In a second terminal, in this folder:

  export SKEIN_URL=${url} SKEIN_API_KEY=${key}

  npx skein search ${INDEX} wool shirt --facets brand,color
  npx skein search ${INDEX} '*' --filter 'price:[20..40] && tags:[gift,travel]' --sort rating:desc
  npx skein import YOUR-FILE.csv --index mine        (JSON lines, JSON or CSV, plain or gzip)

  npx skein sources sync ${FEED_INDEX} 1             (nothing has changed, so nothing is read)
  npx skein search ${FEED_INDEX} shirt --facets brand

  curl -s $SKEIN_URL/v1/indexes/${INDEX}/query \\
    -H "Authorization: Bearer $SKEIN_API_KEY" -H "Content-Type: application/json" \\
    -d '{"q": "coffe grindr", "facets": ["brand"], "per_page": 3}'

  curl -s $SKEIN_URL/v1/indexes/${INDEX}/documents/p-0067/similar \\
    -H "Authorization: Bearer $SKEIN_API_KEY" -H "Content-Type: application/json" \\
    -d '{"per_page": 3, "fields": ["name", "category"]}'

  curl -s $SKEIN_URL/v1/indexes -H "Authorization: Bearer $SKEIN_API_KEY"

The API is described at ${url}/openapi.json and in docs/api.md.`;
}

/** True if no process listens on this port of the loopback address. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

try {
  await demo();
} catch (error) {
  process.stderr.write(`demo: ${messageOf(error)}\n`);
  if (!speaksToUser(error) && !(error instanceof ConfigError) && error instanceof Error) {
    process.stderr.write(`${error.stack}\n`);
  }
  process.exitCode = EXIT_FAILED;
}
