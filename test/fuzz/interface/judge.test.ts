// Tests that the interface fuzzer's judge detects the faults that it is meant to find, in replies such as a
// faulty server would send.
import { expect, test } from "vitest";
import { OPENAPI } from "../../../server/http/openapi/document.js";
import { OpenApiContract } from "../../e2e/world/openapi-contract.js";
import type { Reply, ReplyBody } from "../../e2e/world/reply.js";
import { type Case, Judge } from "./judge.js";
import { type OpenApi, operationsOf } from "./operations.js";
import { decodeRequest } from "./request.js";
import type { Rights } from "./world.js";

const OPERATIONS = operationsOf(OPENAPI as unknown as OpenApi);
const JSON_TYPE = { "content-type": "application/json; charset=utf-8", "x-request-id": "1" };
const SEARCHER: Rights = { scopes: ["search"], indexes: ["qzacme-shoes*"] };
const NAMES = { error: "there is no such key", code: "SK-SYS-404" };

interface Given {
  operation: string;
  text: string;
  rights?: Rights | null;
  key?: string;
}

/** The judge's finding about a reply; empty if there is none. */
function verdict(given: Given, status: number, body: object, headers: Reply["headers"] = JSON_TYPE): string {
  const { operation, text, rights = SEARCHER, key = "qzacme-search" } = given;
  const tenant = key.startsWith("qz") ? key.split("-")[0]! : null;
  const one: Case = {
    request: decodeRequest(Buffer.from(`${key} ${text}`))!,
    principal: { name: key, key: "k", tenant, keyId: 1 },
    rights,
    operation: OPERATIONS.find(({ id }) => id === operation),
  };
  const reply = { status, headers, text: JSON.stringify(body), json: body as ReplyBody };
  const judge = new Judge({ contract: OpenApiContract.of(JSON.stringify(OPENAPI)), wordOf: () => "" });
  try {
    judge.check(one, reply);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

const SUGGEST = {
  operation: "suggest",
  text: 'POST /v1/indexes/qzacme-shoes/suggest\n\n{"q": "b", "suggest_by": "title"}',
};
const GET_KEY = { operation: "getKey", text: "GET /v1/keys/1" };

function suggestions(value: string): object {
  return { data: { suggestions: [{ value, field: "title", document_id: "1" }], took_ms: 1 } };
}

test("the judge accepts a good reply", () => {
  expect(verdict(SUGGEST, 200, suggestions("qzacmeshoes boot"))).toBe("");
  expect(verdict(GET_KEY, 404, NAMES)).toBe("");
});

test("the judge notices another tenant's data", () => {
  expect(verdict(SUGGEST, 200, suggestions("a qzboltshoes boot"))).toContain("is told of qzbolt");
  expect(verdict(GET_KEY, 404, { ...NAMES, error: "not of QZBOLT" })).toContain("is told of qzbolt");
  const expired = { ...SUGGEST, rights: null };
  expect(verdict(expired, 404, { ...NAMES, error: "not of qzacme" })).toContain("is told of qzacme:");
  const text = SUGGEST.text.replace("acme", "bolt");
  expect(verdict({ ...SUGGEST, text, rights: null }, 404, { ...NAMES, error: "qzbolt-shoes" })).toBe("");
  expect(verdict({ ...SUGGEST, text }, 404, { ...NAMES, error: "qzboltshoes boot" })).toContain(
    "qzboltshoes",
  );
  const anyone = { ...SUGGEST, key: "garbage", rights: null };
  const unknown = { error: "the key is not qzacme-shoes", code: "SK-SYS-401" };
  const headers = { ...JSON_TYPE, "www-authenticate": "Bearer" };
  expect(verdict({ ...anyone, text: "POST /v1/indexes/x/suggest" }, 401, unknown, headers)).toContain(
    "qzacme",
  );
});

test("the judge lets a reply repeat what the request said", () => {
  const text = "GET /v1/indexes/qz%62olt-shoes/suggest";
  const missing = { error: "the path takes POST, not for qzbolt-shoes", code: "SK-SYS-405" };
  expect(verdict({ operation: "", text }, 405, missing, { ...JSON_TYPE, allow: "POST" })).toBe("");
});

test("the judge lets the bootstrap key see the usage of all tenants, or of the one it names", () => {
  const usage = (header: string): string => {
    const counted = { used: 0, limit: null };
    const tenant = {
      ...{ id: 1, name: "qzacme", plan: "default", searches: counted, coach: counted, documents: counted },
      ...{ indexes: counted, disk_bytes: counted, memory_bytes: counted },
    };
    const given = { operation: "usage", text: `GET /v1/usage${header}`, key: "bootstrap" };
    const data = { month: "2031-01", resets_at: "2031-02-01T00:00:00.000Z", tenants: [tenant] };
    return verdict(given, 200, { data });
  };
  expect(usage("")).toBe("");
  expect(usage("\nx-skein-tenant: 2")).toContain("is told of qzacme");
});

test("the judge lets the HTTP library refuse a long head, with an envelope or without", () => {
  const long = { ...GET_KEY, text: `${GET_KEY.text}\nx-long: ${"a".repeat(16_000)}` };
  const refusal = { error: "the request head is larger than 16384 bytes", code: "SK-SYS-431" };
  expect(verdict(long, 431, refusal)).toBe("");
  expect(verdict(long, 431, {}, {})).toBe("");
  expect(verdict(long, 414, {}, {})).toContain("a strange head is answered 414");
  expect(verdict(GET_KEY, 431, refusal)).toContain("the status is not in");
});

test("the judge notices an index that the key does not cover", () => {
  expect(verdict(SUGGEST, 200, suggestions("qzacmeprivate boot"))).toContain("is told of qzacmeprivate");
  const text = SUGGEST.text.replace("shoes", "private");
  expect(verdict({ ...SUGGEST, text }, 200, suggestions("boot"))).toContain("does not cover qzacme-private");
  const swap = 'POST /v1/indexes/qzacme-shoes/swap-with\n\n{"target_index": "qzacme-private"}';
  const swapped = { data: { index: "qzacme-shoes", target: "qzacme-private", dropped: false } };
  const rights = { scopes: ["indexes"], indexes: ["qzacme-shoes"] };
  expect(verdict({ operation: "swapIndexes", text: swap, rights }, 200, swapped)).toContain("of the body");
});

test("the judge notices a success without permission", () => {
  const good = suggestions("boot");
  expect(verdict({ ...SUGGEST, rights: null }, 200, good)).toContain("has no valid key");
  expect(verdict({ ...SUGGEST, rights: { ...SEARCHER, scopes: ["keys"] } }, 200, good)).toContain(
    "lacks the scope",
  );
  expect(verdict({ operation: "listTenants", text: "GET /v1/tenants" }, 200, { data: [] })).toContain(
    "bootstrap",
  );
});

test("the judge notices accepted requests that the OpenAPI document does not describe", () => {
  const request = (body: string): Given => ({
    ...SUGGEST,
    text: `POST /v1/indexes/qzacme-shoes/suggest\n\n${body}`,
  });
  expect(verdict(request('{"q": 1, "suggest_by": "title"}'), 200, suggestions("boot"))).toContain(
    "request does not fit",
  );
  expect(verdict(request("{q}"), 200, suggestions("boot"))).toContain("no JSON");
});

test("the judge notices replies that the OpenAPI document does not promise", () => {
  expect(verdict(SUGGEST, 503, NAMES)).toContain("answered 503");
  expect(verdict(SUGGEST, 418, NAMES)).toContain("the status is not in");
  expect(verdict(SUGGEST, 200, { data: {} })).toContain("does not fit");
  expect(verdict(SUGGEST, 200, { ...suggestions("boot"), more: 1 })).toContain("does not fit");
  expect(verdict(SUGGEST, 404, { ...NAMES, code: "SK-SYS-400" })).toContain("404 with the code SK-SYS-400");
  expect(verdict(SUGGEST, 404, { ...NAMES, code: "SK-DS-404" })).toContain("SK-DS-404 of suggest");
  expect(verdict(GET_KEY, 404, NAMES, { "content-type": JSON_TYPE["content-type"] })).toContain(
    "x-request-id",
  );
  expect(verdict(GET_KEY, 429, { ...NAMES, code: "SK-SYS-429" })).toContain("without Retry-After");
  expect(verdict(GET_KEY, 404, NAMES, { ...JSON_TYPE, "content-type": "text/html" })).toContain(
    "content type",
  );
});
