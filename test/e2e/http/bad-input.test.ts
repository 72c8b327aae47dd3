// Input that a confused or hostile client may send: the server answers with the right 4xx and one clear error
// message, stays alive and ready, and its memory does not grow. Runs on both HTTP transports.
import { once } from "node:events";
import { afterAll, describe, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { ADMIN_KEY, sleep } from "../world/harness.js";
import { requestHead, statusOf } from "../world/raw-http.js";
import type { Reply } from "../world/reply.js";
import { serverOverEachHttp } from "../world/shared-server.js";
import {
  BROKEN_BODIES,
  nested,
  REFUSED_REQUESTS,
  WRONG_FILTERS,
  WRONG_PARAMETERS,
} from "./bad-input-cases.js";

const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "brand", type: "string", facet: true, sort: true },
    { name: "price", type: "float", facet: true },
    { name: "stock", type: "int32" },
    { name: "big", type: "int64" },
    { name: "sale", type: "bool", facet: true },
    { name: "tags", type: "string[]", facet: true },
    { name: "sizes", type: "int32[]" },
    { name: "ratios", type: "float[]" },
  ],
};

const DOCUMENTS = [
  {
    id: "1",
    title: "a red thing",
    brand: "acme",
    price: 2.5,
    stock: 1,
    big: 1,
    sale: true,
    tags: ["x"],
    sizes: [1],
    ratios: [0.5],
  },
  {
    id: "2",
    title: "a blue thing",
    brand: "zeta",
    price: 5,
    stock: 2,
    big: 2,
    sale: false,
    tags: ["y"],
    sizes: [2],
    ratios: [1],
  },
];

const SERVERS = serverOverEachHttp({ shards: 2, quiet: true }, (server) =>
  server.createIndex("things", SCHEMA, DOCUMENTS),
);

afterAll(async () => {
  for (const [, server] of SERVERS) {
    expect(server.running, "the server is still alive after the whole battery").toBe(true);
    expect((await server.get("/health/ready")).status).toBe(200);
    expect((await server.query("things", { q: "thing" })).json.found).toBe(2);
  }
});

describe.each(SERVERS)("bodies, parameters and filters over %s", (_http, server) => {
  test.each(BROKEN_BODIES)("a body that is %s is refused on every route", async (_name, body) => {
    for (const path of [
      "/v1/indexes/things/query",
      "/v1/indexes",
      "/v1/indexes/things/documents/batch",
      "/v1/keys",
      "/v1/indexes/things/ranking-rules",
      "/v1/indexes/things/synonyms",
      "/v1/indexes/things/copy-settings-from",
      "/v1/indexes/things/swap-with",
    ]) {
      expectRefused(await server.raw("POST", path, { body }), 400);
    }
    expectRefused(await server.raw("PATCH", "/v1/indexes/things/documents/1", { body }), 400);
    expectRefused(await server.raw("PATCH", "/v1/indexes/things", { body }), 400);
    expectRefused(await server.raw("PATCH", "/v1/indexes/things/settings", { body }), 400);
  });

  test.each(WRONG_PARAMETERS)("the query parameter %s = %j is refused", async (name, value) => {
    const reply = await server.query("things", { q: "thing", [name]: value });
    expectRefused(reply, 400);
    expect(reply.json.code).toBe("SK-SE-400");
    expect(reply.json.error).toContain(name);
  });

  test.each(WRONG_FILTERS)("filter %j fails at %i", async (filter, position) => {
    const reply = await server.query("things", { q: "*", filter_by: filter });
    if (filter === "") {
      expect(reply.status).toBeLessThan(500);
      return;
    }
    expectRefused(reply, 400);
    expect(reply.json.code).toBe("SK-SE-400");
    const found = reply.json.details?.position as number;
    expect(Math.abs(found - position), `position ${found}: ${reply.json.error}`).toBeLessThanOrEqual(2);
  });

  test("out-of-range parameters are clamped and echoed", async () => {
    const reply = await server.query("things", {
      q: "thing",
      per_page: 9999,
      page: -3,
      num_typos: 17,
      max_facet_values: 1e6,
    });
    expect(reply.status).toBe(200);
    expect(reply.json.per_page).toBe(250);
    expect(reply.json.page).toBe(1);
  });
});

