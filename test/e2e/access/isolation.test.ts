// Calls every route without a key, with a wrong key, and with a key for another scope, index or tenant. None
// of these calls may succeed, change anything or reveal any data. Routes come from the route table; a new
// route only needs a sample request in route-requests.ts.
import { afterAll, describe, expect, test } from "vitest";
import { makeToken } from "../../../server/access/tenants/search-token.js";
import { SCOPES } from "../../../server/catalog/records/key.js";
import type { Route } from "../../../server/http/route.js";
import { ROUTES } from "../../../server/http/routes/table.js";
import { ServerClock } from "../sources/server-clock.js";
import { FROM_LOOPBACK } from "../world/feeds.js";
import { type CallOptions, eventually, expectStatus } from "../world/harness.js";
import type { Reply } from "../world/reply.js";
import { sharedServer } from "../world/shared-server.js";
import { FEED, REQUESTS } from "./route-requests.js";

/** Operations whose replies contain no tenant text, only counts, times and states. */
const WORDLESS = ["getStats", "summary", "listRuns", "getRun", "listIncidents"];
/**
 * Operations whose replies change even without requests, because they report current memory, merges or
 * statistics.
 */
const RESTLESS = ["getStats", "summary"];

const clock = new ServerClock();
clock.set("2031-05-10T12:00:00Z");
afterAll(() => clock.remove());

/** Resource ids, keyed by the path segment before the id, such as `keys`. */
type Ids = Readonly<Record<string, string>>;

interface Tenant {
  readonly id: number;
  readonly name: string;
  readonly key: string;
  /** Text that appears in everything this tenant owns. Other tenants' requests never contain it. */
  readonly marker: string;
  /** For each index name, the ids of the index's resources. */
  readonly ids: Readonly<Record<string, Ids>>;
}

let own: Tenant;
let foreign: Tenant;

const server = sharedServer(
  {
    shards: 1,
    env: clock.env,
    config: { ...FROM_LOOPBACK, limits: { failedKeysPerSecondMax: 1_000_000 } },
    quiet: true,
  },
  async () => {
    own = await makeTenant("own", "matterhorn");
    foreign = await makeTenant("foreign", "zugspitze");
  },
);

async function makeTenant(kind: string, marker: string): Promise<Tenant> {
  const name = `${kind}-${marker}`;
  const made = await server.post("/v1/tenants", { name });
  expectStatus(made, 201);
  const { key } = made.json.data.admin_key as { key: string };
  const named = await server.post("/v1/keys", { name: marker, scopes: ["search"] }, { key });
  const names = ["same", "other", `only-${kind}`];
  const ids = await Promise.all(names.map((index) => fill(index, kind, marker, key)));
  const pairs = names.map((index, i) => [index, { keys: String(named.json.data.id), ...ids[i]! }] as const);
  return { id: Number(made.json.data.id), name, key, marker, ids: Object.fromEntries(pairs) };
}

