// The order of a request's phases: a request with every possible fault gets one error at a time, and the next
// error once that fault is fixed.
import { describe, expect, test } from "vitest";
import { expectStatus } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };

const server = sharedServer({ shards: 1 }, async (server) => {
  await server.createIndex("shop", SCHEMA);
});

async function makeKey(scopes: string[], rateLimit?: number): Promise<string> {
  const limit = rateLimit === undefined ? {} : { rate_limit: rateLimit };
  const reply = await server.post("/v1/keys", { name: "test", scopes, ...limit });
  expectStatus(reply, 201);
  return reply.json.data.key;
}

interface Ask {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly type: string;
  readonly body: string;
}

async function codeOf({ method, path, key, type, body }: Ask): Promise<unknown> {
  const headers = { "content-type": type };
  return (await server.call(method, path, { key, headers, body: Buffer.from(body) })).json.code ?? "none";
}

describe("a request that is wrong in every respect is told first about", () => {
  const worst = {
    method: "PUT",
    path: "/v1/indexes/gone/nothing",
    key: "wrong",
    type: "text/csv",
    body: "{",
  };

  test.each([
    ["a batch", "documents/batch", "SK-DOC-400", "SK-IX-404"],
    ["a query", "query", "SK-SE-400", "SK-SE-404"],
    ["a rule", "ranking-rules", "SK-RR-400", "SK-IX-404"],
  ])(
    "the path, the method, the key, its rate, its scope, the index, the type, the body: %s",
    async (_what, route, invalid, missing) => {
      const exhausted = await makeKey(["analytics"], 1);
      const otherScope = await makeKey(["analytics"]);
      const right = await makeKey(["documents", "search", "rules"]);
      const known = { ...worst, path: `/v1/indexes/gone/${route}` };
      const posted = { ...known, method: "POST" };
      expect(await codeOf(worst)).toBe("SK-SYS-404");
      expect(await codeOf(known)).toBe("SK-SYS-405");
      expect(await codeOf(posted)).toBe("SK-SYS-401");
      const limited = await Promise.all(
        Array.from({ length: 10 }, () => codeOf({ ...posted, key: exhausted })),
      );
      expect(new Set(limited)).toEqual(new Set(["SK-SYS-403", "SK-SYS-429"]));
      expect(await codeOf({ ...posted, key: otherScope })).toBe("SK-SYS-403");
      const allowed = { ...posted, key: right };
      expect(await codeOf(allowed)).toBe(missing);
      const found = { ...allowed, path: `/v1/indexes/shop/${route}` };
      expect(await codeOf(found)).toBe("SK-SYS-415");
      expect(await codeOf({ ...found, type: "application/json" })).toBe(invalid);
    },
  );
});

describe("a search in a multi-search is told first about", () => {
  const slot = async (key: string, search: object): Promise<unknown> => {
    const reply = await server.post("/v1/multi-search", { searches: [search] }, { key });
    expectStatus(reply, 200);
    return (reply.json.data.results as { code?: string }[])[0]!.code ?? "none";
  };

  test("the key's indexes, the index, the body", async () => {
    const made = await server.post("/v1/keys", {
      name: "test",
      scopes: ["search"],
      indexes: ["shop", "gone"],
    });
    const key = made.json.data.key as string;
    expect(await slot(key, { index: "other", q: 7 })).toBe("SK-SYS-403");
    expect(await slot(key, { index: "gone", q: 7 })).toBe("SK-SE-404");
    expect(await slot(key, { index: "shop", q: 7 })).toBe("SK-SE-400");
    expect(await slot(key, { index: "shop", q: "x" })).toBe("none");
  });
});