describe.each(SERVERS)("odd strings and numbers over %s", (_http, server) => {
  test("documents with unpaired surrogates in JSON escapes fail", async () => {
    for (const q of ["\\ud800", "\\udc00x", "a\\ud83d b", "\\ud83d\\ud83d\\ude00"]) {
      const reply = await server.raw("POST", "/v1/indexes/things/query", { body: `{"q":"${q}"}` });
      expect(reply.status, reply.text).toBeLessThan(500);
      const batch = await server.raw("POST", "/v1/indexes/things/documents/batch", {
        body: `{"documents":[{"id":"s","title":"${q}"},{"id":"${q}","title":"x"}]}`,
      });
      expect(batch.status, batch.text).toBe(200);
      expect(batch.json.data.failed).toBe(2);
    }
  });

  test("__proto__, constructor and other JavaScript names are names like any other", async () => {
    const evil =
      '{"id":"p","title":"thing","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const batch = await server.raw("POST", "/v1/indexes/things/documents/batch", {
      body: `{"documents":[${evil}],"__proto__":{"action":"delete"}}`,
    });
    expect(batch.status, batch.text).toBeLessThan(500);
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", "length"]) {
      const bodies = [
        `{"q":"thing","filters":{"${name}":"a"}}`,
        `{"q":"thing","filter_by":"${name}:=a"}`,
        `{"q":"thing","sort_by":"${name}:asc"}`,
        `{"q":"thing","query_by":"${name}"}`,
      ];
      for (const body of bodies)
        expectRefused(await server.raw("POST", "/v1/indexes/things/query", { body }), 400);
      const lenient = `{"q":"thing","facets":["${name}"],"fields":["${name}"],"${name}":{"x":1}}`;
      const reply = await server.raw("POST", "/v1/indexes/things/query", { body: lenient });
      expect(reply.status, reply.text).toBe(200);
      expectRefused(await server.raw("GET", `/v1/indexes/${name}/settings`), 404);
    }
    expectRefused(
      await server.post("/v1/indexes", {
        name: "odd",
        schema: { fields: [{ name: "__proto__", type: "string" }] },
      }),
      400,
    );
    await server.raw("DELETE", "/v1/indexes/things/documents/p");
  });

  test("out-of-range numbers crash neither the batch nor the server", async () => {
    const numbers = [
      "1e999",
      "-1e999",
      "1e-999",
      "9".repeat(400),
      `0.${"1".repeat(5000)}`,
      "-0",
      "1E+2",
      "2147483648",
      "9223372036854775808",
    ];
    for (const number of numbers) {
      for (const field of ["price", "stock", "big", "sizes", "ratios"]) {
        const value = field.endsWith("s") ? `[${number}]` : number;
        const reply = await server.raw("POST", "/v1/indexes/things/documents/batch", {
          body: `{"documents":[{"id":"n","${field}":${value}}]}`,
        });
        expect(reply.status, reply.text.slice(0, 300)).toBe(200);
      }
      for (const name of ["page", "per_page", "num_typos", "max_facet_values"]) {
        const reply = await server.raw("POST", "/v1/indexes/things/query", {
          body: `{"q":"thing","${name}":${number}}`,
        });
        expect(reply.status, reply.text.slice(0, 300)).toBeLessThan(500);
      }
    }
    await server.raw("DELETE", "/v1/indexes/things/documents/n");
  });
});

