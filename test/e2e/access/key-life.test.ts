// Key rotation and last use over HTTP, and how the server treats clients that try invalid keys.
import { afterAll, describe, expect, test } from "vitest";
import { makeToken } from "../../../server/access/tenants/search-token.js";
import { ServerClock } from "../sources/server-clock.js";
import { ADMIN_KEY, eventually, expectStatus, TestServer } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";

const clock = new ServerClock();
clock.set("2031-05-10T12:00:00Z");
afterAll(() => clock.remove());

const server = sharedServer({ shards: 1, env: clock.env }, async (server) => {
  await server.createIndex("shop", { fields: [{ name: "title", type: "string" }] }, [{ id: "1" }]);
});

interface MadeKey {
  readonly id: number;
  readonly key: string;
  readonly prefix: string;
  readonly previous_expires_at: string | null;
}

async function makeKey(body: object): Promise<MadeKey> {
  const reply = await server.post("/v1/keys", { name: "test", ...body });
  expectStatus(reply, 201);
  return reply.json.data as unknown as MadeKey;
}

const rotate = (id: number, body?: object, key?: string) =>
  server.post(`/v1/keys/${id}/rotate`, body ?? {}, key === undefined ? {} : { key });

const statusOf = async (key: string): Promise<number> =>
  (await server.post("/v1/indexes/shop/query", { q: "*" }, { key })).status;

describe("a rotation", () => {
  test("keeps the old value valid for the grace period", async () => {
    clock.set("2031-05-10T12:00:00Z");
    const old = await makeKey({ scopes: ["search"] });
    const reply = await rotate(old.id, { grace_s: 3600 });
    expectStatus(reply, 200);
    const fresh = reply.json.data as unknown as MadeKey;
    expect(fresh.id).toBe(old.id);
    expect(fresh.key).not.toBe(old.key);
    expect(reply.json.data.previous_expires_at).toMatch(/^2031-05-10T13:00:0/);
    const tokens = [old, fresh].map(({ key, prefix }) => makeToken(key, prefix, {}));
    for (const value of [old.key, fresh.key, ...tokens]) expect(await statusOf(value)).toBe(200);
    await server.stop();
    await server.launch();
    for (const value of [old.key, fresh.key, ...tokens]) expect(await statusOf(value)).toBe(200);
    clock.set("2031-05-10T13:01:00Z");
    expect(await statusOf(old.key)).toBe(401);
    expect(await statusOf(tokens[0]!)).toBe(401);
    for (const value of [fresh.key, tokens[1]!]) expect(await statusOf(value)).toBe(200);
  });

  test("without a grace period ends the old value at once; a second rotation ends all earlier values", async () => {
    const first = await makeKey({ scopes: ["search"] });
    const second = (await rotate(first.id, { grace_s: 60 })).json.data as unknown as MadeKey;
    const third = (await rotate(first.id, { grace_s: 60 })).json.data as unknown as MadeKey;
    expect(await Promise.all([first, second, third].map(({ key }) => statusOf(key)))).toEqual([
      401, 200, 200,
    ]);
    const last = (await rotate(first.id)).json.data as unknown as MadeKey;
    expect(await Promise.all([third, last].map(({ key }) => statusOf(key)))).toEqual([401, 200]);
  });

  test("never gives a caller a key with more rights than the caller's own", async () => {
    const weak = await makeKey({ scopes: ["keys", "search"], rate_limit: 100, indexes: ["shop*"] });
    for (const stronger of [
      { scopes: ["search", "documents"], rate_limit: 50, indexes: ["shop"] },
      { scopes: ["search"], rate_limit: 500, indexes: ["shop"] },
      { scopes: ["search"], rate_limit: 50 },
      { scopes: ["admin"] },
    ]) {
      const { id, key } = await makeKey(stronger);
      expect((await rotate(id, {}, weak.key)).json.code).toBe("SK-SYS-403");
      expect(await statusOf(key)).toBe(200);
    }
    expectStatus(
      await rotate(
        (await makeKey({ scopes: ["search"], rate_limit: 5, indexes: ["shop"] })).id,
        {},
        weak.key,
      ),
      200,
    );
    expectStatus(await rotate(weak.id, {}, weak.key), 200);
    expect(await statusOf(weak.key)).toBe(401);
  });

  test("lets a replaced value create nothing that outlives it", async () => {
    const old = await makeKey({ scopes: ["keys", "search"] });
    const fresh = (await rotate(old.id, { grace_s: 600 })).json.data as unknown as MadeKey;
    const child = (body: object) =>
      server.post("/v1/keys", { name: "child", scopes: ["search"], ...body }, { key: old.key });
    expect((await child({})).json.code).toBe("SK-SYS-403");
    expect((await child({ expires_at: "2100-01-01" })).status).toBe(403);
    expectStatus(await child({ expires_at: String(fresh.previous_expires_at) }), 201);
    expect((await rotate(old.id, {}, old.key)).json.code).toBe("SK-SYS-403");
    expectStatus(await rotate(old.id, {}, fresh.key), 200);
  });

  test("fails a request made with the old value that was still arriving", async () => {
    const old = await makeKey({ scopes: ["keys", "search"] });
    const body = JSON.stringify({ name: "child", scopes: ["search"] });
    const socket = await server.socket();
    const reply = new Promise<string>((resolve, reject) => {
      socket.once("data", (bytes: Buffer) => resolve(bytes.toString("latin1")));
      socket.once("error", reject);
    });
    const head = `POST /v1/keys HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${old.key}\r\ncontent-length: ${body.length}\r\n\r\n`;
    socket.write(head + body.slice(0, 5));
    await server.holds(1);
    expectStatus(await rotate(old.id), 200);
    socket.write(body.slice(5));
    expect(await reply).toMatch(/^HTTP\/1\.1 401 /);
    socket.destroy();
  });

  test("validates its body and its key", async () => {
    const tooLate = { name: "x", scopes: ["search"], expires_at: "9999-12-31T23:59:59-01:00" };
    expect((await server.raw("POST", "/v1/keys", { body: tooLate })).json.code).toBe("SK-SYS-400");
    const { id } = await makeKey({ scopes: ["search"] });
    for (const body of [{ grace_s: -1 }, { grace_s: 1.5 }, { grace_s: 2_592_001 }, { grace: 1 }])
      expect((await server.raw("POST", `/v1/keys/${id}/rotate`, { body })).json.code).toBe("SK-SYS-400");
    expect((await rotate(999_999)).json.code).toBe("SK-SYS-404");
  });
});

