// The whole route table. A test compares it with the OpenAPI document.
import type { Route } from "../router.js";
import { documentRoutes } from "./documents.js";
import { healthRoutes } from "./health.js";
import { indexRoutes } from "./indexes.js";
import { keyRoutes } from "./keys.js";
import { openapiRoutes } from "./openapi.js";
import { queryRoutes } from "./query.js";
import { tenantRoutes } from "./tenants.js";

export const ROUTES: readonly Route[] = [
  ...healthRoutes,
  ...openapiRoutes,
  ...indexRoutes,
  ...documentRoutes,
  ...queryRoutes,
  ...keyRoutes,
  ...tenantRoutes,
];
