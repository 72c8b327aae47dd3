// The table of all routes. A test compares it with the OpenAPI document.
import type { Route } from "../route.js";
import { analyticsRoutes } from "./analytics.js";
import { auditRoutes } from "./audit.js";
import { coachRoutes } from "./coach.js";
import { copySwapRoutes } from "./copy-swap.js";
import { curationRoutes } from "./curation.js";
import { documentRoutes } from "./documents.js";
import { healthRoutes } from "./health.js";
import { indexRoutes } from "./indexes.js";
import { keyRoutes } from "./keys.js";
import { metricsRoutes } from "./metrics.js";
import { openapiRoutes } from "./openapi.js";
import { queryRoutes } from "./query.js";
import { snapshotRoutes } from "./snapshots.js";
import { sourceRoutes } from "./sources.js";
import { tenantRoutes } from "./tenants.js";

export const ROUTES: readonly Route[] = [
  ...healthRoutes,
  ...metricsRoutes,
  ...openapiRoutes,
  ...indexRoutes,
  ...copySwapRoutes,
  ...documentRoutes,
  ...queryRoutes,
  ...curationRoutes,
  ...sourceRoutes,
  ...analyticsRoutes,
  ...coachRoutes,
  ...keyRoutes,
  ...tenantRoutes,
  ...snapshotRoutes,
  ...auditRoutes,
];