describe.each(SERVERS)("excessive input over %s", (_http, server) => {
  test("mebibyte strings are refused where they do not fit", async () => {
    const long = "x".repeat(1024 * 1024);
    expectRefused(
      await server.raw("POST", "/v1/indexes/things/query", { body: JSON.stringify({ q: long }) }),
    );
    expectRefused(
      await server.raw("POST", "/v1/indexes/things/query", {
        body: JSON.stringify({ q: "a ".repeat(400_000) }),
      }),
    );
    expectRefused(
      await server.raw("POST", "/v1/indexes/things/query", {
        body: JSON.stringify({ q: "a", filter_by: `brand:=${long}` }),
      }),
    );
    expectRefused(
      await server.raw("POST", "/v1/indexes", { body: JSON.stringify({ name: long, schema: SCHEMA }) }),
    );
    expectRefused(await server.raw("GET", `/v1/indexes/${"n".repeat(7000)}`));
    const batch = await server.post("/v1/indexes/things/documents/batch", {
      documents: [
        { id: "big", title: long },
        { id: "fits", title: "word ".repeat(200_000) },
        { id: "i".repeat(5000), title: "x" },
        { id: "deep", title: "x", extra: JSON.parse(nested(200, "[", "]")) },
      ],
    });
    expect(batch.status, batch.text.slice(0, 300)).toBe(200);
    expect(batch.json.data.errors.map((error) => error.index)).toEqual([0, 2, 3]);
    await server.delete("/v1/indexes/things/documents/fits");
  });

  test("a filter of 10,000 clauses is answered or refused", async () => {
    const clauses = Array.from({ length: 10_000 }, (_, i) => `stock:=${i}`);
    for (const filter_by of [
      clauses.join(" || "),
      clauses.join(" && "),
      `stock:[${clauses.map((_, i) => i).join(",")}]`,
    ]) {
      const reply = await server.query("things", { q: "*", filter_by });
      expect(reply.status, reply.text.slice(0, 300)).toBeLessThan(500);
    }
    const parentheses = `${"(".repeat(10_000)}stock:=1${")".repeat(10_000)}`;
    expectRefused(await server.query("things", { q: "*", filter_by: parentheses }), 400);
  });

  test("ten thousand bad changes to one document are refused in one pass", async () => {
    const documents = Array.from({ length: 10_000 }, (_, i) => ({ id: "1", stock: `no number ${i}` }));
    const before = server.cpuSeconds();
    const reply = await server.post("/v1/indexes/things/documents/batch", { action: "update", documents });
    expect(reply.status, reply.text.slice(0, 300)).toBe(200);
    expect(reply.json.data.failed).toBe(10_000);
    expect(server.cpuSeconds() - before).toBeLessThan(10);
  });

  test("two different Content-Length headers are refused", async () => {
    const head = "POST /v1/indexes/things/query HTTP/1.1\r\ncontent-length: 2\r\ncontent-length: 3\r\n";
    expect(await statusOf(server, head)).toBe(400);
  });

  test("bodies that are too large and batches with too many documents are refused", async () => {
    const many = JSON.stringify({ documents: Array.from({ length: 10_001 }, (_, i) => ({ id: `m${i}` })) });
    expectRefused(await server.raw("POST", "/v1/indexes/things/documents/batch", { body: many }), 413);
    const declared = await server.raw("POST", "/v1/indexes/things/query", {
      headers: { "content-length": "0" },
    });
    expectRefused(declared, 400);
    expect(
      await statusOf(
        server,
        `POST /v1/indexes/things/documents/batch HTTP/1.1\r\ncontent-length: 99999999999\r\n`,
      ),
    ).toBe(413);
  });
});

describe.each(SERVERS)("requests for missing things over %s", (_http, server) => {
  test.each(REFUSED_REQUESTS)("%s", async (_what, status, method, path, options) => {
    expectRefused(await server.call(method, path, options), status);
  });

  test("paths that cannot be decoded or name nothing are refused", async () => {
    for (const path of [
      "/v1/indexes/%ff",
      "/v1/indexes/a%00b",
      "/v1/indexes/..%2f..",
      "/v1/indexes/things/documents/%e0%a4%a",
    ]) {
      const reply = await server.raw("GET", path);
      expect(reply.status, `${path}: ${reply.text}`).toBeGreaterThanOrEqual(400);
      expect(reply.status, `${path}: ${reply.text}`).toBeLessThan(500);
    }
  });
});

