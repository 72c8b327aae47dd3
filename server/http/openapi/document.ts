// Assembles the OpenAPI 3.1 document, which is served at /openapi.json.
import { PATHS } from "./paths.js";
import { SCHEMAS } from "./schemas.js";

export const OPENAPI = {
  openapi: "3.1.0",
  info: {
    title: "Skein",
    version: "1",
    description:
      "A self-hosted, multi-tenant search service. Success bodies are {data: ...} but for the query; error bodies are " +
      "{error, code, details?}. Match on `code`.",
    license: { name: "MIT", identifier: "MIT" },
  },
  servers: [{ url: "/", description: "The server that has sent this document." }],
  security: [{ bearer: [] }],
  tags: [
    "indexes",
    "documents",
    "search",
    "rules",
    "sources",
    "coach",
    "keys",
    "tenants",
    "snapshots",
    "audit",
    "server",
  ].map((name) => ({
    name,
  })),
  paths: PATHS,
  components: {
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer" },
      metrics: { type: "http", scheme: "bearer", description: "The metrics_key, when one is configured." },
    },
    schemas: SCHEMAS,
  },
};
