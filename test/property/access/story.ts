// A story of tenants, keys, tokens and requests, played on a real server and on the model
// (test/oracle/access.ts); every reply is compared with the model's. Requests happen at whole hours and
// credentials expire at half hours, so the test's duration does not matter.
import { expect } from "vitest";
import type { ServerClock } from "../../e2e/sources/server-clock.js";
import { expectStatus, type TestServer } from "../../e2e/world/harness.js";
import type { Reply } from "../../e2e/world/reply.js";
import {
  type Credential,
  covers,
  documentId,
  GROUPS,
  type Group,
  has,
  identify,
  type KeyModel,
  mayGive,
  mayLive,
  type Rights,
  searchesLeft,
  type TenantModel,
  type TokenModel,
  usedIn,
  useOfIndex,
} from "../../oracle/access.js";
import { askAs, askAsBootstrap, signedToken } from "./ask.js";

/** Searches per month, by plan name; null if unlimited. */
export const PLANS: Readonly<Record<string, number | null>> = { default: null, none: 0, few: 5 };
export const INDEXES = ["shop", "blog"] as const;
const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "group", type: "string", facet: true },
  ],
};
const HOUR_MS = 3_600_000;
const TENANTS_MAX = 4;
export const NOBODY: readonly Credential[] = [{ kind: "none" }, { kind: "unknown" }];

export class Story {
  readonly #server: TestServer;
  readonly #clock: ServerClock;
  readonly #names: string;
  readonly tenants: TenantModel[] = [];
  readonly keys: KeyModel[] = [];
  /** All credentials that were ever valid, and tokens that never were. */
  readonly credentials: Credential[] = [];
  #now: number;

  /** `names` is the prefix of all tenant names in this story. */
  constructor(server: TestServer, clock: ServerClock, names: string, startMs: number) {
    this.#server = server;
    this.#clock = clock;
    this.#names = names;
    this.#now = startMs;
    this.turn(0);
  }

