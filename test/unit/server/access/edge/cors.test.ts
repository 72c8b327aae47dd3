// Which cross-origin headers a reply contains.
import fc from "fast-check";
import { expect, test } from "vitest";
import { CommonHeaders } from "../../../../../server/access/edge/common-headers.js";
import { corsHeaders } from "../../../../../server/access/edge/cors.js";

const SHOP = "https://shop.example";
const of = (origin: string, method: string, allowed: readonly string[] | null): Record<string, string> =>
  Object.fromEntries(corsHeaders(origin, method, allowed));

test("no origin is allowed without a configuration", () => {
  expect(of(SHOP, "OPTIONS", null)).toEqual({});
});

test("a configured origin is allowed, and every reply varies by origin", () => {
  const varying = { vary: "origin" };
  const allowed = {
    ...varying,
    "access-control-allow-origin": SHOP,
    "access-control-expose-headers": "x-request-id, retry-after",
  };
  expect(of(SHOP, "GET", [SHOP])).toEqual(allowed);
  expect(of("https://other.example", "GET", [SHOP])).toEqual(varying);
  expect(of("https://other.example", "OPTIONS", [SHOP])).toEqual(varying);
  expect(of("", "GET", [SHOP])).toEqual(varying);
  expect(of(SHOP, "OPTIONS", ["https://a.example", SHOP])).toEqual({
    ...allowed,
    "access-control-allow-methods": "GET, POST, PATCH, DELETE",
    "access-control-allow-headers":
      "authorization, content-type, content-encoding, x-request-id, x-skein-tenant",
    "access-control-max-age": "86400",
  });
});

test("with * any origin is allowed, and no reply varies", () => {
  expect(of(SHOP, "POST", ["*"])).toEqual({
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "x-request-id, retry-after",
  });
  expect(of("", "POST", ["*"])).toEqual({});
  expect(of(SHOP, "OPTIONS", [SHOP, "*"])).toMatchObject({ "access-control-allow-origin": "*" });
});

test("the common headers are those of the reply's origin, however often they are asked for", () => {
  const security = [["x-a", "b"]] as const;
  const common = new CommonHeaders(security);
  const origins = ["", "*", SHOP, "https://a.example"];
  const settings = [null, [], ["*"], [SHOP], ["https://a.example", SHOP], [SHOP, "*"]];
  const asked = fc.record({
    origin: fc.constantFrom(...origins),
    method: fc.constantFrom("GET", "OPTIONS"),
    allowed: fc.constantFrom(...settings),
  });
  fc.assert(
    fc.property(fc.array(asked), (all) => {
      for (const { origin, method, allowed } of all) {
        const block = common.of(origin, method, allowed);
        expect(block.lines).toEqual([...security, ...corsHeaders(origin, method, allowed)]);
        const text = block.lines.map(([name, value]) => `${name}: ${value}`).join("\r\n");
        expect(`${block.name}: ${block.rest}`).toBe(text);
      }
    }),
  );
});