describe.each(SERVERS)("connections over %s", (_http, server) => {
  test("connections that end midway leave nothing behind", async () => {
    for (let i = 0; i < 100; i++) {
      const socket = await server.socket();
      socket.on("error", () => undefined);
      const path = i % 2 === 0 ? "documents/batch" : "documents/import";
      socket.write(
        `POST /v1/indexes/things/${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ADMIN_KEY}\r\n`,
      );
      if (i % 3 > 0) socket.write("content-type: application/json\r\ncontent-length: 100000\r\n\r\n");
      if (i % 3 > 1) socket.write(`{"documents":[{"id":"cut`);
      await sleep(1);
      socket.destroy();
    }
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => server.query("things", { q: "thing" })),
    );
    expect(replies.every((reply) => reply.status === 200)).toBe(true);
    expect((await server.get("/v1/indexes/things/documents/cut")).status).toBe(404);
  });

  test("clients that leave before the answer delay nobody", async () => {
    const body = JSON.stringify({ q: "thing", facets: ["brand"] });
    for (let i = 0; i < 100; i++) {
      const socket = await server.socket();
      socket.on("error", () => undefined);
      socket.write(requestHead("POST", "/v1/indexes/things/query", body.length) + body);
      if (i % 2 === 0) await sleep(1);
      socket.destroy();
    }
    expect((await server.query("things", { q: "thing" })).status).toBe(200);
  });

  test("a body that arrives byte by byte is answered", async () => {
    const body = JSON.stringify({ q: "thing" });
    const sockets = await Promise.all(Array.from({ length: 50 }, () => server.socket()));
    for (const socket of sockets) socket.write(requestHead("POST", "/v1/indexes/things/query", body.length));
    const answers = sockets.map(async (socket) => String((await once(socket, "data"))[0]));
    for (const byte of body) {
      for (const socket of sockets) socket.write(byte);
      await sleep(5);
      expect((await server.get("/health/live")).status).toBe(200);
    }
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200/);
    for (const socket of sockets) socket.destroy();
  });

  test("bytes that are not HTTP delay nobody", async () => {
    for (const line of [
      "\x16\x03\x01\x02\x00\x01\x00",
      "GET\r\n\r\n",
      "\0".repeat(1000),
      "A".repeat(100_000),
      "GET / HTTP/9.9\r\n\r\n",
    ]) {
      const socket = await server.socket();
      socket.on("error", () => undefined);
      socket.write(line);
      await sleep(10);
      socket.destroy();
    }
    expect((await server.get("/health/live")).status).toBe(200);
  });

  test("memory returns to its former size", async () => {
    const large = JSON.stringify({ q: "x".repeat(500_000) });
    const round = async (): Promise<number> => {
      for (let i = 0; i < effort(4, 10); i++) {
        await Promise.all(
          Array.from({ length: 20 }, () => server.raw("POST", "/v1/indexes/things/query", { body: large })),
        );
      }
      return server.residentMiB() ?? 0;
    };
    const before = await round();
    for (let i = 0; i < effort(1, 3); i++) await round();
    for (let times = 0; (await round()) >= before + 100; times++)
      expect(times, `memory near ${before} MiB`).toBeLessThan(10);
  });
});

function expectRefused(reply: Reply, status?: number): void {
  expect(reply.status, reply.text.slice(0, 500)).toBeGreaterThanOrEqual(400);
  expect(reply.status, reply.text.slice(0, 500)).toBeLessThan(500);
  if (status !== undefined) expect(reply.status, reply.text.slice(0, 500)).toBe(status);
  expect(reply.json.error, reply.text).toMatch(/\S{2,}/);
  expect(reply.json.code).toMatch(new RegExp(`^SK-[A-Z]+-${reply.status}$`));
}