  get month(): string {
    return new Date(this.#now).toISOString().slice(0, 7);
  }

  /**
   * Checks which documents every credential currently sees in every index, and which indexes and keys it can
   * list.
   */
  async askAll(): Promise<void> {
    for (const credential of [...NOBODY, ...this.credentials]) {
      for (const index of INDEXES) await this.search(credential, index, GROUPS);
      await this.listIndexes(credential);
      await this.listKeys(credential);
    }
  }

  turn(hours: number): void {
    this.#now += hours * HOUR_MS;
    this.#clock.set(new Date(this.#now).toISOString());
  }

  /** Returns an expiry time `hours` + 0.5 hours from now; null if `hours` is null. */
  endAfter(hours: number | null): number | null {
    return hours === null ? null : this.#now + (hours + 0.5) * HOUR_MS;
  }

  identify(credential: Credential): Rights | 401 | 404 {
    return identify(credential, this.#now);
  }

  async makeTenant(plan: string): Promise<void> {
    if (this.tenants.filter(({ deleted }) => !deleted).length >= TENANTS_MAX) return;
    const name = `${this.#names}-${this.tenants.length}`;
    const { json } = await askAsBootstrap(this.#server, "POST", "/v1/tenants", 201, { name, plan });
    const tenant: TenantModel = {
      id: Number(json.data.id),
      name,
      deleted: false,
      searchesPerMonth: PLANS[plan]!,
      used: new Map(),
      indexes: new Set(INDEXES),
    };
    const { id, key } = json.data.admin_key as { id: number; key: string };
    this.tenants.push(tenant);
    this.credentials.push({ kind: "bootstrap", tenant });
    this.#keep({ id, tenant, scopes: ["admin"], indexes: ["*"], expiresAt: null }, key);
    for (const index of INDEXES) {
      expectStatus(await this.#server.post("/v1/indexes", { name: index, schema: SCHEMA }, { key }), 201);
      const documents = GROUPS.map((group) => {
        const id = documentId(tenant, index, group);
        return { id, title: `boots ${id}`, group };
      });
      const path = `/v1/indexes/${index}/documents/batch`;
      expectStatus(await this.#server.post(path, { documents }, { key }), 200);
    }
  }

  async deleteTenant(tenant: TenantModel, withIndexes: boolean): Promise<void> {
    if (withIndexes) {
      for (const index of tenant.indexes)
        await askAsBootstrap(this.#server, "DELETE", `/v1/indexes/${index}`, 200, undefined, tenant);
      tenant.indexes.clear();
    }
    const status = tenant.deleted ? 404 : tenant.indexes.size > 0 ? 409 : 200;
    await askAsBootstrap(this.#server, "DELETE", `/v1/tenants/${tenant.id}`, status);
    if (status === 200) tenant.deleted = true;
  }

  async setPlan(tenant: TenantModel, plan: string): Promise<void> {
    await askAsBootstrap(this.#server, "PATCH", `/v1/tenants/${tenant.id}`, tenant.deleted ? 404 : 200, {
      plan,
    });
    if (!tenant.deleted) tenant.searchesPerMonth = PLANS[plan]!;
  }

  async makeKey(by: Credential, rights: Pick<KeyModel, "scopes" | "indexes" | "expiresAt">): Promise<void> {
    const status = this.#allowed(by, (may) => {
      if (!has(may, "keys")) return 403;
      return mayGive(may, rights) && mayLive(may, rights.expiresAt) ? 201 : 403;
    });
    const { scopes, indexes, expiresAt } = rights;
    const body = { name: "key", scopes, indexes, expires_at: isoOf(expiresAt) };
    const { json } = await this.#ask(by, "POST", "/v1/keys", status, body);
    if (status !== 201) return;
    const { tenant } = this.identify(by) as Rights;
    this.#keep({ id: Number(json.data.id), tenant, ...rights }, json.data.key);
  }

  async patchKey(
    by: Credential,
    key: KeyModel,
    change: Partial<Pick<KeyModel, "scopes" | "indexes" | "expiresAt">>,
  ): Promise<void> {
    const changed = { ...key, ...change };
    const status = this.#onKey(
      by,
      key,
      (may) => mayGive(may, key) && mayGive(may, changed) && mayLive(may, changed.expiresAt),
    );
    const { expiresAt, ...rest } = change;
    const body = { ...rest, ...(expiresAt === undefined ? {} : { expires_at: isoOf(expiresAt) }) };
    await this.#ask(by, "PATCH", `/v1/keys/${key.id}`, status, body);
    if (status === 200) Object.assign(key, change);
  }

  async rotateKey(by: Credential, key: KeyModel, graceHours: number | null): Promise<void> {
    const status = this.#onKey(by, key, (may) => mayGive(may, key) && mayLive(may, key.expiresAt));
    const until = this.endAfter(graceHours) ?? this.#now;
    const body = { grace_s: (until - this.#now) / 1000 };
    const { json } = await this.#ask(by, "POST", `/v1/keys/${key.id}/rotate`, status, body);
    if (status !== 200) return;
    for (const value of key.values) value.until = value === key.values.at(-1) ? until : this.#now;
    this.#addValue(key, json.data.key);
  }

  async deleteKey(by: Credential, key: KeyModel): Promise<void> {
    const status = this.#onKey(by, key, (may) => mayGive(may, key));
    await this.#ask(by, "DELETE", `/v1/keys/${key.id}`, status);
    if (status === 200) key.deleted = true;
  }

  /** Creates a token for one of the key's values. A forged token is signed without knowledge of the key. */
  makeToken(key: KeyModel, pick: number, members: Omit<TokenModel, "text">): void {
    const value = key.values[pick % key.values.length]!;
    const { genuine, groups, indexes, expiresAt } = members;
    const said = {
      ...(groups === null ? {} : { filter_by: `group:=[${groups.join(",")}]` }),
      ...(indexes === null ? {} : { indexes }),
      ...(expiresAt === null ? {} : { expires_at: isoOf(expiresAt) }),
    };
    const text = signedToken(value.text, said, genuine ? value.text : `${value.text}x`);
    this.credentials.push({ kind: "token", key, value, token: { text, ...members } });
  }

  /**
   * Restarts the server. A killed server may lose its most recent search counts but nothing else, so the
   * model continues with the counts that the server reports.
   */
  async restart(killed: boolean): Promise<void> {
    await this.#server.stop(killed ? "SIGKILL" : "SIGTERM");
    await this.#server.launch();
    for (const tenant of this.tenants.filter(({ deleted }) => !deleted)) {
      const { json } = await askAsBootstrap(this.#server, "GET", "/v1/usage", 200, undefined, tenant);
      const [own] = json.data.tenants as { searches: { used: number; limit: number | null } }[];
      const { used, limit } = own!.searches;
      expect(limit).toBe(tenant.searchesPerMonth);
      if (killed) expect(used).toBeLessThanOrEqual(usedIn(tenant, this.month));
      else expect(used).toBe(usedIn(tenant, this.month));
      tenant.used.set(this.month, used);
    }
  }

  async search(by: Credential, index: string, wanted: readonly Group[]): Promise<void> {
    const status = this.#searchable(by, index);
    const body = {
      q: "*",
      per_page: 250,
      facets: ["group"],
      ...(wanted.length === GROUPS.length ? {} : { filter_by: `group:=[${wanted.join(",")}]` }),
    };
    const reply = await this.#ask(by, "POST", `/v1/indexes/${index}/query`, status, body);
    if (status === 200) this.#checkAnswer(by, index, wanted, reply.json);
  }

  async multiSearch(by: Credential, indexes: readonly string[]): Promise<void> {
    const status = this.#allowed(by, (may) => (has(may, "search") ? 200 : 403));
    const searches = indexes.map((index) => ({ index, q: "boots", per_page: 250, facets: ["group"] }));
    const { json } = await this.#ask(by, "POST", "/v1/multi-search", status, { searches });
    if (status !== 200) return;
    const { tenant } = this.identify(by) as Rights;
    let left = searchesLeft(tenant, this.month);
    let usedUp = 0;
    const results = json.data.results as unknown as { code?: string }[];
    for (const [i, index] of indexes.entries()) {
      const use = useOfIndex(this.identify(by) as Rights, "search", index);
      const { code } = results[i]!;
      if (use !== 200) expect(code).toBe(use === 403 ? "SK-SYS-403" : "SK-SE-404");
      else if (code === undefined) {
        left--;
        this.#checkAnswer(by, index, GROUPS, results[i]);
      } else {
        expect(code).toBe("SK-SYS-429");
        usedUp++;
      }
    }
    // The searches run concurrently, so any of them may be the one that exceeds the plan.
    expect(left).toBeGreaterThanOrEqual(0);
    if (usedUp > 0) expect(left).toBe(0);
  }

  async suggest(by: Credential, index: string): Promise<void> {
    const status = this.#onIndex(by, "search", index);
    const body = { q: "boots", suggest_by: "title", per_page: 50 };
    const { json, text } = await this.#ask(by, "POST", `/v1/indexes/${index}/suggest`, status, body);
    if (status !== 200) return;
    const ids = (json.data.suggestions as { document_id: string }[]).map((one) => one.document_id);
    expect(ids.sort()).toEqual(this.#visible(by, index, GROUPS));
    this.#checkHidden(by, text);
  }

  async similar(by: Credential, index: string, id: string): Promise<void> {
    const status = this.#onIndex(by, "search", index, (ids) => ids.includes(id));
    const path = `/v1/indexes/${index}/documents/${id}/similar`;
    const { text } = await this.#ask(by, "POST", path, status, {});
    if (status === 200) this.#checkHidden(by, text);
  }

  async getDocument(by: Credential, index: string, id: string): Promise<void> {
    const status = this.#onIndex(by, "documents", index, (ids) => ids.includes(id));
    const { json } = await this.#ask(by, "GET", `/v1/indexes/${index}/documents/${id}`, status);
    if (status === 200) expect(json.data.id).toBe(id);
  }

  async listIndexes(by: Credential): Promise<void> {
    const status = this.#allowed(by, (may) => (has(may, "indexes") ? 200 : 403));
    const { json } = await this.#ask(by, "GET", "/v1/indexes", status);
    if (status !== 200) return;
    const may = this.identify(by) as Rights;
    const covered = [...may.tenant.indexes].filter((index) => covers(may, index));
    expect((json.data as unknown as { name: string }[]).map(({ name }) => name)).toEqual(covered.sort());
  }

  async listKeys(by: Credential): Promise<void> {
    const status = this.#allowed(by, (may) => (has(may, "keys") ? 200 : 403));
    const { json } = await this.#ask(by, "GET", "/v1/keys", status);
    if (status !== 200) return;
    const { tenant } = this.identify(by) as Rights;
    const own = this.keys.filter((key) => key.tenant === tenant && !key.deleted);
    expect(json.data).toEqual(
      own.map(({ id, scopes, indexes, expiresAt }) =>
        expect.objectContaining({ id, scopes, indexes, expires_at: isoOf(expiresAt) }),
      ),
    );
  }

  async patchSettings(by: Credential, index: string): Promise<void> {
    const status = this.#onIndex(by, "indexes", index);
    await this.#ask(by, "PATCH", `/v1/indexes/${index}/settings`, status, { num_typos: 1 });
  }

  async dropIndex(by: Credential, index: string): Promise<void> {
    const status = this.#onIndex(by, "indexes", index);
    await this.#ask(by, "DELETE", `/v1/indexes/${index}`, status);
    if (status === 200) (this.identify(by) as Rights).tenant.indexes.delete(index);
  }

  /** Every request names a tenant, which the server must ignore unless the request uses the bootstrap key. */
  #ask(by: Credential, method: string, path: string, status: number, body?: unknown): Promise<Reply> {
    const named = by.kind === "bootstrap" ? by.tenant : this.tenants[path.length % this.tenants.length]!;
    return askAs(this.#server, by, named, { method, path, status, body });
  }

  #keep(made: Omit<KeyModel, "deleted" | "values">, text: string): void {
    const key: KeyModel = { ...made, deleted: false, values: [] };
    this.keys.push(key);
    this.#addValue(key, text);
  }

  #addValue(key: KeyModel, text: string): void {
    const value = { text, until: null };
    key.values.push(value);
    this.credentials.push({ kind: "key", key, value });
  }

  #allowed(by: Credential, statusOf: (may: Rights) => number): number {
    const may = this.identify(by);
    return typeof may === "number" ? may : statusOf(may);
  }

  #onKey(by: Credential, key: KeyModel, allowed: (may: Rights) => boolean): number {
    return this.#allowed(by, (may) => {
      if (!has(may, "keys")) return 403;
      if (key.tenant !== may.tenant || key.deleted) return 404;
      return allowed(may) ? 200 : 403;
    });
  }

  /**
   * Returns the expected status for a request to an index. `there` receives the ids of the visible documents
   * and returns false if the requested document is not among them, in which case 404 is expected.
   */
  #onIndex(by: Credential, scope: string, index: string, there?: (ids: string[]) => boolean): number {
    return this.#allowed(by, (may) => {
      const use = useOfIndex(may, scope, index);
      return use === 200 && there?.(this.#visible(by, index, GROUPS)) === false ? 404 : use;
    });
  }

  #searchable(by: Credential, index: string): number {
    const use = this.#onIndex(by, "search", index);
    if (use !== 200) return use;
    return searchesLeft((this.identify(by) as Rights).tenant, this.month) > 0 ? 200 : 429;
  }

  #visible(by: Credential, index: string, wanted: readonly Group[]): string[] {
    const { tenant, groups } = this.identify(by) as Rights;
    const seen = GROUPS.filter((group) => groups.includes(group) && wanted.includes(group));
    return seen.map((group) => documentId(tenant, index, group)).sort();
  }

  /** Checks a successful search: it counts towards the plan, and returns exactly the visible documents. */
  #checkAnswer(by: Credential, index: string, wanted: readonly Group[], answer: unknown): void {
    const { tenant, groups } = this.identify(by) as Rights;
    tenant.used.set(this.month, usedIn(tenant, this.month) + 1);
    const visible = this.#visible(by, index, wanted);
    const { hits, found, facets } = answer as Reply["json"];
    expect(hits.map(({ document }) => document.id).sort()).toEqual(visible);
    expect(found).toBe(visible.length);
    const seen = GROUPS.filter((group) => groups.includes(group) && wanted.includes(group));
    expect(facets.group ?? {}).toEqual(Object.fromEntries(seen.map((group) => [group, 1])));
    this.#checkHidden(by, JSON.stringify(answer));
  }

  #checkHidden(by: Credential, text: string): void {
    const { tenant, groups } = this.identify(by) as Rights;
    for (const other of this.tenants) {
      for (const group of GROUPS) {
        if (other === tenant && groups.includes(group)) continue;
        for (const index of INDEXES) expect(text).not.toContain(documentId(other, index, group));
      }
    }
  }
}

const isoOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
