// The interface fuzzer's server and its contents. Requests delete and change the tenants, keys and indexes,
// so they are created again before every chapter, without restarting the server.

import { Agent, type Server } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PACKAGE_FOLDER } from "../../../engine-wasm/host/runtime/built-files.js";
import { shownPrefix } from "../../../server/access/tenants/keys.js";
import { makeToken } from "../../../server/access/tenants/search-token.js";
import {
  ADMIN_KEY,
  type CallOptions,
  eventually,
  type StartOptions,
  TestServer,
} from "../../e2e/world/harness.js";
import { OpenApiContract } from "../../e2e/world/openapi-contract.js";
import type { Reply } from "../../e2e/world/reply.js";
import type { Way } from "./exchange.js";
import { portOf, startFeeds } from "./feeds.js";
import type { OpenApi } from "./operations.js";
import { beginningOf, INDEXES, indexName, ROLES, TENANTS, TOKEN_ROLE } from "./tenants.js";

export interface Principal {
  readonly name: string;
  /** Null if no key is sent. */
  readonly key: string | null;
  /** The tenant's word; null for an unknown key and for the bootstrap key. */
  readonly tenant: string | null;
  readonly keyId: number | null;
  /** True for a search token, which is signed with the key numbered `keyId`. */
  readonly isToken?: true;
}

/** A key's current rights. */
export interface Rights {
  readonly scopes: readonly string[];
  readonly indexes: readonly string[];
}

interface KeyRow {
  readonly id: number;
  readonly scopes: readonly string[];
  readonly indexes: readonly string[];
  readonly expires_at: string | null;
}

const NOBODY: readonly Principal[] = [
  { name: "none", key: null, tenant: null, keyId: null },
  { name: "garbage", key: "sk_no-such-key", tenant: null, keyId: null },
];
const BOOTSTRAP: Principal = { name: "bootstrap", key: ADMIN_KEY, tenant: null, keyId: null };
/**
 * The expiring key expires this many milliseconds after it is created, or later on a busy machine. Until
 * then, it is an ordinary key.
 */
const EXPIRY_MS = 150;
/** Maximum number of ids remembered per kind of record. */
const IDS_MAX = 40;

const TOKEN_SCOPES = ["search", "events"];

function tokenOf(key: string): string {
  return makeToken(key, shownPrefix(key), { user_id: "holder" });
}

/**
 * Limits are so low that small requests exceed them, and feed timeouts are so short that no request waits
 * long.
 */
const CONFIG = {
  cors: "*",
  plans: [{ name: "small", searches_per_month: 20, documents: 15, coach_per_month: 1 }],
  feeds: { allow_hosts: ["127.0.0.1"], timeout_s: 5 },
  ai: { allow_hosts: ["127.0.0.1"] },
  limits: {
    failedKeysPerSecondMax: 1_000_000,
    jsonBodyBytesMax: 64 * 1024,
    batchBodyBytesMax: 256 * 1024,
    documentBytesMax: 32 * 1024,
    feedSilenceMsMax: 2_000,
    feedPreviewMsMax: 3_000,
  },
};

export class World {
  /** Ids of created records, keyed by the path of their collection. */
  readonly made = new Map<string, (number | string)[]>();
  readonly document: OpenApi;
  readonly contract: OpenApiContract;
  readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #principals = new Map<string, Principal>();
  #rights = new Map<number, KeyRow>();
  /** Tenants' words by tenant number. A renamed tenant keeps its word. */
  readonly #words = new Map<number, string>();
  /** Tenants' numbers, by their current names. */
  #named = new Map<string, number>();

  private constructor(
    readonly server: TestServer,
    readonly feeds: Server,
    openapi: string,
  ) {
    this.document = JSON.parse(openapi) as OpenApi;
    this.contract = OpenApiContract.of(openapi);
  }

  static async start(http: StartOptions["http"]): Promise<World> {
    const guard = pathToFileURL(join(PACKAGE_FOLDER, "test/fuzz/interface/no-way-out.mjs")).href;
    const server = await TestServer.start({
      http,
      config: CONFIG,
      flags: ["--durability", "os"],
      env: { NODE_OPTIONS: `--import=${guard}` },
    });
    const { text } = await server.raw("GET", "/openapi.json");
    const world = new World(server, await startFeeds(), text);
    await world.begin();
    return world;
  }

