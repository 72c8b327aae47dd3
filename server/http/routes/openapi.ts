// The route GET /openapi.json, which returns the OpenAPI document.
import { OPENAPI } from "../openapi/document.js";
import { jsonReply } from "../respond.js";
import type { Route } from "../route.js";

export const openapiRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/openapi.json",
    operation: "openapi",
    access: "open",
    handle: () => jsonReply(200, OPENAPI),
  },
];
