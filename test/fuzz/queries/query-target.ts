// Bodies of queries, suggestions and multi-searches, sent to a whole server in this process: the response is
// consistent or a 4xx, never a 5xx, and never slow.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Random } from "../../../bench/random.js";
import { loadConfig } from "../../../server/operate/config/config.js";
import { startServer } from "../../../server/start/main.js";
import { type Json, printJson } from "../../oracle/segments/values.js";
import { FIELDS, randomDocument, WORDS } from "../../unit/engine/segments/catalogue.js";
import { finding, mutateBytes, mutateText, type Target } from "../target.js";
import { FILTER_PIECES, filterText } from "./filter-target.js";

const KEY = "fuzzing-admin-key-0123456789abcdef";
const DOCUMENTS = 400;
/** Maximum CPU time in milliseconds per query. CPU time does not depend on other programs on the machine. */
const ANSWER_CPU_MS_MAX = 5_000;
const ANSWER_MS_MAX = 60_000;
const PATHS = ["/v1/indexes/fuzz/query", "/v1/indexes/fuzz/suggest", "/v1/multi-search"] as const;
const NAMES = FIELDS.map((field) => field.name);
const SETTINGS = {
  language: "en",
  sku_fields: ["labels"],
  brand_field: "brand",
  stop_words: ["the"],
  symbols_to_index: ["+"],
  token_separators: ["→"],
  drop_tokens_threshold: 5,
  embedder: { source: "pushed" },
};
const RULES = [
  {
    name: "boost",
    type: "boost",
    conditions: { query_contains: ["red"] },
    effect: { filter_by: "stock:>0", weight: 5 },
  },
  { name: "bury", type: "bury", conditions: { query_contains: [] }, effect: { filter_by: "on:false" } },
  {
    name: "pin",
    type: "pin",
    conditions: { query_contains: ["shoe"] },
    effect: { documents: ["d3", "d17"] },
  },
];
const ODD: Json[] = [
  null,
  true,
  -1,
  0,
  1.5,
  1e300,
  10n ** 20n,
  "",
  "a",
  [],
  {},
  [[]],
  { a: { b: [] } },
  "\u0000",
  "d1",
  "*",
];

interface Reply {
  status: number;
  text: string;
}

async function send(url: string, path: string, body: string | Uint8Array): Promise<Reply> {
  const method = path.endsWith("/settings") ? "PATCH" : "POST";
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  const before = process.cpuUsage();
  const reply = await fetch(`${url}${path}`, { method, headers, body: Buffer.from(body), signal });
  const text = await reply.text();
  const { user, system } = process.cpuUsage(before);
  const cpuMs = (user + system) / 1000;
  if (cpuMs > ANSWER_CPU_MS_MAX) throw new Error(`${path} took ${Math.round(cpuMs)} ms of processor time`);
  return { status: reply.status, text };
}

async function mustSend(url: string, path: string, body: unknown): Promise<void> {
  const { status, text } = await send(url, path, typeof body === "string" ? body : JSON.stringify(body));
  if (status >= 300) throw new Error(`${path} was answered with ${status}: ${text.slice(0, 500)}`);
}

/** Starts a server with the kernel targets' catalogue, settings, rules and synonyms. */
async function startCatalogue(dataDir: string): ReturnType<typeof startServer> {
  const flags = {
    data_dir: dataDir,
    port: "0",
    shards: "2",
    admin_key: KEY,
    log_level: "silent",
    durability: "os",
    // The fuzzer may end the thread that runs this server, and the other transports cannot be stopped that
    // way.
    http: "node",
  };
  const server = await startServer(loadConfig(flags, {}));
  const { url } = server;
  const fields = FIELDS.map(({ name, type }) => ({ name, type, facet: true, sort: !type.endsWith("]") }));
  await mustSend(url, "/v1/indexes", { name: "fuzz", schema: { fields, default_sorting_field: "price" } });
  await mustSend(url, "/v1/indexes/fuzz/settings", SETTINGS);
  const random = new Random(7);
  for (let from = 0; from < DOCUMENTS; from += 100) {
    const documents = Array.from({ length: 100 }, (_, i) =>
      randomDocument(from + i, (list) => random.pick(list)),
    );
    await mustSend(url, "/v1/indexes/fuzz/documents/batch", printJson({ documents } as unknown as Json));
  }
  for (const rule of RULES) await mustSend(url, "/v1/indexes/fuzz/ranking-rules", rule);
  await mustSend(url, "/v1/indexes/fuzz/synonyms", {
    type: "multi_way",
    synonyms: ["shoe", "wonder thunder"],
  });
  return server;
}

