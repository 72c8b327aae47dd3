// The HTTP parts that need no socket: JSON bodies, the body queue, the router, the OpenAPI document.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../../../server/ground/limits.js";
import { parseJson } from "../../../../server/http/json.js";
import { OPENAPI } from "../../../../server/http/openapi/document.js";
import { Router } from "../../../../server/http/router.js";
import { ROUTES } from "../../../../server/http/routes/table.js";
import { SharedAmount } from "../../../../server/http/shared-amount.js";
import { BodyMemory } from "../../../../server/http/transport/body-memory.js";
import { BodyQueue, declaredLength } from "../../../../server/http/transport/body-queue.js";

const bodyMemory = (bytesMax: number): BodyMemory =>
  new BodyMemory(bytesMax, bytesMax, new SharedAmount(SharedAmount.memory(1), 0, 1024));

describe("a JSON body", () => {
  const parse = (text: string | Uint8Array): unknown =>
    parseJson(Buffer.from(text as string), { depthMax: 64, code: "SK-SE-400", exactIntegers: true });

  test("equals JSON.parse", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        expect(parseJson(Buffer.from(text), { depthMax: 64, code: "SK-SE-400" })).toEqual(JSON.parse(text));
      }),
      { numRuns: 200 },
    );
  });

  test("keeps integers beyond 2^53 exact, and only those", () => {
    const text =
      '{"a":9007199254740993,"b":[-9223372036854775808],"c":"9007199254740993","d":1e30,"f":1234567890123456}';
    expect(parse(text)).toEqual({
      a: 9007199254740993n,
      b: [-9223372036854775808n],
      c: "9007199254740993",
      d: 1e30,
      f: 1234567890123456,
    });
    expect(parse('{"k":"\\"9007199254740993"}')).toEqual({ k: '"9007199254740993' });
    expect(() => parse("[01234567890123456789]")).toThrow(/not valid JSON/);
  });

  test("rounds nothing but what JSON.parse rounds", () => {
    const digits = fc.stringMatching(/^(0|[1-9]\d{0,24})(\.\d{1,24})?([eE][+-]?\d{1,20})?$/);
    fc.assert(
      fc.property(digits, fc.boolean(), (text, negative) => {
        const number = (negative ? "-" : "") + text;
        expect(Number((parse(`{"k":[${number}]}`) as { k: [number | bigint] }).k[0])).toBe(Number(number));
      }),
      { numRuns: 300 },
    );
  });

  test("does not mistake a client's text for its own marker", () => {
    expect(parse('["\\u0000int:x", 9007199254740993]')).toEqual(["\u0000int:x", 9007199254740993n]);
  });

  test("accepts a long string with digits in it", () => {
    const long = `${"9".repeat(20)}${"a\\n".repeat(400_000)}`;
    expect((parse(`["${long}"]`) as string[])[0]!.length).toBe(20 + 800_000);
  });

  test("treats names like __proto__ as ordinary names", () => {
    const value = parse('{"__proto__":{"polluted":true}}') as object;
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect("polluted" in {}).toBe(false);
  });

  test.each([
    ["", /empty/],
    ["{", /not valid JSON: unexpected end/],
    ['{"a":1,}', /not valid JSON/],
    ["[".repeat(65), /^the body is nested deeper than 64 levels$/],
    [Uint8Array.of(0x22, 0xc3, 0x28, 0x22), /not valid UTF-8/],
    ['"\\ud800"', /unpaired surrogate/],
    ['{"\\udc00":1}', /unpaired surrogate/],
    ['["\\ud83d\\ud83d\\ude00"]', /unpaired surrogate/],
  ])("%j is refused", (text, message) => expect(() => parse(text)).toThrow(message));

  test.each(['"\\ud83d\\ude00"', '"[[[[\\"]]"', `${"[".repeat(64)}${"]".repeat(64)}`])(
    "%s is accepted",
    (text) => {
      expect(parse(text)).toEqual(JSON.parse(text));
    },
  );
});

