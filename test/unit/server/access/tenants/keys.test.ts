// Keys and permissions: values, scopes, patterns, expiry, delegating rights, the end of a month.
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findAdminKey } from "../../../../../server/access/tenants/admin-key.js";
import {
  hashKey,
  type KeyDraft,
  keyView,
  newKeyValue,
  readKey,
} from "../../../../../server/access/tenants/keys.js";
import { secondsToNextMonth } from "../../../../../server/access/tenants/month-counts.js";
import { checkRights, Doorkeeper, type Principal } from "../../../../../server/access/tenants/principal.js";
import { allows, patternMatches } from "../../../../../server/access/tenants/scopes.js";
import { makeToken } from "../../../../../server/access/tenants/search-token.js";
import type { KeyRecord } from "../../../../../server/catalog/records/key.js";
import { apply, type CatalogState, EMPTY_STATE } from "../../../../../server/catalog/state.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";

const NOW = new Date("2030-06-15T12:00:00Z");
const ADMIN = "bootstrap-key-for-tests";

describe("index patterns", () => {
  test.each([
    ["*", "anything", true],
    ["products*", "products", true],
    ["products*", "products_de", true],
    ["products*", "my_products", false],
    ["*_de", "products_de", true],
    ["a*b*c", "aXXbYYc", true],
    ["a*b*c", "aXXbYY", false],
    ["products", "product", false],
    ["", "", true],
  ])("%s on %s", (pattern, name, matches) => expect(patternMatches(pattern, name)).toBe(matches));

  test.each([
    ["*", "a*", true],
    ["a*", "ab*", true],
    ["ab*", "a*", false],
    ["a", "*", false],
    ["a*", "*", false],
  ])("%s covers %s", (wide, narrow, covers) => expect(patternMatches(wide, narrow)).toBe(covers));

  test("need no exponential time", () => {
    expect(patternMatches(`${"*a".repeat(50)}b`, "a".repeat(120))).toBe(false);
  });
});

test("admin includes every scope, other scopes only themselves", () => {
  expect(allows(["admin"], "documents")).toBe(true);
  expect(allows(["search"], "search")).toBe(true);
  expect(allows(["search", "keys"], "documents")).toBe(false);
});

