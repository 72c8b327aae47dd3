// Cross-origin headers for browsers, only for the origins that the configuration names.
import type { HttpRequest } from "./port.js";

const PREFLIGHT_SECONDS = "86400";

/** The headers for an origin that the configuration allows. There are none without a configuration or an origin. */
export function corsHeaders(request: HttpRequest, allowed: readonly string[] | null): [string, string][] {
  const origin = request.header("origin");
  if (allowed === null || origin === "") return [];
  const any = allowed.includes("*");
  if (!any && !allowed.includes(origin)) return [];
  const headers: [string, string][] = [
    ["access-control-allow-origin", any ? "*" : origin],
    ["access-control-expose-headers", "x-request-id, retry-after"],
  ];
  if (!any) headers.push(["vary", "origin"]);
  if (request.method === "OPTIONS") {
    headers.push(
      ["access-control-allow-methods", "GET, POST, PATCH, DELETE"],
      ["access-control-allow-headers", "authorization, content-type, content-encoding, x-request-id"],
      ["access-control-max-age", PREFLIGHT_SECONDS],
    );
  }
  return headers;
}
