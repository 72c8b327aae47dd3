// The list of audited operations agrees with the route table, and an answered request gives the right audit
// line.
import { expect, test } from "vitest";
import { entryOf, OPERATIONS } from "../../../../../server/access/audit/operations.js";
import { ROUTES } from "../../../../../server/http/routes/table.js";

test("every operation that may change something is explicitly audited or exempt", () => {
  const changing = ROUTES.filter(({ method }) => method !== "GET").map(({ operation }) => operation);
  expect(Object.keys(OPERATIONS).sort()).toEqual(changing.sort());
});

test("each action has one operation, and each target is in the path or in the reply", () => {
  const audited = Object.entries(OPERATIONS).flatMap(([operation, one]) =>
    one === null ? [] : [{ operation, ...one }],
  );
  expect(new Set(audited.map(({ action }) => action)).size).toBe(audited.length);
  const answered = audited.filter(
    ({ operation, target }) =>
      !ROUTES.find((route) => route.operation === operation)!.path.includes(`{${target}}`),
  );
  // The targets of these operations come from the replies, which the end-to-end test checks.
  expect(answered.map(({ operation }) => operation).sort()).toEqual([
    "copySettings",
    "createDataSource",
    "createIndex",
    "createKey",
    "createRankingRule",
    "createSnapshot",
    "createSynonyms",
    "createTenant",
    "swapIndexes",
  ]);
});

const asked = { operation: "createKey", params: {}, tenant: "default", tenantId: 1, keyId: 7 };
const outcome = { requestId: "r-1", address: "127.0.0.1", status: 201, data: undefined };

test("a line has the id of what was created and nothing else from the reply", () => {
  const data = { id: 3, name: "web", key: "sk_secret" };
  const entry = entryOf(asked, { ...outcome, data });
  expect(entry).toEqual({
    time: expect.any(String),
    request_id: "r-1",
    tenant: "default",
    tenant_id: 1,
    key_id: 7,
    address: "127.0.0.1",
    action: "key.create",
    index: null,
    target: "3",
    status: 201,
  });
});

test("refusals and unaudited operations have no line, failures have one", () => {
  expect(entryOf(asked, { ...outcome, status: 403 })).toBeNull();
  expect(entryOf({ ...asked, operation: "query" }, { ...outcome, status: 200 })).toBeNull();
  expect(entryOf({ ...asked, operation: "getKey" }, { ...outcome, status: 200 })).toBeNull();
  expect(entryOf(asked, { ...outcome, status: 503 })).toMatchObject({ status: 503, target: null });
});