/** Creates an index that contains one resource of every kind. */
async function fill(index: string, kind: string, marker: string, key: string): Promise<Ids> {
  const ask = async (method: string, path: string, body?: unknown): Promise<Reply> => {
    const reply = await server.call(method, path, { body, key });
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.text}`);
    return reply;
  };
  const base = `/v1/indexes/${index}`;
  const made = async (path: string, body: unknown) =>
    String((await ask("POST", `${base}/${path}`, body)).json.data.id);
  const fields = [
    { name: "title", type: "string" },
    { name: "brand", type: "string", facet: true, note: marker },
  ];
  await ask("POST", "/v1/indexes", { name: index, schema: { fields }, settings: { stop_words: [marker] } });
  const document = { id: `${kind}-1`, title: `boots ${marker}`, brand: marker };
  await ask("POST", `${base}/documents/batch`, { documents: [document, { ...document, id: `${kind}-2` }] });
  const rules = await made("ranking-rules", {
    name: marker,
    type: "hide",
    effect: { filter_by: "title:=none" },
  });
  const synonyms = await made("synonyms", { synonyms: [marker, "mountain"] });
  const url = `${FEED}?${marker}`;
  const sources = await made("data-sources", { url, format: "json" });
  const runs = await made(`data-sources/${sources}/sync-now`, undefined);
  await server.post(`${base}/data-sources/${sources}/runs/${runs}/cancel`, undefined, { key });
  for (let i = 0; i < 10; i++)
    await ask("POST", `${base}/query`, {
      q: `missing ${marker}`,
      filter_by: "title:=none",
      user_id: `u${i}`,
    });
  await ask("POST", `${base}/events`, [
    { type: "click", document_id: `${kind}-${marker}`, query: `missing ${marker}`, user_id: "u1" },
  ]);
  let recommendations: string | undefined;
  await eventually(async () => {
    const { data } = (await ask("POST", `${base}/coach/analyze`, { days: 1 })).json;
    recommendations = (data.recommendations as { id: number }[])[0]?.id.toString();
    return recommendations !== undefined;
  }, "the coach recommends something");
  const events = async () => (await ask("GET", `${base}/analytics/documents`)).text.includes(marker);
  await eventually(events, "the click is in the log");
  return {
    documents: `${kind}-1`,
    "ranking-rules": rules,
    synonyms,
    "data-sources": sources,
    runs,
    recommendations: recommendations!,
  };
}

/** The route's path, with the index name and the tenant's resource ids filled in. */
function pathOf({ path }: Route, index: string, ids: Ids): string {
  const segments = path.split("/");
  const filled = segments.map((segment, i) => {
    if (!segment.startsWith("{")) return segment;
    return segment === "{name}" ? index : (ids[segments[i - 1]!] ?? "1");
  });
  return filled.join("/");
}

function ask(route: Route, path: string, options: CallOptions): Promise<Reply> {
  const { body, query = "" } = REQUESTS[route.operation] ?? {};
  return server.raw(route.method, `${path}${query}`, body === undefined ? options : { body, ...options });
}

async function keyOf(body: object): Promise<{ id: number; key: string; prefix: string }> {
  const reply = await server.post("/v1/keys", { name: "test", ...body }, { key: own.key });
  expectStatus(reply, 201);
  return reply.json.data as unknown as { id: number; key: string; prefix: string };
}

const withKey = ROUTES.filter(({ access }) => access !== "open");
const bootstrap = withKey.filter((route) => route.access === "tenant" && route.scope === "bootstrap");
const tenants = withKey.filter((route) => !bootstrap.includes(route));
const ofIndexes = tenants.filter(({ access }) => access === "index");
const hasId = ({ path }: Route) => /\{(?!name\})/.test(path);
/** The header that names a tenant. Without the bootstrap key, it must have no effect. */
const naming = (tenant: string): Record<string, string> => ({ "x-skein-tenant": tenant });
const isRead = ({ method }: Route) => method === "GET";
const scopeOf = (route: Route) => (route.access === "open" ? null : route.scope);

/**
 * Returns everything a tenant can read about itself, by route and index, except the replies of `RESTLESS`
 * operations and the day on which a key was last used.
 */
async function stateOf(tenant: Tenant): Promise<Map<string, string>> {
  const state = new Map<string, string>();
  for (const route of tenants.filter((one) => isRead(one) && !RESTLESS.includes(one.operation))) {
    for (const [index, ids] of Object.entries(tenant.ids)) {
      const reply = await ask(route, pathOf(route, index, ids), { key: tenant.key });
      expectStatus(reply, 200);
      state.set(
        `${route.operation} ${index}`,
        reply.text.replaceAll(/"last_used_on":[^,}]*/g, '"last_used_on":null'),
      );
    }
  }
  return state;
}

/** Runs `requests` and checks that the foreign tenant's state is unchanged afterwards. */
async function leavesForeignAlone(requests: () => Promise<void>): Promise<void> {
  const before = await stateOf(foreign);
  await requests();
  expect(await stateOf(foreign)).toEqual(before);
}

test("every route has a test request", () => {
  expect(Object.keys(REQUESTS).sort()).toEqual(ROUTES.map(({ operation }) => operation).sort());
});

test("everything read here contains the tenant's own marker", async () => {
  for (const tenant of [own, foreign]) {
    for (const [what, text] of await stateOf(tenant))
      if (!WORDLESS.includes(what.split(" ")[0]!))
        expect([what, text]).toEqual([what, expect.stringContaining(tenant.marker)]);
  }
});

describe("401", () => {
  const wrong = {
    "no key": {},
    "an unknown key": { authorization: "Bearer sk_unknown" },
    "another scheme": { authorization: "Basic dGVzdDp0ZXN0" },
    "a token of an unknown key": { authorization: `Bearer ${makeToken("sk_unknown", "sk_unknown", {})}` },
  };
  test.each(Object.entries(wrong))("every route that needs a key, with %s", async (_, headers) => {
    for (const route of withKey) {
      const reply = await ask(route, pathOf(route, "same", own.ids.same!), { key: null, headers });
      expect([route.operation, reply.status]).toEqual([route.operation, 401]);
    }
  });

  test("a key in the URL works for events only", async () => {
    const { key } = await keyOf({ scopes: ["search", "events"] });
    for (const route of withKey) {
      const { body, query } = REQUESTS[route.operation] ?? {};
      const path = `${pathOf(route, "same", own.ids.same!)}${query === undefined ? "?" : `${query}&`}api_key=${key}`;
      const { status } = await server.raw(route.method, path, { body, key: null });
      expect([route.operation, status]).toEqual([
        route.operation,
        route.operation === "sendEvents" ? 202 : 401,
      ]);
    }
  });
});

describe("403", () => {
  test.each(bootstrap.map((route) => [route.operation, route] as const))(
    "%s with a tenant's admin key, whichever tenant it names",
    async (_, route) => {
      const path = pathOf(route, "", { tenants: String(foreign.id) });
      await leavesForeignAlone(async () => {
        for (const tenant of [own.name, foreign.name, "default"]) {
          const reply = await ask(route, path, { key: own.key, headers: naming(tenant) });
          expect(reply.json.code).toBe("SK-SYS-403");
        }
      });
    },
  );

  test.each(SCOPES)(
    "every route with a key that has only the scope %s, unless the route needs that scope",
    async (scope) => {
      const { key } = await keyOf({ scopes: [scope] });
      for (const route of withKey) {
        // Neither the index nor the key exists, so permitted requests change nothing.
        const { status, json } = await ask(route, pathOf(route, "none", { keys: "0" }), { key });
        const wanted = scopeOf(route);
        const allowed = wanted === scope || (scope === "admin" && wanted !== "bootstrap");
        if (allowed) expect([route.operation, [401, 403].includes(status)]).toEqual([route.operation, false]);
        else expect([route.operation, json.code]).toEqual([route.operation, "SK-SYS-403"]);
      }
    },
  );

  test("every route except searches and events with a search token", async () => {
    const { key, prefix } = await keyOf({ scopes: ["admin"] });
    const token = makeToken(key, prefix, {});
    for (const route of withKey) {
      const { status } = await ask(route, pathOf(route, "none", {}), { key: token });
      const allowed = ["search", "events"].includes(scopeOf(route)!);
      expect([route.operation, status === 403]).toEqual([route.operation, !allowed]);
    }
  });

  test("every index outside the key's patterns, whether it exists or not; lists leave it out", async () => {
    const { key } = await keyOf({ scopes: ["admin"], indexes: ["oth*"] });
    for (const route of ofIndexes) {
      for (const index of ["same", "none"]) {
        const { json } = await ask(route, pathOf(route, index, own.ids.same!), { key });
        expect([route.operation, json.code]).toEqual([route.operation, "SK-SYS-403"]);
      }
    }
    const listed = (await server.get("/v1/indexes", { key })).json.data as unknown as { name: string }[];
    expect(listed.map(({ name }) => name)).toEqual(["other"]);
    for (const name of ["copy-settings-from", "swap-with"]) {
      const body = name === "swap-with" ? { target_index: "same" } : { source_index: "same" };
      expect((await server.post(`/v1/indexes/other/${name}`, body, { key })).json.code).toBe("SK-SYS-403");
    }
    for (const what of ["apply", "dismiss"]) {
      const path = `/v1/coach/recommendations/${own.ids.same!.recommendations}/${what}`;
      expect((await server.post(path, undefined, { key })).status).toBe(404);
    }
  });
});

describe("another tenant's", () => {
  test.each(
    tenants
      .filter((route) => route.access === "index" || hasId(route))
      .map((route) => [route.operation, route] as const),
  )("index or id is 404: %s", async (_, route) => {
    const paths = Object.entries(foreign.ids).flatMap(([index, ids]) =>
      index === "only-foreign" || hasId(route) ? [pathOf(route, index, ids)] : [],
    );
    expect(paths.length).toBeGreaterThan(0);
    await leavesForeignAlone(async () => {
      for (const path of paths) {
        for (const tenant of [own, foreign]) {
          const headers = naming(tenant.name);
          const reply = await ask(route, path, { key: own.key, headers });
          expect([path, reply.status]).toEqual([path, 404]);
          expect(reply.text).not.toContain(foreign.marker);
        }
      }
    });
  });

  test("index is unknown when a body or a parameter names it", async () => {
    const { key } = own;
    await leavesForeignAlone(async () => {
      const swap = await server.post("/v1/indexes/same/swap-with", { target_index: "only-foreign" }, { key });
      const copy = await server.post(
        "/v1/indexes/same/copy-settings-from",
        { source_index: "only-foreign" },
        { key },
      );
      expect([swap.status, copy.status]).toEqual([404, 404]);
      const searches = [{ index: "only-foreign", q: "*" }];
      const many = await server.post("/v1/multi-search", { searches }, { key });
      expect(many.json.data.results).toEqual([expect.objectContaining({ code: "SK-SE-404" })]);
      expect((await server.get("/v1/incidents?index=only-foreign", { key })).json.data).toEqual([]);
    });
  });

  test("records appear in no list, and their names are free", async () => {
    await leavesForeignAlone(async () => {
      const theirs = await stateOf(foreign);
      for (const [what, text] of await stateOf(own)) {
        expect([what, text]).toEqual([what, expect.not.stringContaining(foreign.marker)]);
        const shared = idsIn(text).filter((id) => idsIn(theirs.get(what) ?? "").includes(id));
        expect([what, shared]).toEqual([what, []]);
      }
      const schema = { fields: [{ name: "title", type: "string" }] };
      expectStatus(await server.post("/v1/indexes", { name: "only-foreign", schema }, { key: own.key }), 201);
      expectStatus(await server.delete("/v1/indexes/only-foreign", { key: own.key }), 200);
    });
  });

  test("records stay unchanged when an index of the same name is used and deleted", async () => {
    const without = tenants.filter((route) => !hasId(route) && route.operation !== "deleteIndex");
    const last = tenants.filter(({ operation }) => operation === "deleteIndex");
    await leavesForeignAlone(async () => {
      for (const route of [...without, ...last]) {
        for (const tenant of [own, foreign]) {
          const headers = naming(tenant.name);
          const reply = await ask(route, pathOf(route, "same", {}), { key: own.key, headers });
          // Every request is sent twice, so the second createIndex and the second deleteIndex fail. The
          // preview is refused because its address is not allowed.
          const refused = { createIndex: 409, deleteIndex: 404, previewFeed: 400 }[route.operation];
          expect([route.operation, reply.status]).toEqual([
            route.operation,
            reply.status === refused ? refused : expect.toSatisfy((status) => status >= 200 && status < 300),
          ]);
          expect(reply.text).not.toContain(foreign.marker);
        }
      }
    });
  });
});

/** The ids in a list reply; empty for any other reply. */
function idsIn(text: string): unknown[] {
  if (!text.startsWith('{"data":[')) return [];
  return (JSON.parse(text).data as { id?: unknown }[]).flatMap(({ id }) => id ?? []);
}
