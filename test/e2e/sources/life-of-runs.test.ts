// What happens to data source runs when the server stops and starts, other runs are queued, the index is
// swapped or deleted, or the source is changed or deleted.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type FeedAnswer, type FeedServer, startFeedServer } from "../world/feed-server.js";
import {
  documentsOf,
  ended,
  FROM_LOOPBACK,
  makeSource,
  type Run,
  runOf,
  runsOf,
  type Source,
  sync,
  syncNow,
} from "../world/feeds.js";
import { eventually, expectStatus, type TestServer } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const ONE_AT_A_TIME = { feeds: { ...FROM_LOOPBACK.feeds, concurrency: 1 } };
/** More items than fit in one write. */
const MANY = 5_000;

let feeds: FeedServer;

beforeAll(async () => {
  feeds = await startFeedServer();
});

afterAll(() => feeds.close());

const line = (id: string, title: string): Buffer => Buffer.from(`${JSON.stringify({ id, title })}\n`);
const lines = (count: number, title: string): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, i) => line(`p${i}`, title)));

const one = (id: string, title: string): string => JSON.stringify([{ id, title }]);

/** Functions that release held feeds, called at the end of each test, whether it passed or failed. */
const held: (() => void)[] = [];
afterEach(() => {
  for (const goOn of held.splice(0)) goOn();
});

/** A feed that sends `first`, and the rest once it is released. */
function heldFeed(first: Uint8Array, rest: Uint8Array, answer: FeedAnswer = {}) {
  let goOn = (): void => undefined;
  const waiting = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  held.push(goOn);
  const body = async function* () {
    if (first.length > 0) yield first;
    await waiting;
    yield rest;
  };
  return { answer: { ...answer, body }, goOn };
}

async function shop(server: TestServer, index: string, body: object = {}): Promise<Source> {
  await server.createIndex(index, SCHEMA);
  feeds.route(`/${index}`, { body: one("p0", index) });
  return makeSource(server, index, { url: feeds.url(`/${index}`), format: "json", ...body });
}

const hasBegun = (server: TestServer, source: Source, id: number): Promise<void> =>
  eventually(async () => (await runOf(server, source, id)).status === "running", `run ${id} has begun`);

const hasWritten = (server: TestServer, source: Source, id: number): Promise<void> =>
  eventually(async () => (await runOf(server, source, id)).documents_imported > 0, `run ${id} has written`);

/** Paths of the requests after the first `count`. */
const askedSince = (count: number): string[] => feeds.requests.slice(count).map(({ path }) => path);

const statusOf = ({ status, trigger, error_code }: Run) => [status, trigger, error_code];

describe("the server's end", () => {
  const server = sharedServer({ shards: 1, config: ONE_AT_A_TIME, quiet: true });

  test.each([
    ["SIGKILL", null],
    ["SIGTERM", 0],
  ] as const)("by %s fails the running run, and the queue continues in order", async (signal, code) => {
    const name = signal.toLowerCase();
    const [first, second, third] = [
      await shop(server, `${name}-first`),
      await shop(server, `${name}-second`),
      await shop(server, `${name}-third`),
    ];
    await sync(server, third);
    feeds.route(`/${name}-first`, { body: lines(MANY, "first"), stallAfter: 100_000 });
    const running = await syncNow(server, first);
    await hasWritten(server, first, running);
    const waiting = [await syncNow(server, second), await syncNow(server, third)] as const;
    const asked = feeds.requests.length;

    expect(await server.stop(signal)).toBe(code);
    await feeds.quiet();
    await server.launch();

    const interrupted = await ended(server, first, running);
    expect(statusOf(interrupted)).toEqual(["failed", "manual", "SK-DS-503"]);
    expect(interrupted.error).toContain("interrupted");
    expect(interrupted.finished_at).not.toBeNull();
    expect(statusOf(await ended(server, second, waiting[0]))).toEqual(["completed", "manual", null]);
    expect(statusOf(await ended(server, third, waiting[1]))).toEqual(["completed", "manual", null]);
    expect(askedSince(asked)).toEqual([`/${name}-second`, `/${name}-third`]);
    expect((await runsOf(server, first)).map(({ id }) => id)).toEqual([running]);
    expect((await documentsOf(server, `${name}-first`)).p0).toEqual({ id: "p0", title: "first" });
  });
});

