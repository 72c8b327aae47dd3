// Writes the same documents as a feed file in each format, and serves the files from a loopback server.
// Reading a file costs little compared with the measured work.

import { createReadStream, createWriteStream, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

type Product = Readonly<Record<string, unknown>>;

interface FeedKind {
  /** The format's name in a data source. */
  readonly format: string;
  readonly contentType: string;
  readonly head: (product: Product) => string;
  readonly item: (product: Product, at: number) => string;
  readonly tail: string;
}

const VOCABULARY = new Set(["id", "brand", "price", "availability", "color", "material"]);

export const FEED_KINDS: Readonly<Record<string, FeedKind>> = {
  xml: {
    format: "brandx_merchant",
    contentType: "application/xml",
    head: () =>
      '<?xml version="1.0"?>\n<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>\n',
    item: (product) => `<item>${Object.entries(product).map(element).join("")}</item>\n`,
    tail: "</channel></rss>\n",
  },
  csv: {
    format: "csv",
    contentType: "text/csv",
    head: (product) => `${Object.keys(product).join(",")}\n`,
    item: (product) => `${Object.values(product).map(cell).join(",")}\n`,
    tail: "",
  },
  json: {
    format: "json",
    contentType: "application/json",
    head: () => "[",
    item: (product, at) => (at === 0 ? "" : ",\n") + JSON.stringify(product),
    tail: "]\n",
  },
  ndjson: {
    format: "json",
    contentType: "application/x-ndjson",
    head: () => "",
    item: (product) => `${JSON.stringify(product)}\n`,
    tail: "",
  },
};

/** Writes one file of each kind with the documents from `path`, which has one document per line. */
export async function writeFeeds(path: string, kinds: readonly string[], folder: string): Promise<void> {
  const files = kinds.map((name) => ({
    kind: FEED_KINDS[name]!,
    out: createWriteStream(join(folder, name)),
  }));
  let at = 0;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const product = JSON.parse(line) as Product;
    for (const { kind, out } of files) {
      const text = (at === 0 ? kind.head(product) : "") + kind.item(product, at);
      if (!out.write(text)) await new Promise<void>((resolve) => out.once("drain", () => resolve()));
    }
    at++;
  }
  for (const { kind, out } of files)
    await new Promise<void>((resolve) => out.end(kind.tail, () => resolve()));
}

/** Starts a server that serves the folder's files. */
export async function serveFeeds(folder: string): Promise<{ server: Server; origin: string }> {
  const server = createServer(({ url = "/" }, response) => {
    const path = join(folder, url.slice(1));
    const contentType = FEED_KINDS[url.slice(1)]!.contentType;
    response.writeHead(200, { "content-type": contentType, "content-length": statSync(path).size });
    createReadStream(path, { highWaterMark: 256 * 1024 }).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function element([name, value]: [string, unknown]): string {
  const tag = VOCABULARY.has(name) ? `g:${name}` : name;
  return [value]
    .flat()
    .map((one) => `<${tag}>${escaped(String(one))}</${tag}>`)
    .join("");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function cell(value: unknown): string {
  const text = Array.isArray(value) ? value.join("|") : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
