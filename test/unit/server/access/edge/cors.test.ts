// Which cross-origin headers a reply contains.
import { expect, test } from "vitest";
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