describe("a key body", () => {
  const all = {
    scopes: ["admin"],
    indexes: ["*"],
    expiresAt: null,
    rateLimit: null,
    rateLimitCounts: "slots",
  } as const;
  const read = (
    body: unknown,
    grantor: Parameters<typeof readKey>[2] = all,
    current: KeyRecord | null = null,
  ) => readKey(body, current, grantor, DEFAULT_LIMITS, NOW);

  test("has defaults", () => {
    expect(read({ name: "web", scopes: ["search", "search"] })).toEqual({
      name: "web",
      scopes: ["search"],
      indexes: ["*"],
      expiresAt: null,
      rateLimit: null,
      rateLimitCounts: "slots",
    });
  });

  test("normalises its expiry time", () => {
    const draft = read({ name: "web", scopes: ["search"], expires_at: "2031-01-01T00:00:00+02:00" });
    expect(draft.expiresAt).toBe("2030-12-31T22:00:00.000Z");
  });

  test("may expire on a leap day", () => {
    const read1 = (expires_at: string) => read({ name: "web", scopes: ["search"], expires_at }).expiresAt;
    expect(read1("2032-02-29")).toBe("2032-02-29T00:00:00.000Z");
    expect(read1("2032-02-29T00:30:00+01:00")).toBe("2032-02-28T23:30:00.000Z");
  });

  test("of a PATCH keeps omitted members and clears null ones", () => {
    const current = {
      ...read({ name: "web", scopes: ["search"], rate_limit: 5, indexes: ["a*"] }),
    } as KeyRecord;
    expect(read({ rate_limit: null }, all, current)).toMatchObject({
      name: "web",
      rateLimit: null,
      indexes: ["a*"],
    });
    expect(read({ indexes: null }, all, current).indexes).toEqual(["*"]);
  });

  test.each([
    [{ scopes: ["search"] }, /^name is missing/],
    [{ name: " ", scopes: ["search"] }, /^name must not be empty/],
    [{ name: "a" }, /^scopes is missing/],
    [{ name: "a", scopes: [] }, /^scopes must name at least one/],
    [{ name: "a", scopes: ["root"] }, /^scopes\[0\] must be one of search, events/],
    [{ name: "a", scopes: ["search"], indexes: ["A"] }, /^indexes\[0\] must be an index name/],
    [{ name: "a", scopes: ["search"], expires_at: "tomorrow" }, /^expires_at must be an ISO 8601 time/],
    [{ name: "a", scopes: ["search"], expires_at: "2031-02-31" }, /^expires_at must be an ISO 8601 time/],
    [
      { name: "a", scopes: ["search"], expires_at: "2031-02-29T10:00:00Z" },
      /^expires_at must be an ISO 8601/,
    ],
    [
      { name: "a", scopes: ["search"], expires_at: "2031-04-31T10:00+02:00" },
      /^expires_at must be an ISO 8601/,
    ],
    [
      { name: "a", scopes: ["search"], expires_at: "2031-01-01T25:00:00Z" },
      /^expires_at must be an ISO 8601/,
    ],
    [{ name: "a", scopes: ["search"], expires_at: "2020-01-01" }, /^expires_at must be in the future/],
    [{ name: "a", scopes: ["search"], rate_limit: 0 }, /^rate_limit must be an integer/],
    [{ name: "a", scopes: ["search"], scope: "x" }, /^scope is unknown/],
  ])("%j is refused", (body, message) => expect(() => read(body)).toThrow(message));

  test("of a PATCH keeps what an older key's rate limit counts", () => {
    const { rateLimitCounts: _, ...older } = read({ name: "web", scopes: ["search"], rate_limit: 5 });
    const patched = (body: object) => read(body, all, older as KeyRecord).rateLimitCounts;
    expect(patched({ rate_limit: 6 })).toBe("requests");
    expect(patched({ rate_limit_counts: "slots" })).toBe("slots");
  });

  test("cannot grant what the grantor lacks", () => {
    const grantor = { ...all, scopes: ["keys", "search"], indexes: ["shop_*"] } as const;
    const body = { name: "a", scopes: ["search"], indexes: ["shop_de*"] };
    expect(read(body, grantor).indexes).toEqual(["shop_de*"]);
    expect(() => read({ ...body, scopes: ["admin"] }, grantor)).toThrow(
      expect.objectContaining({ code: "SK-SYS-403" }),
    );
    expect(() => read({ ...body, indexes: ["*"] }, grantor)).toThrow(
      expect.objectContaining({ code: "SK-SYS-403" }),
    );
  });
});

describe("a key made by an expiring, limited key", () => {
  const maker = {
    scopes: ["keys", "search"],
    indexes: ["*"],
    expiresAt: "2031-01-01T00:00:00.000Z",
    rateLimit: 10,
    rateLimitCounts: "slots",
  } as const;
  const bounded = { name: "a", scopes: ["search"], expires_at: "2031-01-01T01:00:00+01:00", rate_limit: 10 };
  const read = (body: object, current: KeyDraft | null = null) =>
    readKey(body, current as KeyRecord | null, maker, DEFAULT_LIMITS, NOW);

  test("counts slots if its maker's limit does", () => {
    expect(() => read({ ...bounded, rate_limit_counts: "requests" })).toThrow(/rate_limit_counts "slots"/);
  });

  test("may have the same or narrower bounds", () => {
    expect(read(bounded)).toMatchObject({ expiresAt: maker.expiresAt, rateLimit: 10 });
    expect(read({ ...bounded, expires_at: "2030-07-01", rate_limit: 1 }).rateLimit).toBe(1);
  });

  test.each([
    [{ expires_at: null }, /^your key expires at 2031-01-01T00:00:00.000Z; keys that it creates or changes/],
    [{ expires_at: "2031-01-01T00:00:01Z" }, /^your key expires at/],
    [{ rate_limit: null }, /^your key is limited to 10 requests per second; keys that it creates or changes/],
    [{ rate_limit: 11 }, /^your key is limited to 10/],
  ])("cannot be created or changed with %j", (change, message) => {
    const refusal = expect.objectContaining({ code: "SK-SYS-403", message: expect.stringMatching(message) });
    expect(() => read({ ...bounded, ...change })).toThrow(refusal);
    expect(() => read(change, read(bounded))).toThrow(refusal);
  });

  test("cannot keep wider bounds through another change", () => {
    expect(() => read({ name: "b" }, { ...read(bounded), expiresAt: null })).toThrow(/^your key expires/);
  });
});