describe("the body queue", () => {
  const flow = () => {
    const calls: string[] = [];
    return { calls, pause: () => void calls.push("pause"), resume: () => void calls.push("resume") };
  };
  const queue = (declared = -1, memory = bodyMemory(1e9), limits = {}) => {
    const socket = flow();
    return { socket, body: new BodyQueue(socket, declared, { ...DEFAULT_LIMITS, ...limits }, memory) };
  };
  const MIB = new Uint8Array(1024 * 1024);

  test("collects a large body in a block that is freed with the request", async () => {
    const { body } = queue(3 * MIB.length);
    const chunk = MIB.slice();
    const pieces = [1, 2, 3].map((byte) => new Uint8Array(MIB.length).fill(byte));
    const push = (piece: Uint8Array): void => {
      chunk.set(piece);
      body.push(chunk); // the transport reuses its buffer
    };
    push(pieces[0]!);
    const collected = body.collect(4 * MIB.length, "SK-SYS-413");
    push(pieces[1]!);
    push(pieces[2]!);
    body.end();
    const whole = await collected;
    expect(Buffer.compare(whole, Buffer.concat(pieces))).toBe(0);
    body.fail(new Error("the client is gone")); // the route is still reading
    expect(whole.byteLength).toBe(3 * MIB.length);
    body.close();
    expect(whole.byteLength).toBe(0);
  });

  test("collects chunks from before and after collect is called", async () => {
    const { body } = queue();
    body.push(Buffer.from("ab"));
    const whole = body.collect(10, "SK-SYS-413");
    body.push(Buffer.from("cd"));
    body.end();
    expect(Buffer.from(await whole).toString()).toBe("abcd");
  });

  test("gives a body that has arrived without a promise", () => {
    const { body } = queue(4);
    body.push(Buffer.from("ab"));
    body.push(Buffer.from("cd"));
    body.end();
    expect(Buffer.from(body.collect(4, "SK-SYS-413") as Uint8Array).toString()).toBe("abcd");
    const long = queue(-1).body;
    long.push(new Uint8Array(11));
    long.end();
    expect(() => long.collect(10, "SK-SYS-413")).toThrow(expect.objectContaining({ code: "SK-SYS-413" }));
  });

  test("refuses a declared length at once and a growing body once it is too large", async () => {
    expect(() => queue(11).body.collect(10, "SK-DOC-413")).toThrow(
      expect.objectContaining({ code: "SK-DOC-413" }),
    );
    const { body } = queue();
    const whole = body.collect(10, "SK-SYS-413");
    body.push(new Uint8Array(11));
    await expect(whole).rejects.toMatchObject({ code: "SK-SYS-413", status: 413 });
    expect(body.discarding).toBe(true);
  });

  test("pauses a socket that nobody reads and resumes it", async () => {
    const { socket, body } = queue();
    body.push(MIB);
    body.push(MIB);
    expect(socket.calls).toEqual(["pause"]);
    const stream = body.stream();
    await stream.next();
    await stream.next();
    expect(socket.calls).toEqual(["pause", "resume"]);
    body.end();
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  test("frees its memory", async () => {
    const memory = bodyMemory(2.5 * MIB.length);
    const first = queue(-1, memory).body;
    first.push(MIB);
    first.push(MIB);
    const second = queue(-1, memory).body;
    second.push(MIB);
    expect(() => second.collect(1e9, "SK-SYS-413")).toThrow(
      expect.objectContaining({ code: "SK-SYS-503", retryAfter: 1 }),
    );
    first.discard();
    expect(memory.reserve(2 * MIB.length, null)).toBe(true);
  });

  test("ends the wait for a body when the request has been answered", async () => {
    const { body } = queue(-1);
    const waiting = body.collect(10, "SK-SYS-413");
    body.close();
    await expect(waiting).rejects.toThrow("the client closed the connection");
  });

  test("gives up on a body that does not arrive", async () => {
    const { body } = queue(-1, undefined, { bodyIdleMsMax: 20 });
    await expect(body.collect(10, "SK-SYS-413")).rejects.toMatchObject({ code: "SK-SYS-408" });
    const dripping = queue(-1, undefined, { bodyIdleMsMax: 1000, bodyTotalMsMax: 60 }).body;
    const drip = setInterval(() => dripping.push(Uint8Array.of(1)), 10);
    await expect(dripping.collect(1e6, "SK-SYS-413")).rejects.toMatchObject({ code: "SK-SYS-408" });
    clearInterval(drip);
  });

  test("passes a failure on to the reader", async () => {
    const { body } = queue();
    const reading = body.stream().next();
    body.fail(new Error("gone"));
    await expect(reading).rejects.toThrow("gone");
  });

  test("reads a Content-Length", () => {
    expect(["12", "", "-1", "1e3"].map(declaredLength)).toEqual([12, -1, -1, -1]);
  });
});

describe("the router", () => {
  const router = new Router(ROUTES);
  const operation = (method: string, path: string): string | undefined =>
    router.match(method, path).route.operation;

  test("prefers literal segments to parameters and decodes parameters", () => {
    expect(operation("GET", "/v1/indexes/p/documents/export")).toBe("exportDocuments");
    expect(operation("GET", "/v1/indexes/p/documents/exports")).toBe("getDocument");
    const match = router.match("GET", "/v1/indexes/p/documents/a%2Fb%20c");
    expect(match).toMatchObject({ params: { name: "p", id: "a/b c" } });
  });

  test("gives the same match again, and tells methods apart", () => {
    const path = "/v1/indexes/p/documents/a%2Fb";
    expect(router.match("GET", path)).toBe(router.match("GET", path));
    expect(operation("HEAD", path)).toBe("getDocument");
    expect(operation("DELETE", path)).toBe("deleteDocument");
    expect(router.has("PUT", path)).toBe(false);
    const long = `/v1/indexes/p/documents/${"x".repeat(300)}`;
    expect(router.match("GET", long)).toEqual(router.match("GET", long));
  });

  test("answers HEAD wherever there is a GET, and knows a path's methods", () => {
    expect(operation("HEAD", "/v1/indexes")).toBe("listIndexes");
    const answer = (method: string, path: string) =>
      router.match(method, path).route.handle({ request: { method } } as never);
    expect(answer("PUT", "/v1/indexes")).toMatchObject({
      status: 405,
      headers: expect.arrayContaining([["allow", "POST, GET, HEAD, OPTIONS"]]),
    });
    expect(answer("OPTIONS", "/v1/indexes")).toMatchObject({ status: 204 });
    for (const path of ["/v1/indexes/", "/v2"])
      expect(() => answer("GET", path)).toThrow(expect.objectContaining({ code: "SK-SYS-404" }));
    expect(() => router.match("GET", "/v1/indexes/%ff")).toThrow(
      expect.objectContaining({ code: "SK-SYS-400" }),
    );
  });
});

describe("the OpenAPI document", () => {
  const described = Object.entries(OPENAPI.paths).flatMap(([path, item]) =>
    Object.entries(item).map(
      ([method, operation]) => `${method.toUpperCase()} ${path} ${operation.operationId}`,
    ),
  );

  test("has exactly the routes of the table", () => {
    expect(described.sort()).toEqual(
      ROUTES.map((route) => `${route.method} ${route.path} ${route.operation}`).sort(),
    );
  });

  test("declares every path parameter and resolves every reference", () => {
    for (const [path, item] of Object.entries(OPENAPI.paths)) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      for (const operation of Object.values(item)) {
        const declared = (operation.parameters ?? [])
          .filter((parameter) => parameter.in === "path")
          .map(({ name }) => name);
        expect(declared).toEqual(names);
      }
    }
    const references = [...JSON.stringify(OPENAPI).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
      (match) => match[1]!,
    );
    for (const name of references) expect(Object.keys(OPENAPI.components.schemas)).toContain(name);
    for (const name of Object.keys(OPENAPI.components.schemas)) expect(references).toContain(name);
  });

  test("requires a key exactly where the table does", () => {
    for (const route of ROUTES) {
      const item = OPENAPI.paths[route.path]!;
      const operation = item[route.method.toLowerCase() as keyof typeof item]!;
      expect(operation.security === undefined).toBe(route.access !== "open");
    }
  });
});