describe("the queue", () => {
  const server = sharedServer({ shards: 1, config: ONE_AT_A_TIME, quiet: true });

  test("continues in order, one run at a time, whatever is cancelled, changed or deleted", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const sources = new Map<string, Source>();
    for (const name of names) sources.set(name, await shop(server, name));
    const source = (name: string): Source => sources.get(name)!;
    let [now, most] = [0, 0];
    for (const name of names)
      feeds.route(`/${name}`, {
        body: function* () {
          most = Math.max(most, ++now);
          yield Buffer.from(one(name, name));
          now--;
        },
      });
    const { answer, goOn } = heldFeed(line("a", "a"), line("b", "a"));
    feeds.route("/a", answer);
    feeds.route("/moved", { body: one("b", "moved") });
    const asked = feeds.requests.length;
    const ids = new Map([["a", await syncNow(server, source("a"))]]);
    await eventually(async () => askedSince(asked).length === 1, "the first one reads its feed");
    for (const name of ["f", "c", "e", "b", "d"]) ids.set(name, await syncNow(server, source(name)));

    const again = await server.post(`${source("c").path}/sync-now`);
    expect([again.status, again.json.data]).toEqual([
      200,
      { run_id: ids.get("c"), id: ids.get("c"), status: "queued" },
    ]);
    const cancelled = await server.post(`${source("e").path}/runs/${ids.get("e")}/cancel`);
    expect(cancelled.json.data).toMatchObject({ status: "cancelled", started_at: null });
    expectStatus(await server.delete(source("d").path), 200);
    expectStatus(await server.patch(source("b").path, { url: feeds.url("/moved") }), 200);

    goOn();
    for (const name of ["a", "f", "c", "b"])
      expect((await ended(server, source(name), ids.get(name)!)).status).toBe("completed");
    expect(askedSince(asked)).toEqual(["/a", "/f", "/c", "/moved"]);
    expect(most).toBe(1);
    expect(await documentsOf(server, "b")).toEqual({ b: { id: "b", title: "moved" } });
    expect(await documentsOf(server, "d")).toEqual({});
  });

  test("forgets all but a source's last 100 runs", async () => {
    const [busy, source] = [await shop(server, "busy"), await shop(server, "often")];
    const completed = await sync(server, source);
    const { answer, goOn } = heldFeed(line("a", "a"), line("b", "b"));
    feeds.route("/busy", answer);
    const running = await syncNow(server, busy);
    await hasBegun(server, busy, running);
    const ids = [completed.id];
    const idsKept = async () => (await runsNow(100)).map(({ id }) => id);
    const runsNow = async (limit: number) =>
      (await server.get(`${source.path}/runs?limit=${limit}`)).json.data as unknown as Run[];
    while (ids.length < 103) {
      const id = await syncNow(server, source);
      ids.push(id);
      if (ids.length === 101) expect(await idsKept()).toEqual(ids.slice(1).reverse());
      expectStatus(await server.post(`${source.path}/runs/${id}/cancel`), 200);
    }
    expect(await idsKept()).toEqual(ids.slice(3).reverse());
    expect((await runsNow(2)).map(({ id }) => id)).toEqual(ids.slice(-2).reverse());
    const forgotten = await server.raw("GET", `${source.path}/runs/${completed.id}`);
    expect([forgotten.status, forgotten.json.code]).toEqual([404, "SK-DS-404"]);
    goOn();
    expect((await ended(server, busy, running)).status).toBe("completed");
    await server.stop();
    await server.launch();
    expect(await idsKept()).toEqual(ids.slice(3).reverse());
  });
});

