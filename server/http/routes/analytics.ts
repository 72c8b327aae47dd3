// Analytics routes, which accept events and return reports and the query log.
import {
  readInterval,
  readNamedPerson,
  readReportLimit,
  readReportWindow,
} from "../../query-log/analytics/report-request.js";
import { logNowMs } from "../../query-log/rows/time.js";
import { beaconValue } from "../body.js";
import { dataReply, NDJSON_TYPE } from "../respond.js";
import type { IndexRequest, Route } from "../route.js";
import { startedReply } from "../streams.js";
import type { HttpReply } from "../transport/port.js";

const INDEX = "/v1/indexes/{name}";
const REPORTS = `${INDEX}/analytics`;
const ANALYTICS = { access: "index", scope: "analytics", missing: "SK-IX-404" } as const;

export const analyticsRoutes: readonly Route[] = [
  {
    method: "POST",
    path: `${INDEX}/events`,
    operation: "sendEvents",
    access: "index",
    scope: "events",
    missing: "SK-IX-404",
    keyInUrl: true,
    body: beaconValue("SK-AN-400"),
    handle: events,
  },
  { method: "GET", path: `${REPORTS}/queries`, operation: "topQueries", ...ANALYTICS, handle: queries },
  { method: "GET", path: `${REPORTS}/no-results`, operation: "noResults", ...ANALYTICS, handle: noResults },
  { method: "GET", path: `${REPORTS}/summary`, operation: "summary", ...ANALYTICS, handle: summary },
  { method: "GET", path: `${REPORTS}/documents`, operation: "topDocuments", ...ANALYTICS, handle: documents },
  { method: "GET", path: `${REPORTS}/export`, operation: "exportLog", ...ANALYTICS, handle: exportLog },
  {
    method: "DELETE",
    path: `${REPORTS}/people`,
    operation: "forgetPerson",
    ...ANALYTICS,
    handle: forget,
  },
];

function events({ services, body, record, principal }: IndexRequest<unknown>): HttpReply {
  const userId = principal.token?.userId ?? null;
  const { accepted, rejected } = services.analytics.takeEvents(record, body, userId, logNowMs());
  return dataReply({ accepted: accepted.length, rejected }, 202);
}

function queries(context: IndexRequest): Promise<HttpReply> {
  return ranking(context, "queries");
}

function noResults(context: IndexRequest): Promise<HttpReply> {
  return ranking(context, "no-results");
}

function documents(context: IndexRequest): Promise<HttpReply> {
  return ranking(context, "documents");
}

async function ranking(
  { services, record, query }: IndexRequest,
  kind: "queries" | "no-results" | "documents",
): Promise<HttpReply> {
  const { limits } = services.config;
  const window = readReportWindow(query, logNowMs(), limits);
  const limit = readReportLimit(query, limits);
  return dataReply(await services.analytics.report(record, { kind, window, limit }));
}

async function summary({ services, record, query }: IndexRequest): Promise<HttpReply> {
  const window = readReportWindow(query, logNowMs(), services.config.limits);
  const interval = readInterval(query);
  return dataReply(await services.analytics.report(record, { kind: "summary", window, interval }));
}

function exportLog({ services, record, query }: IndexRequest): Promise<HttpReply> {
  const window = readReportWindow(query, logNowMs(), services.config.limits);
  return startedReply(services.analytics.export(record, window), NDJSON_TYPE);
}

async function forget({ services, record, query }: IndexRequest): Promise<HttpReply> {
  const person = readNamedPerson(query, services.config.limits);
  return dataReply({ forgotten: await services.analytics.forget(record, person) });
}