function queryBody(random: Random): Record<string, Json> {
  const words = Array.from({ length: random.from(0, 5) }, () => random.pick(WORDS)).join(
    random.pick([" ", "-", " -"]),
  );
  const names = (): string => Array.from({ length: random.from(1, 3) }, () => random.pick(NAMES)).join(",");
  const members: Record<string, () => Json> = {
    q: () =>
      mutateText(random, random.pick([words, `"${words}"`, "*", words]), [
        '"',
        "-",
        "*",
        " ",
        "é",
        "日",
        "x",
        "\u200b",
      ]),
    query_by: () => random.pick(["title", "title,labels", "brand", names()]),
    query_by_weights: () => random.pick(["1", "2,1", "0.5,3", "1,2,3", "-1", "NaN"]),
    filter_by: () => mutateText(random, filterText(random, NAMES), FILTER_PIECES),
    filters: () => ({ [random.pick(NAMES)]: random.pick<Json>(["red", 1, true, [1, 2], ["a"], ...ODD]) }),
    facet_by: names,
    max_facet_values: () => random.from(-1, 30),
    facet_query: () => random.pick(["brand:a", "brand:", "x"]),
    sort_by: () => `${random.pick([...NAMES, "_text_match"])}:${random.pick(["asc", "desc", "up"])}`,
    per_page: () => random.pick([0, 1, 10, 250, 251, -1]),
    page: () => random.pick([1, 2, 100, 2 ** 31, 2n ** 60n]),
    limit: () => random.from(0, 60),
    prefix: () => random.below(2) === 0,
    num_typos: () => random.from(-1, 5),
    include_fields: names,
    exclude_fields: names,
    highlight_fields: names,
    highlight_full_fields: names,
    explain: () => true,
    ai: () => random.below(2) === 0,
    vector: () => {
      const numbers = (count: number): Json[] => Array.from({ length: count }, () => random.from(-9, 9));
      return random.pick([numbers(512), numbers(512), numbers(511), [...numbers(511), random.pick(ODD)]]);
    },
    drop_tokens_threshold: () => random.from(0, 10),
    typo_policy: () => random.pick(["auto", "always", "missing", "x"]),
    [random.pick(["__proto__", "constructor", "unknown", "vector_query", "group_by"])]: () =>
      random.pick(ODD),
  };
  const body: Record<string, Json> = {};
  const share = random.pick([2, 4, 8]);
  for (const [name, make] of Object.entries(members)) {
    if (name !== "q" && random.below(share) > 0) continue;
    body[name] = random.below(25) === 0 ? random.pick(ODD) : make();
  }
  return body;
}

/** Input: a byte that selects the path, then the body. */
export async function queryTarget(): Promise<Target> {
  const dataDir = mkdtempSync(join(tmpdir(), "skein-fuzz-"));
  const server = await startCatalogue(dataDir);
  return {
    name: "query",
    generate(random) {
      const path = random.pick([0, 0, 0, 0, 1, 2]);
      const searches = (): Json[] =>
        Array.from({ length: random.from(0, 3) }, () => ({
          ...queryBody(random),
          index: random.pick(["fuzz", "x"]),
        }));
      const text = printJson(path === 2 ? { searches: searches() } : queryBody(random));
      const bytes = random.below(12) === 0 ? mutateBytes(random, Buffer.from(text)) : Buffer.from(text);
      return Buffer.concat([Uint8Array.of(path), bytes]);
    },
    async check(input) {
      const path = PATHS[input[0]!]!;
      const { status, text } = await send(server.url, path, input.subarray(1));
      if (status !== 200 && (status < 400 || status >= 500))
        finding(`${path} was answered with ${status}: ${text}`);
      const answer = JSON.parse(text) as {
        success?: unknown;
        hits?: unknown[];
        found?: number;
        results?: unknown[];
      };
      if (status !== 200) return;
      if (path === PATHS[2]) {
        if (/SK-SYS-5|SK-SE-503/.test(text))
          finding(`a search of a multi-search failed: ${text.slice(0, 2000)}`);
      } else if (path === PATHS[0] && !(answer.hits!.length <= answer.found!)) {
        finding(`${answer.hits!.length} hits of ${answer.found}`);
      }
    },
    async close() {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
