// The route GET /metrics, which returns Prometheus text. It is outside /v1 because it covers all tenants, and
// requires the metrics key if one is configured.
import { carriesKey } from "../../access/tenants/principal.js";
import { SkeinError } from "../../ground/errors.js";
import type { Route, RouteRequest } from "../route.js";
import type { HttpReply } from "../transport/port.js";

export const metricsRoutes: readonly Route[] = [
  { method: "GET", path: "/metrics", operation: "metrics", access: "open", handle: metrics },
];

async function metrics({ services, request }: RouteRequest): Promise<HttpReply> {
  const { metricsKey } = services.settings.now;
  if (metricsKey !== null && !carriesKey(request.header("authorization"), metricsKey)) {
    throw new SkeinError(
      "SK-SYS-401",
      "the metrics key is required: send the header Authorization: Bearer KEY",
    );
  }
  const { scrape } = services;
  return { status: 200, headers: [["content-type", scrape.contentType]], body: await scrape.text() };
}
