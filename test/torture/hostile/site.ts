// The attacked server with its contents: two tenants with the same index of products, and an index with many
// fields for the attacked one. Filled once; every attack starts the server again on the same data.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { importFile } from "../../../bench/load/bulk-import.js";
import { writeDocuments } from "../../../bench/load/documents-file.js";
import { frequentWords } from "../../../bench/load/frequent-words.js";
import { parseMetrics } from "../../../bench/load/server-meter.js";
import { embedded } from "../../../bench/load/settle.js";
import { PACKAGE_FOLDER } from "../../../engine-wasm/host/runtime/built-files.js";
import { ApiClient } from "../../../server/cli/api.js";
import { createIndex } from "../../../server/cli/commands/index-setup.js";
import { ADMIN_KEY, TestServer } from "../../e2e/world/harness.js";
import type { Transport } from "../../e2e/world/transports.js";
import type { Mishap } from "./attack.js";
import { GOODS, type Place, WIDE } from "./place.js";

export interface SiteOptions {
  readonly heapMiB: number;
  /** The server's `--memory-limit`: the memory of the machine that it should believe to have. */
  readonly memoryMiB: number;
  readonly frontEnds: number;
  readonly http: Transport | "auto";
  readonly documents: number;
}

const WORDS = 2_000;
const WIDE_FIELDS = 100;
const WIDE_DOCUMENTS = 300;
const WIDE_TEXT_WORDS = 8_000;

export class Site {
  readonly folder = mkdtempSync(join(tmpdir(), "skein-hostile-"));
  readonly server: TestServer;
  #place: Omit<Place, "host" | "port"> | null = null;
  /** Search keys of visitors: of the attacked tenant and of the other one. */
  visitorKeys = { same: "", other: "" };

  constructor(private readonly options: SiteOptions) {
    const { heapMiB, memoryMiB, frontEnds, http } = options;
    const killer = pathToFileURL(join(PACKAGE_FOLDER, "test/torture/hostile/front-end-killer.mjs")).href;
    this.server = new TestServer({
      frontEnds,
      http,
      dataDir: join(this.folder, "data"),
      // The product's defaults, not those of the tests.
      config: { limits: { homeDocumentsMax: 30_000 } },
      flags: ["--memory-limit", `${memoryMiB}MB`],
      env: {
        NODE_OPTIONS: `--max-old-space-size=${heapMiB} --max-semi-space-size=4 --import=${killer}`,
        SKEIN_TEST_KILL_DIR: this.folder,
      },
    });
  }

  /** What attackers know. The server must run. */
  get place(): Place {
    return { ...this.#place!, host: "127.0.0.1", port: this.server.port };
  }

  /** Makes a front-end end. */
  order(mishap: Mishap["kind"]): void {
    writeFileSync(join(this.folder, mishap), "");
  }

  async metric(name: string): Promise<number> {
    const { text } = await this.server.raw("GET", "/metrics");
    return parseMetrics(text).get(name) ?? 0;
  }

  /** Starts the server and fills it. */
  async fill(): Promise<void> {
    await this.server.launch();
    const path = join(this.folder, "documents.jsonl");
    const { documents } = this.options;
    const file = await writeDocuments({ generate: documents, seed: 1 }, 1, null, path);
    const admin = new ApiClient(this.server.url, ADMIN_KEY, 1);
    const [attacked, other] = [await tenant(admin, "attacked"), await tenant(admin, "other")];
    admin.close();
    for (const client of [attacked, other]) {
      await createIndex(client, GOODS, file.schema);
      await importFile(client, path, { index: GOODS, linesPerRequest: 5_000, requestsAtATime: 2 });
    }
    const words = frequentWords(file.sample, WORDS);
    await fillWide(attacked, words);
    for (const client of [attacked, other]) await embedded(client, GOODS);
    const keys = {
      search: await key(attacked, { scopes: ["search"] }),
      limited: await key(attacked, { scopes: ["search"], rate_limit: 1 }),
      documents: await key(attacked, { scopes: ["documents"] }),
      events: await key(attacked, { scopes: ["events"] }),
    };
    this.visitorKeys = {
      same: await key(attacked, { scopes: ["search"] }),
      other: await key(other, { scopes: ["search"] }),
    };
    this.#place = { keys, path, documents, words };
    for (const client of [attacked, other]) client.close();
    await this.server.stop();
  }

  async close(): Promise<void> {
    await this.server.stop("SIGKILL");
    await this.server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Creates a tenant. Returns a client with its key. */
async function tenant(admin: ApiClient, name: string): Promise<ApiClient> {
  const made = (await admin.json("POST", "/v1/tenants", { name })) as {
    data: { admin_key: { key: string } };
  };
  return new ApiClient(admin.url.href, made.data.admin_key.key, 2);
}

async function key(client: ApiClient, rights: object): Promise<string> {
  const made = await client.json("POST", "/v1/keys", { name: "hostile", ...rights });
  return (made as { data: { key: string } }).data.key;
}

/** Documents of many facets and numbers, each with a text of some 60 KB. */
async function fillWide(client: ApiClient, words: readonly string[]): Promise<void> {
  const numbers = Array.from({ length: WIDE_FIELDS }, (_, i) => i);
  const fields = [
    ...numbers.map((i) => ({ name: `f${i}`, type: "string", facet: true })),
    ...numbers.map((i) => ({ name: `n${i}`, type: "int32" })),
    { name: "text", type: "string" },
  ];
  const settings = { embedder: { source: "none" } };
  await client.json("POST", "/v1/indexes", { name: WIDE, schema: { fields }, settings });
  const document = (id: number): object => {
    const facets = numbers.map((i) => [`f${i}`, `value ${(id * (i + 1)) % 997}`]);
    const values = numbers.map((i) => [`n${i}`, (id * (i + 7)) % 10_007]);
    const text = Array.from({ length: WIDE_TEXT_WORDS }, (_, i) => words[(i * (id + 1)) % words.length]);
    return { id: `w${id}`, ...Object.fromEntries([...facets, ...values]), text: text.join(" ") };
  };
  const documents = Array.from({ length: WIDE_DOCUMENTS }, (_, id) => document(id));
  await client.json("POST", `/v1/indexes/${WIDE}/documents/batch`, { documents });
}