  get principals(): readonly Principal[] {
    return [...this.#principals.values()];
  }

  principal(name: string): Principal | undefined {
    return this.#principals.get(name);
  }

  way({ key }: Principal): Way {
    return { port: this.server.port, agent: this.agent, feedsPort: portOf(this.feeds), key };
  }

  /**
   * Returns null if the server must reject the key. Also null for the bootstrap key, which is not limited by
   * rights.
   */
  rightsOf({ keyId, isToken }: Principal): Rights | null {
    const row = keyId === null ? undefined : this.#rights.get(keyId);
    if (row === undefined || (row.expires_at !== null && Date.parse(row.expires_at) <= Date.now()))
      return null;
    if (isToken === undefined) return row;
    const allowed = row.scopes.includes("admin") ? TOKEN_SCOPES : row.scopes;
    return { ...row, scopes: TOKEN_SCOPES.filter((scope) => allowed.includes(scope)) };
  }

  /**
   * Records a key's new value. Its token is signed again, because the new value invalidates the old token.
   */
  rotated(id: number, value: string): void {
    for (const one of this.#principals.values())
      if (one.keyId === id)
        this.#principals.set(one.name, { ...one, key: one.isToken ? tokenOf(value) : value });
  }

  /** The word of the tenant that currently has this name; empty if there is none. */
  wordOf(name: string): string {
    return this.#words.get(this.#named.get(name) ?? -1) ?? "";
  }

  /** Must be called after a request that may have changed keys or tenants. */
  async readRights(): Promise<void> {
    this.#rights = new Map();
    this.#named = new Map();
    for (const { id, name } of await this.#listed("/v1/tenants")) {
      this.#named.set(name, id as number);
      const { json } = await this.#expect("GET", "/v1/keys", as(name));
      for (const row of json.data as unknown as KeyRow[]) this.#rights.set(row.id, row);
    }
  }

  /** Remembers a new record's id. */
  remember(kind: string, id: unknown): void {
    if (typeof id === "number" || typeof id === "string")
      this.made.set(kind, [...(this.made.get(kind) ?? []), id].slice(-IDS_MAX));
  }

  /** Removes everything and creates the tenants with their keys and indexes. */
  async begin(): Promise<void> {
    await this.#clear();
    this.made.clear();
    this.#principals = new Map([...NOBODY, BOOTSTRAP].map((one) => [one.name, one]));
    for (const tenant of TENANTS) {
      const made = await this.#expect("POST", "/v1/tenants", { body: { name: tenant } });
      this.#words.set(made.json.data.id as number, tenant);
      await this.#makeKeys(tenant);
      for (const index of INDEXES) await this.#makeIndex(tenant, indexName(tenant, index));
    }
    await this.readRights();
  }

  async close(): Promise<void> {
    this.agent.destroy();
    this.feeds.closeAllConnections();
    this.feeds.close();
    await this.server.close();
  }

  async #makeKeys(tenant: string): Promise<void> {
    for (const { name, scopes, indexes, fate } of ROLES) {
      const patterns = indexes.map((pattern) => (pattern === "*" ? pattern : tenant + pattern));
      const body = { name: `${tenant} ${name}`, scopes, indexes: patterns };
      const { data } = (await this.#expect("POST", "/v1/keys", { ...as(tenant), body })).json;
      const key = { name: `${tenant}-${name}`, key: data.key, tenant, keyId: data.id as number };
      this.#principals.set(key.name, key);
      this.remember("/v1/keys", data.id);
      if (name === TOKEN_ROLE)
        this.#principals.set(`${key.name}-token`, {
          ...key,
          name: `${key.name}-token`,
          key: tokenOf(data.key as string),
          isToken: true,
        });
      if (fate === "deleted") await this.#expect("DELETE", `/v1/keys/${data.id}`, as(tenant));
      if (fate === "expired") await this.#letExpire(tenant, data.id as number);
    }
  }

  /**
   * On a busy machine, the request may arrive after the expiry time that it sets, so this retries with later
   * times.
   */
  #letExpire(tenant: string, id: number): Promise<void> {
    let ms = EXPIRY_MS;
    return eventually(async () => {
      const body = { expires_at: new Date(Date.now() + ms).toISOString() };
      ms *= 2;
      return (await this.server.raw("PATCH", `/v1/keys/${id}`, { ...as(tenant), body })).status === 200;
    }, "a key expires soon");
  }

  async #makeIndex(tenant: string, name: string): Promise<void> {
    for (const [path, body] of beginningOf(name)) {
      const text = JSON.stringify(body).replaceAll("{feeds}", String(portOf(this.feeds)));
      const reply = await this.#expect("POST", `/v1/indexes${path}`, { ...as(tenant), body: text });
      const id = reply.json.data?.id;
      this.remember(`/v1/indexes${path}`, id);
      if (!path.endsWith("/data-sources")) continue;
      const { data } = (await this.#expect("POST", `/v1/indexes${path}/${id}/sync-now`, as(tenant))).json;
      this.remember(`/v1/indexes${path}/${id}/runs`, (data as { run_id?: unknown }).run_id);
    }
    for (const { id } of await this.#listed(`/v1/indexes/${name}/coach/recommendations`, as(tenant)))
      this.remember("/v1/coach/recommendations", id);
  }

  async #clear(): Promise<void> {
    await this.#removeAll("/v1/snapshots");
    const { json } = await this.#expect("GET", "/v1/tenants");
    for (const { id, name } of json.data as unknown as { id: number; name: string }[]) {
      for (const index of await this.#listed("/v1/indexes", as(name)))
        await this.#remove(`/v1/indexes/${index.name}`, as(name));
      await this.#removeAll("/v1/keys", as(name));
      if (name !== "default") await this.#remove(`/v1/tenants/${id}`);
    }
    // Data still in use is dropped later, in the background, so a removed tenant may remain listed for a
    // while.
    await eventually(async () => (await this.#listed("/v1/tenants")).length === 1, "the tenants are gone");
  }

  async #removeAll(path: string, options?: CallOptions): Promise<void> {
    for (const { id } of await this.#listed(path, options)) await this.#remove(`${path}/${id}`, options);
  }

  async #listed(path: string, options?: CallOptions): Promise<{ id: number | string; name: string }[]> {
    return (await this.#expect("GET", path, options)).json.data as unknown as { id: number; name: string }[];
  }

  /** Retries until the record is gone, because another change to it may be in progress. */
  #remove(path: string, options?: CallOptions): Promise<void> {
    return eventually(async () => {
      const { status } = await this.server.raw("DELETE", path, options);
      return status === 200 || status === 404;
    }, `${path} is removed`);
  }

  async #expect(method: string, path: string, options?: CallOptions): Promise<Reply> {
    const reply = await this.server.raw(method, path, options);
    if (reply.status >= 300)
      throw new Error(`${method} ${path}: ${reply.status} ${reply.text.slice(0, 500)}`);
    return reply;
  }
}

function as(tenant: string): CallOptions {
  return { headers: { "x-skein-tenant": tenant } };
}