describe("while a run writes", () => {
  const server = sharedServer({ shards: 2, config: FROM_LOOPBACK, quiet: true });

  test.each([
    ["kept", false],
    ["dropped", true],
  ])("a swap fails it and a new run follows the name; the old index is %s", async (name, dropping) => {
    const [live, next] = [`live-${name}`, `next-${name}`];
    const source = await shop(server, live, { sync_mode: "replace", max_delete_ratio: 1 });
    await server.createIndex(next, SCHEMA, [{ id: "there", title: "before" }]);
    const { answer, goOn } = heldFeed(lines(MANY, "cut off"), line("late", "late"));
    feeds.route(`/${live}`, answer, { body: lines(3, "whole") });
    const id = await syncNow(server, source);
    await hasWritten(server, source, id);
    const swap = { target_index: next, drop_source_after: dropping };
    expectStatus(await server.post(`/v1/indexes/${live}/swap-with`, swap), 200);
    const run = await ended(server, source, id);
    expect(statusOf(run)).toEqual(["failed", "manual", "SK-DS-503"]);
    expect(run.error).toContain("swapped");
    expect(run.documents_deleted).toBe(0);
    await eventually(
      async () => (await runsOf(server, source))[0]!.status === "completed",
      "another run completes",
    );
    goOn();
    const runs = await runsOf(server, source);
    expect(runs.map(({ trigger }) => trigger)).toEqual(["start", "manual"]);
    expect(runs[0]).toMatchObject({ documents_imported: 3, documents_deleted: 1 });
    expect(Object.keys(await documentsOf(server, live)).sort()).toEqual(["p0", "p1", "p2"]);
    if (dropping) return;
    const old = Object.values(await documentsOf(server, next));
    expect(new Set(old.map(({ title }) => title))).toEqual(new Set(["cut off"]));
  });

  test("a change of the url does not disturb it, and the old feed's validators are forgotten", async () => {
    const source = await shop(server, "changed");
    const { answer, goOn } = heldFeed(lines(MANY, "old"), line("last", "old"), {
      headers: { etag: '"one"' },
    });
    feeds.route("/changed", answer);
    feeds.route("/other", { body: lines(2, "new"), headers: { etag: '"one"' } });
    const id = await syncNow(server, source);
    await hasWritten(server, source, id);
    expectStatus(await server.patch(source.path, { url: feeds.url("/other") }), 200);
    goOn();
    expect(await ended(server, source, id)).toMatchObject({
      status: "completed",
      documents_imported: MANY + 1,
    });
    const asked = feeds.requests.length;
    expect(await sync(server, source)).toMatchObject({ not_modified: false, documents_imported: 2 });
    expect(await sync(server, source)).toMatchObject({ not_modified: true });
    const [first, second] = feeds.requests.slice(asked);
    expect([first!.path, first!.headers["if-none-match"]]).toEqual(["/other", undefined]);
    expect([second!.path, second!.headers["if-none-match"]]).toEqual(["/other", '"one"']);
  });

  test("its source or its index can be deleted: it ends, and nothing is written afterwards", async () => {
    const endless = async function* () {
      for (let i = 0; ; i++) {
        yield Buffer.concat(Array.from({ length: 500 }, (_, at) => line(`p${i}-${at}`, "endless")));
        await new Promise(setImmediate);
      }
    };
    for (const what of ["source", "index"]) {
      const name = `deleted-${what}`;
      const source = await shop(server, name);
      feeds.route(`/${name}`, { body: endless });
      await hasWritten(server, source, await syncNow(server, source));
      expectStatus(await server.delete(what === "source" ? source.path : `/v1/indexes/${name}`), 200);
      await feeds.quiet();
      expect((await server.get(source.path)).status).toBe(404);
      if (what === "index") await server.createIndex(name, SCHEMA);
      const documents = Object.keys(await documentsOf(server, name)).length;
      if (what === "index") expect(documents).toBe(0);
      else expect(documents).toBeGreaterThan(0);
      const after = await makeSource(server, name, { url: feeds.url("/after"), format: "json" });
      feeds.route("/after", { body: one("after", "after") });
      expect(await sync(server, after)).toMatchObject({ status: "completed", documents_imported: 1 });
      expect(Object.keys(await documentsOf(server, name)).length).toBe(documents + 1);
    }
  });

  test("settings can be copied to and from its index", async () => {
    const source = await shop(server, "copied");
    await server.createIndex("settings", SCHEMA);
    expectStatus(await server.patch("/v1/indexes/settings/settings", { symbols_to_index: ["+"] }), 200);
    const { answer, goOn } = heldFeed(lines(MANY, "c+"), line("last", "c+"));
    feeds.route("/copied", answer);
    const id = await syncNow(server, source);
    await hasWritten(server, source, id);
    const copy = (from: string, to: string) =>
      server.post(`/v1/indexes/${to}/copy-settings-from`, { source_index: from });
    expectStatus(await copy("settings", "copied"), 200);
    expectStatus(await copy("copied", "settings"), 200);
    goOn();
    expect(await ended(server, source, id)).toMatchObject({
      status: "completed",
      documents_imported: MANY + 1,
    });
    await eventually(
      async () => (await server.query("copied", { q: "c+" })).json.found === MANY + 1,
      "all are indexed with the symbol", // including those written before the settings were copied
    );
    expect((await server.get("/v1/indexes/settings/data-sources")).json.data).toEqual([]);
  });
});