test("a key shows its last day of use, also after restarts", async () => {
  clock.set("2031-06-01T10:00:00Z");
  const { id, key, prefix } = await makeKey({ scopes: ["search"] });
  const lastUse = async () => (await server.get(`/v1/keys/${id}`)).json.data.last_used_on;
  expect(await lastUse()).toBeNull();
  expect(await statusOf(key)).toBe(200);
  await eventually(async () => (await lastUse()) === "2031-06-01", "the last use is shown");
  clock.set("2031-06-02T10:00:00Z");
  expect(await statusOf(makeToken(key, prefix, {}))).toBe(200);
  await server.stop();
  await server.launch();
  expect(await lastUse()).toBe("2031-06-02");
});

test("the bootstrap key does not work in a URL, and wrong keys in URLs do not lock it out", async () => {
  const events = (key: string) =>
    server.raw("POST", `/v1/indexes/shop/events?api_key=${key}`, { body: {}, key: null });
  expect([401, 429]).toContain((await events(ADMIN_KEY)).status);
  await eventually(async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, (_, i) => events(`wrong-${i}`)));
    expectStatus(await server.raw("GET", "/v1/indexes"), 200);
    return replies.some(({ status }) => status === 429);
  }, "the address is throttled");
});

describe("an address that sends many wrong keys", () => {
  /**
   * Sends many wrong keys, then `key`, then another wrong key. Returns the status for `key`, or undefined if
   * the address did not have to wait both just before and just after it.
   */
  async function beside(to: TestServer, key: string): Promise<number | undefined> {
    const wrong = async (count: number): Promise<number[]> => {
      const tries = Array.from({ length: count }, (_, i) =>
        to.raw("GET", "/v1/indexes", { key: `wrong-key-${i}` }),
      );
      return (await Promise.all(tries)).map(({ status, json }) => {
        expect([401, 429]).toContain(status);
        if (status === 429)
          expect(json.error).toBe("more than 10 requests per second with wrong keys from one address");
        return status;
      });
    };
    const before = (await wrong(50)).at(-1);
    const { status } = await to.raw("GET", "/v1/indexes", { key });
    const after = (await wrong(1))[0];
    return before === 429 && after === 429 ? status : undefined;
  }

  test("has to wait; the bootstrap key and other valid keys are accepted there", async () => {
    const { key } = await makeKey({ scopes: ["search", "indexes"] });
    for (const valid of [ADMIN_KEY, key]) {
      let status: number | undefined;
      await eventually(async () => {
        status = await beside(server, valid);
        return status !== undefined;
      }, "the address has to wait");
      expect(status).toBe(200);
    }
  });

  test("is refused even the bootstrap key if that one is short enough to be guessed", async () => {
    const short = "0123456789abcde";
    const other = await TestServer.start({ shards: 1, adminKey: short });
    try {
      expect(other.log.map(({ msg }) => msg)).toContainEqual(
        expect.stringMatching(/^the admin key has fewer than 16 characters/),
      );
      const isRefused = async () => [401, 429].includes((await beside(other, short)) ?? 200);
      await eventually(isRefused, "the short key is refused");
      await eventually(
        async () => (await other.raw("GET", "/v1/indexes", { key: short })).status === 200,
        "the address may try again",
      );
    } finally {
      await other.close();
    }
    expect(server.log.map(({ msg }) => String(msg))).not.toContainEqual(
      expect.stringMatching(/^the admin key/),
    );
  });
});
