// A server whose clock is set before 1970, as on a machine whose clock has lost its battery, and corrected
// later. Milliseconds since 1970 are negative on such a machine.
import { afterAll, expect, test } from "vitest";
import { makeToken } from "../../../server/access/tenants/search-token.js";
import { ROUTES } from "../../../server/http/routes/table.js";
import { FEED, REQUESTS } from "../access/route-requests.js";
import { ServerClock } from "../sources/server-clock.js";
import { FROM_LOOPBACK } from "../world/feeds.js";
import { eventually, expectStatus } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";

const clock = new ServerClock();
clock.set("1969-12-20T12:00:00Z");
afterAll(() => clock.remove());

const FIELDS = [{ name: "title", type: "string" }];
/** Enough documents for an index to learn vectors from them. */
const DOCUMENTS = Array.from({ length: 200 }, (_, i) => ({ id: `${i}`, title: `boots ${i % 7} ${i % 11}` }));

const server = sharedServer({ shards: 2, env: clock.env, config: FROM_LOOPBACK, quiet: true }, async (at) => {
  for (const name of ["shop", "same", "other"]) await at.createIndex(name, { fields: FIELDS }, DOCUMENTS);
});

const search = (key?: string, body = {}) =>
  server.post("/v1/indexes/shop/query", { q: "boots", ...body }, key === undefined ? {} : { key });
const usage = async () =>
  (await server.get("/v1/usage")).json.data as unknown as { month: string; tenants: object[] };

test("every route answers", async () => {
  const failed: Record<string, string> = {};
  for (const { method, path, operation } of ROUTES) {
    const { body, query = "" } = REQUESTS[operation] ?? {};
    const filled = path.replace("{name}", "same").replaceAll(/\{\w+\}/g, "1");
    const options = body === undefined ? {} : { body };
    const reply = await server.raw(method, `${filled}${query}`, options);
    if (reply.status >= 500) failed[operation] = reply.text;
    if (operation === "deleteIndex") await server.createIndex("same", { fields: FIELDS }, DOCUMENTS);
  }
  expect(failed).toEqual({});
});

test("searches, their log, usage, keys, feeds and vectors work, also after the clock is corrected", async () => {
  const before = await usage();
  expect(before.month).toBe("1969-12");
  const first = await search(undefined, { user_id: "anna" });
  expect(first.json.found).toBe(200);
  const click = { type: "click", document_id: "1", query_id: first.json.query_id, user_id: "anna" };
  const clicked = await server.post("/v1/indexes/shop/events", click);
  expect(clicked.json.data).toEqual({ accepted: 1, rejected: [] });
  const queries = async () => (await server.get("/v1/indexes/shop/analytics/queries")).json.data;
  expect(await queries()).toMatchObject([{ query: "boots", count: 1, ctr: 1 }]);
  expect((await usage()).tenants[0]).toMatchObject({
    name: "default",
    searches: { used: expect.any(Number) },
  });

  const made = { name: "web", scopes: ["search"], expires_at: "1970-02-01T00:00:00Z", rate_limit: 5 };
  const { id, key, prefix } = (await server.post("/v1/keys", made)).json.data as unknown as {
    id: number;
    key: string;
    prefix: string;
  };
  const token = makeToken(key, prefix, { expires_at: "1969-12-31T00:00:00Z" });
  const old = makeToken(key, prefix, { expires_at: "1969-12-01T00:00:00Z" });
  const statuses = async () =>
    [await search(key), await search(token), await search(old)].map((r) => r.status);
  expect(await statuses()).toEqual([200, 200, 401]);
  await eventually(
    async () => (await server.get(`/v1/keys/${id}`)).json.data.last_used_on === "1969-12-20",
    "the use of the key is stored",
  );
  const source = { url: FEED, format: "json", schedule: "daily" };
  const { next_run_at } = (await server.post("/v1/indexes/shop/data-sources", source)).json.data;
  expect(next_run_at).toMatch(/^1969-12-2[01]T/);
  await eventually(
    async () => server.log.some(({ msg, index }) => msg === "a model was trained" && index === "shop"),
    "the index has learned vectors",
  );

  await server.stop();
  await server.launch();
  expectStatus(await search(), 200);
  expect((await usage()).month).toBe("1969-12");
  clock.set("2031-05-10T12:00:00Z");
  expect(await statuses()).toEqual([401, 401, 401]);
  expect((await search()).json.query_id).toMatch(/^01c2/);
  expect((await usage()).month).toBe("2031-05");
  expect(await queries()).toMatchObject([{ query: "boots" }]);
});
