// Search servers over HTTP: Skein, started here, and others at a URL. Their indexes are named `skein-peers`
// and deleted at the end. The interface is the same as in libraries.mjs.
import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { join } from "node:path";
import { ServerProcess } from "../../dist/bench/load/server-process.js";

const INDEX = "skein-peers";
const BATCH = 1000;
const POLL_MS = 100;

/** One keep-alive connection that sends and receives JSON. A `body` that is a string is sent unchanged. */
function connect(base, headers) {
  const url = new URL(base);
  const library = url.protocol === "https:" ? https : http;
  const agent = new library.Agent({ keepAlive: true, maxSockets: 1 });
  const auth = url.username === "" ? {} : { auth: `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}` };
  const ask = (method, path, body, type = "application/json") =>
    new Promise((resolve, reject) => {
      const payload = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
      const options = { method, agent, ...auth, headers: { ...headers, ...(payload && { "content-type": type }) } };
      const request = library.request(new URL(path, url), options, (response) => {
        const chunks = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          if (response.statusCode < 300) resolve(text);
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 300)}`));
        });
      });
      request.on("error", reject);
      request.end(payload);
    });
  const json = async (...request) => JSON.parse(await ask(...request));
  const remove = (path) => ask("DELETE", path).catch((error) => {
    if (!/: 404 /.test(error.message)) throw error;
  });
  return { ask, json, remove, close: () => agent.destroy() };
}

function* batches(documents) {
  for (let at = 0; at < documents.length; at += BATCH) yield documents.slice(at, at + BATCH);
}

const lines = (documents) => documents.map((document) => `${JSON.stringify(document)}\n`).join("");

async function until(done) {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

/**
 * Starts a server with one shard. Returns a client, readings of the server's resource use, and a function
 * that stops it.
 */
export async function startSkein(dataDir, configFile) {
  const adminKey = "bench-admin-key-0123456789";
  const main = "dist/server/cli/main.js";
  const server = await ServerProcess.start({ main, dataDir, adminKey, shards: 1, durability: null, configFile });
  const client = connect(server.url.href, { authorization: `Bearer ${adminKey}` });
  return {
    client,
    cpuSeconds: () => server.cpuSeconds(),
    residentBytes: () => server.memory()?.now ?? null,
    close: () => {
      client.close();
      return server.stop();
    },
  };
}

export async function skein(folder) {
  const { client, residentBytes, close } = await startSkein(join(folder, "skein"));
  const { ask, json } = client;
  return {
    name: "Skein",
    version: JSON.parse(readFileSync("package.json", "utf8")).version,
    how: "over HTTP, 1 shard; all words, last as prefix, 1 typo from 4 letters, 2 from 8",
    residentBytes,
    index: async (documents, fields) => {
      const schema = { fields: fields.map((name) => ({ name, type: "string" })) };
      await json("POST", "/v1/indexes", { name: INDEX, schema, settings: { drop_tokens_threshold: 0 } });
      const path = `/v1/indexes/${INDEX}/documents/import`;
      for (const batch of batches(documents)) await ask("POST", path, lines(batch), "application/x-ndjson");
      await until(async () => !(await json("GET", `/v1/indexes/${INDEX}/stats`)).data.merging);
    },
    search: async (q, perPage) => (await json("POST", `/v1/indexes/${INDEX}/query`, { q, per_page: perPage })).found,
    close,
  };
}

export async function typesense(base, key) {
  const { ask, json, remove, close } = connect(base, { "x-typesense-api-key": key });
  const { version } = await json("GET", "/debug");
  let queryBy = "";
  return {
    name: "Typesense",
    version,
    how: "over HTTP; all words, last as prefix, up to 2 typos",
    index: async (documents, fields) => {
      queryBy = fields.join(",");
      await remove(`/collections/${INDEX}`);
      const schema = fields.map((name) => ({ name, type: "string" }));
      await json("POST", "/collections", { name: INDEX, fields: schema });
      const path = `/collections/${INDEX}/documents/import?action=upsert`;
      for (const batch of batches(documents)) await ask("POST", path, lines(batch), "text/plain");
    },
    search: async (q, perPage) => {
      const query = new URLSearchParams({
        q,
        query_by: queryBy,
        per_page: String(perPage),
        drop_tokens_threshold: "0",
      });
      return (await json("GET", `/collections/${INDEX}/documents/search?${query}`)).found;
    },
    close: async () => {
      await remove(`/collections/${INDEX}`);
      close();
    },
  };
}

export async function meilisearch(base, key) {
  const { ask, json, remove, close } = connect(base, key === "" ? {} : { authorization: `Bearer ${key}` });
  const { pkgVersion } = await json("GET", "/version");
  const finished = ({ taskUid }) =>
    until(async () => {
      const { status, error } = await json("GET", `/tasks/${taskUid}`);
      if (status === "failed") throw new Error(`Meilisearch: ${JSON.stringify(error)}`);
      return status === "succeeded";
    });
  return {
    name: "Meilisearch",
    version: pkgVersion,
    how: "over HTTP; all words, last as prefix, 1 typo from 5 letters, 2 from 9; found is its estimate",
    index: async (documents, fields) => {
      await remove(`/indexes/${INDEX}`);
      await finished(await json("POST", "/indexes", { uid: INDEX, primaryKey: "number" }));
      const settings = { searchableAttributes: fields, displayedAttributes: ["*"] };
      await finished(await json("PATCH", `/indexes/${INDEX}/settings`, settings));
      // Meilisearch allows few characters in ids, so documents are numbered.
      const numbered = documents.map((document, number) => ({ number, ...document }));
      const tasks = [];
      for (const batch of batches(numbered)) {
        const text = await ask("POST", `/indexes/${INDEX}/documents`, lines(batch), "application/x-ndjson");
        tasks.push(JSON.parse(text));
      }
      for (const task of tasks) await finished(task);
    },
    search: async (q, limit) =>
      (await json("POST", `/indexes/${INDEX}/search`, { q, limit, matchingStrategy: "all" })).estimatedTotalHits,
    close: async () => {
      await remove(`/indexes/${INDEX}`);
      close();
    },
  };
}

/** Also works with OpenSearch. */
export async function elasticsearch(base) {
  const { ask, json, remove, close } = connect(base, {});
  const { version } = await json("GET", "/");
  let searched = [];
  return {
    name: version.distribution === "opensearch" ? "OpenSearch" : "Elasticsearch",
    version: version.number,
    how: "over HTTP, 1 shard; all words in any field, AUTO fuzziness, no prefix",
    index: async (documents, fields) => {
      searched = fields;
      await remove(`/${INDEX}`);
      const properties = Object.fromEntries(fields.map((name) => [name, { type: "text" }]));
      const settings = { number_of_shards: 1, number_of_replicas: 0 };
      await json("PUT", `/${INDEX}`, { settings, mappings: { properties } });
      for (const batch of batches(documents)) {
        const body = batch.map((document) => `{"index":{}}\n${JSON.stringify(document)}\n`).join("");
        const { errors } = JSON.parse(await ask("POST", `/${INDEX}/_bulk`, body, "application/x-ndjson"));
        if (errors) throw new Error("Elasticsearch refused a document");
      }
      await ask("POST", `/${INDEX}/_refresh`);
    },
    search: async (query, size) => {
      const match = { query, fields: searched, operator: "and", type: "best_fields", fuzziness: "AUTO" };
      const body = { query: { multi_match: match }, size, track_total_hits: true };
      return (await json("POST", `/${INDEX}/_search`, body)).hits.total.value;
    },
    close: async () => {
      await remove(`/${INDEX}`);
      close();
    },
  };
}
