// A small shop with simple vectors: each document's vector is a mixture of a few axes, so cosines can be
// calculated by hand. Also the waits and checks that semantic tests share.
import { eventually, expectStatus, type TestServer } from "../world/harness.js";
import type { Reply } from "../world/reply.js";

const NUMBERS = 512;

/** Returns a vector whose first numbers are `shares`; the rest are 0. */
export function toward(...shares: number[]): number[] {
  return Array.from({ length: NUMBERS }, (_, i) => shares[i] ?? 0);
}

export const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "brand", type: "string", facet: true },
    { name: "price", type: "int32" },
  ],
};

/** The first four cosines with `toward(1)` are 1, 0.8, 0.9 and 0; the last document has no vector. */
export const SHOP = [
  { id: "1", title: "red shoe", brand: "acme", price: 10, embedding: toward(1) },
  { id: "2", title: "blue shoe", brand: "acme", price: 20, embedding: toward(0.8, 0.6) },
  { id: "3", title: "crimson boot", brand: "best", price: 30, embedding: toward(0.9, 0, 0.436) },
  { id: "4", title: "green hat", brand: "best", price: 40, embedding: toward(0, 0, 0, 1) },
  { id: "5", title: "red hat", brand: "cozy", price: 50 },
];

interface EmbedderStats {
  source: string;
  state: string;
  documents: number;
  pending: number;
  coverage: number;
  memory_bytes: number;
  model: { number: number; documents: number } | null;
}

export async function embedderOf(server: TestServer, index: string): Promise<EmbedderStats> {
  const reply = await server.get(`/v1/indexes/${index}/stats`);
  expectStatus(reply, 200);
  return reply.json.data.embedder as EmbedderStats;
}

/** Waits until `documents` documents have a vector from the source and no document is waiting for one. */
export function ready(server: TestServer, index: string, source: string, documents: number): Promise<void> {
  return eventually(
    async () => {
      const now = await embedderOf(server, index);
      return (
        now.source === source && now.state === "ready" && now.pending === 0 && now.documents === documents
      );
    },
    `${index} has ${documents} vectors of ${source}`,
    60_000,
  );
}

export async function makeShop(
  server: TestServer,
  name: string,
  settings: object,
  documents: object[] = SHOP,
): Promise<void> {
  expectStatus(await server.post("/v1/indexes", { name, schema: SCHEMA, settings }), 201);
  if (documents.length > 0)
    expectStatus(await server.post(`/v1/indexes/${name}/documents/batch`, { documents }), 200);
}

export function idsOf(reply: Reply): string[] {
  expectStatus(reply, 200);
  return reply.json.hits.map(({ document }) => document.id);
}

/** The hits' ids, each with its match type, such as `1:hybrid`. */
export function found(reply: Reply): string {
  expectStatus(reply, 200);
  return reply.json.hits.map(({ document, match_type }) => `${document.id}:${match_type}`).join(" ");
}