describe("the doorkeeper", () => {
  const value = newKeyValue();
  const stored: KeyRecord = {
    id: 5,
    tenant: 2,
    name: "web",
    hash: hashKey(value),
    prefix: value.slice(0, 10),
    scopes: ["search"],
    indexes: ["shop*"],
    expiresAt: "2030-07-01T00:00:00.000Z",
    rateLimit: 3,
    createdAt: NOW.toISOString(),
  };
  const tenants = ["default", "other"].map((name, i) => ({
    id: i + 1,
    name,
    plan: "default",
    createdAt: "",
  }));
  const state = [
    ...tenants.map((tenant) => ({ type: "tenant.put", tenant }) as const),
    { type: "key.put", key: stored } as const,
  ].reduce<CatalogState>((at, command) => apply(at, command).state, EMPTY_STATE);
  const doorkeeper = new Doorkeeper(ADMIN, DEFAULT_LIMITS);
  const identify = (header: string, tenant = "", now = NOW.getTime()): Principal =>
    doorkeeper.identify(header, tenant, state, now);

  test("knows keys by their hash", () => {
    expect(identify(`Bearer ${value}`)).toEqual({
      tenant: 2,
      keyId: 5,
      rateLimitCounts: "requests",
      scopes: ["search"],
      indexes: ["shop*"],
      rateLimit: 3,
      valueHash: stored.hash,
      token: null,
    });
    expect(identify(`bearer  ${value} `).keyId).toBe(5);
  });

  test("knows the bootstrap key, for any tenant", () => {
    expect(identify(`Bearer ${ADMIN}`)).toMatchObject({ tenant: 1, keyId: null });
    expect(identify(`Bearer ${ADMIN}`, "other").tenant).toBe(2);
    expect(() => identify(`Bearer ${ADMIN}`, "nobody")).toThrow(
      expect.objectContaining({ code: "SK-SYS-404" }),
    );
  });

  test.each([
    "",
    "Bearer",
    "Bearer ",
    value,
    `Basic ${value}`,
    `Bearer ${value}x`,
    `Bearer ${"x".repeat(600)}`,
    "Bearer hash-1",
  ])("refuses %j", (header) =>
    expect(() => identify(header)).toThrow(expect.objectContaining({ code: "SK-SYS-401" })),
  );

  test("refuses an expired key", () => {
    expect(() => identify(`Bearer ${value}`, "", Date.parse("2030-07-01T00:00:00Z"))).toThrow(/expired/);
  });

  test("checks a known key again: refused once deleted or expired, accepted while it exists", () => {
    const { state: without } = apply(state, { type: "key.delete", id: stored.id });
    const header = `Bearer ${value}`;
    for (let round = 0; round < 2; round++) {
      expect(identify(header).keyId).toBe(5);
      expect(() => doorkeeper.identify(header, "", without, NOW.getTime())).toThrow(/not valid/);
      expect(() => identify(header, "", Date.parse("2030-07-01T00:00:00Z"))).toThrow(/expired/);
    }
  });

  test("checks a known token again: refused once it or its key ends, with the key's rights of the moment", () => {
    const token = makeToken(value, stored.prefix, { expires_at: "2030-05-01T00:00:00Z", user_id: "ada" });
    const header = `Bearer ${token}`;
    const at = (time: string, when = state) => doorkeeper.identify(header, "", when, Date.parse(time));
    const { state: without } = apply(state, { type: "key.delete", id: stored.id });
    const { state: slower } = apply(state, { type: "key.put", key: { ...stored, rateLimit: 1 } });
    const { state: rotated } = apply(state, { type: "key.put", key: { ...stored, hash: hashKey("other") } });
    for (let round = 0; round < 2; round++) {
      expect(at("2030-04-30T00:00:00Z")).toMatchObject({ rateLimit: 3, token: { userId: "ada" } });
      expect(at("2030-04-30T00:00:00Z", slower).rateLimit).toBe(1);
      expect(() => at("2030-05-01T00:00:00Z")).toThrow(/token expired/);
      for (const gone of [without, rotated])
        expect(() => at("2030-04-30T00:00:00Z", gone)).toThrow(/token is not valid/);
    }
  });

  test("the bootstrap key acts for the tenant that has the name now", () => {
    const header = `Bearer ${ADMIN}`;
    expect(identify(header, "other").tenant).toBe(2);
    const renamed = [
      { type: "tenant.put", tenant: { ...tenants[1]!, name: "former" } } as const,
      { type: "tenant.put", tenant: { ...tenants[1]!, id: 3, name: "other" } } as const,
    ].reduce((before, command) => apply(before, command).state, state);
    expect(doorkeeper.identify(header, "other", renamed, NOW.getTime()).tenant).toBe(3);
    expect(() => doorkeeper.identify(header, null, state, NOW.getTime())).toThrow(/not valid/);
  });

  test("distinguishes keys, however many it has accepted", () => {
    const keys = Array.from({ length: 1_100 }, (_, i) => {
      const own = newKeyValue();
      const key = { ...stored, id: 100 + i, hash: hashKey(own), prefix: own.slice(0, 10) };
      return { own, command: { type: "key.put", key } as const };
    });
    const many = keys.reduce<CatalogState>((at, { command }) => apply(at, command).state, state);
    for (let round = 0; round < 2; round++) {
      const ids = keys.map(({ own }) => doorkeeper.identify(`Bearer ${own}`, "", many, NOW.getTime()).keyId);
      expect(ids).toEqual(keys.map((_, i) => 100 + i));
    }
  });

  test("one key in many spellings does not evict other callers", () => {
    const other = newKeyValue();
    const second: KeyRecord = { ...stored, id: 6, hash: hashKey(other), prefix: other.slice(0, 10) };
    const { state: both } = apply(state, { type: "key.put", key: second });
    const caller = (header: string): Principal => doorkeeper.identify(header, "", both, NOW.getTime());
    const known = caller(`Bearer ${value}`);
    for (let i = 0; i < 200; i++) expect(caller(`Bearer ${" ".repeat(8_000 + i)}${other}`).keyId).toBe(6);
    expect(caller(`Bearer ${value}`)).toBe(known);
  });

  test("checks scope before index", () => {
    const principal = identify(`Bearer ${value}`);
    checkRights(principal, "search", "shop_de");
    expect(() => checkRights(principal, "documents", "shop_de")).toThrow(/lacks the scope "documents"/);
    expect(() => checkRights(principal, "search", "stock")).toThrow(/does not cover this index/);
  });

  test("a key's view shows neither value nor hash", () => {
    const shown = JSON.stringify(keyView(stored));
    expect(shown).not.toContain(value);
    expect(shown).not.toContain(stored.hash);
  });
});

test("the admin key is created once, readable by the owner only, and not written when configured", () => {
  const directory = mkdtempSync(join(tmpdir(), "skein-key-"));
  const made = findAdminKey(directory, null);
  expect(made.createdIn).toBe(join(directory, "admin.key"));
  expect(statSync(made.createdIn!).mode & 0o777).toBe(0o600);
  expect(findAdminKey(directory, null)).toEqual({ value: made.value, createdIn: null });
  expect(findAdminKey(directory, "configured-key")).toEqual({ value: "configured-key", createdIn: null });
  writeFileSync(made.createdIn!, Buffer.alloc(40)); // a power failure may leave the file like this
  expect(() => findAdminKey(directory, null)).toThrow(/admin\.key contains no key; remove it/);
  rmSync(directory, { recursive: true });
});

test("a month ends on the 1st at 00:00 UTC", () => {
  expect(secondsToNextMonth(new Date("2030-12-31T23:59:59.500Z"))).toBe(1);
  expect(secondsToNextMonth(new Date("2030-02-01T00:00:00Z"))).toBe(28 * 86_400);
});
