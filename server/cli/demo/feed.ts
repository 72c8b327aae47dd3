// Serves part of the demo catalogue as a merchant feed on loopback, and creates an index that follows this
// feed.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunView } from "../../documents/sources/run-view.js";
import type { ApiClient } from "../api.js";
import { createIndex, findIndex } from "../commands/index-setup.js";
import { CliError } from "../failure.js";
import type { Product } from "./catalogue.js";

export const FEED_INDEX = "feed_products";
const ITEMS = 100;
const ETAG = '"demo"';
const ASK_MS = 50;

const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "brand", type: "string", facet: true },
    { name: "product_type", type: "string", facet: true },
    { name: "description", type: "string" },
    { name: "price", type: "float" },
    { name: "price_currency", type: "string", facet: true },
    { name: "availability", type: "bool", facet: true },
  ],
};

/** Serves the feed until the server is closed. */
export async function serveFeed(products: readonly Product[]): Promise<{ server: Server; url: string }> {
  const feed = merchantFeed(products.slice(0, ITEMS));
  const server = createServer((request, response) => {
    if (request.headers["if-none-match"] === ETAG) response.writeHead(304, { etag: ETAG }).end();
    else response.writeHead(200, { "content-type": "application/xml; charset=utf-8", etag: ETAG }).end(feed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed.xml` };
}

/** Connects the index to the feed, creating both if necessary, runs the source once, and returns the run. */
export async function followFeed(client: ApiClient, url: string): Promise<RunView> {
  if ((await findIndex(client, FEED_INDEX)) === null) await createIndex(client, FEED_INDEX, SCHEMA);
  const all = `/v1/indexes/${FEED_INDEX}/data-sources`;
  const body = { url, format: "brandx_merchant", schedule: "hourly", sync_mode: "replace" };
  const [known] = ((await client.json("GET", all)) as { data: { id: number }[] }).data;
  const source = (
    known === undefined
      ? await client.json("POST", all, body)
      : await client.json("PATCH", `${all}/${known.id}`, body)
  ) as { data: { id: number } };
  const one = `${all}/${source.data.id}`;
  const { data } = (await client.json("POST", `${one}/sync-now`)) as { data: { run_id: number } };
  for (;;) {
    const { data: run } = (await client.json("GET", `${one}/runs/${data.run_id}`)) as { data: RunView };
    if (run.status === "completed") return run;
    if (run.status !== "queued" && run.status !== "running")
      throw new CliError(`the demo's feed could not be read: ${run.error ?? run.status}`);
    await sleep(ASK_MS);
  }
}

function merchantFeed(products: readonly Product[]): string {
  const items = products.map((product) => {
    const fields = {
      "g:id": product.id,
      title: product.name,
      description: product.description,
      "g:brand": product.brand,
      "g:product_type": `${product.department} > ${product.category}`,
      "g:price": `${product.price.toFixed(2)} USD`,
      "g:availability": product.in_stock ? "in stock" : "out of stock",
    };
    const elements = Object.entries(fields).map(([name, text]) => `<${name}>${escaped(text)}</${name}>`);
    return `<item>${elements.join("")}</item>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel><title>Demo shop</title>
${items.join("\n")}
</channel></rss>
`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
