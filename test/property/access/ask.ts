// Sends requests with the model's credentials, and creates tokens as docs/api.md describes.
import { createHash, createHmac } from "node:crypto";
import { type CallOptions, expectStatus, type TestServer } from "../../e2e/world/harness.js";
import type { Reply } from "../../e2e/world/reply.js";
import type { Credential, TenantModel } from "../../oracle/access.js";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Expected status; any other fails the test. */
  readonly status: number;
}

/** Sends a request with the credential and with the tenant's name in a header. */
export async function askAs(
  server: TestServer,
  by: Credential,
  { name }: TenantModel,
  { method, path, body, status }: Asked,
): Promise<Reply> {
  const reply = await server.call(method, path, { ...keyOf(by), headers: { "x-skein-tenant": name }, body });
  if (reply.status === status) return reply;
  const what = JSON.stringify({ method, path, body, by }, null, 1);
  throw new Error(`expected ${status}, got ${reply.status} ${reply.text.slice(0, 300)}: ${what}`);
}

/** Sends a request with the bootstrap key, on behalf of a tenant if one is given. */
export async function askAsBootstrap(
  server: TestServer,
  method: string,
  path: string,
  status: number,
  body?: unknown,
  tenant?: TenantModel,
): Promise<Reply> {
  const headers: Record<string, string> = tenant === undefined ? {} : { "x-skein-tenant": tenant.name };
  const reply = await server.call(method, path, { body, headers });
  expectStatus(reply, status);
  return reply;
}

function keyOf(by: Credential): CallOptions {
  switch (by.kind) {
    case "none":
      return { key: null };
    case "unknown":
      return { key: "sk_unknown" };
    case "bootstrap":
      return {};
    case "key":
      return { key: by.value.text };
    case "token":
      return { key: by.token.text };
  }
}

/**
 * Signs a search token as docs/api.md describes. It names the key value `key`; a genuine token is signed with
 * the same value, so `secretOf` equals `key`.
 */
export function signedToken(key: string, members: object, secretOf: string): string {
  const json = Buffer.from(JSON.stringify(members)).toString("base64url");
  const text = `skt_${key.slice(0, 10)}.${json}`;
  const secret = createHash("sha256").update(secretOf).digest();
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}
