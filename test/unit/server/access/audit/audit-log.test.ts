// The audit log's files: order, pages, filters, torn lines, rotation, and a disk that rejects writes.
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AuditLog } from "../../../../../server/access/audit/audit-log.js";
import type { AuditFilter } from "../../../../../server/access/audit/audit-reader.js";
import type { NewEntry } from "../../../../../server/access/audit/entry.js";
import { armFault } from "../../../../../server/ground/fault.js";
import { DEFAULT_LIMITS, type Limits } from "../../../../../server/ground/limits.js";
import { createLogger } from "../../../../../server/ground/log.js";

const ALL: AuditFilter = { beforeSeq: null, beforeMs: null, tenant: null, action: null, keyId: null };
const NEVER = new AbortController().signal;

let directory = "";
let opened: AuditLog[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "skein-audit-"));
  opened = [];
});

afterEach(async () => {
  for (const point of ["audit.before-line", "audit.during-rotation"] as const) armFault(point, null);
  for (const log of opened) await log.close();
  rmSync(directory, { recursive: true });
});

function start(limits: Partial<Limits> = {}, meter = { lines: 0, dropped: 0 }): AuditLog {
  const audit = new AuditLog({
    directory,
    durability: "os",
    limits: { ...DEFAULT_LIMITS, ...limits },
    meter,
    log: createLogger("silent"),
  });
  opened.push(audit);
  return audit;
}

function entry(n: number, members: Partial<NewEntry> = {}): NewEntry {
  return {
    time: new Date(n * 1000).toISOString(),
    request_id: `r-${n}`,
    tenant: "default",
    tenant_id: 1,
    key_id: null,
    address: "127.0.0.1",
    action: "key.create",
    index: null,
    target: `größe ${n}`,
    status: 201,
    ...members,
  };
}

async function seqs(audit: AuditLog, filter: Partial<AuditFilter> = {}, limit = 1_000): Promise<number[]> {
  const page = await audit.read({ ...ALL, ...filter }, limit, NEVER);
  return page.entries.map(({ seq }) => seq);
}

const descending = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => from - i);

test("concurrent lines are numbered in order, and a later process continues the numbering", async () => {
  const first = start();
  await Promise.all(descending(50, 1).map((n) => first.append(entry(n))));
  await first.close();
  const second = start();
  await second.append(entry(51));
  expect(await seqs(second)).toEqual(descending(51, 1));
  expect(statSync(join(directory, "audit.ndjson")).mode & 0o777).toBe(0o600);
});

test("pages of any size, across blocks and files, show each entry once", async () => {
  const audit = start({ auditFileBytesMax: 100_000, auditFilesMax: 100 });
  for (let n = 1; n <= 1_500; n++) await audit.append(entry(n));
  expect(readdirSync(directory).length).toBeGreaterThan(2);
  for (const limit of [1, 7, 999, 1_000]) {
    const seen: number[] = [];
    let beforeSeq: number | null = limit === 1 ? 20 : null;
    for (;;) {
      const { entries, next } = await audit.read({ ...ALL, beforeSeq }, limit, NEVER);
      seen.push(...entries.map(({ seq }) => seq));
      if (next === undefined) break;
      beforeSeq = next;
    }
    expect(seen).toEqual(descending(limit === 1 ? 19 : 1_500, 1));
  }
});

test("filters select by tenant, action, key and time", async () => {
  const audit = start();
  await audit.append(entry(1, { tenant: "acme" }));
  await audit.append(entry(2, { action: "index.delete" }));
  await audit.append(entry(3, { key_id: 5 }));
  expect(await seqs(audit, { tenant: "acme" })).toEqual([1]);
  expect(await seqs(audit, { action: "index.delete" })).toEqual([2]);
  expect(await seqs(audit, { keyId: 5 })).toEqual([3]);
  expect(await seqs(audit, { keyId: "bootstrap" })).toEqual([2, 1]);
  expect(await seqs(audit, { beforeMs: 2_000 })).toEqual([1]);
});

test("torn and foreign lines are left out, and the next entry starts on a new line", async () => {
  const first = start();
  for (let n = 1; n <= 2; n++) await first.append(entry(n));
  await first.close();
  const file = join(directory, "audit.ndjson");
  appendFileSync(file, 'null\n{"seq":"x"}\n{"seq":3,"time":"2031-0');
  const second = start();
  await second.append(entry(3));
  expect(await seqs(second)).toEqual([3, 2, 1]);
  expect(readFileSync(file, "utf8")).toMatch(/2031-0\n\{"seq":3,/);
});

test("a file without a newline contains no entry, however long it is", async () => {
  appendFileSync(join(directory, "audit.ndjson"), "x".repeat(300_000));
  const audit = start();
  await audit.append(entry(1));
  expect(await seqs(audit)).toEqual([1]);
});

describe("rotation", () => {
  /** The size limit is so small that each file contains one line. */
  const LIMITS = { auditFileBytesMax: 1, auditFilesMax: 4 };
  const contents = () =>
    readdirSync(directory)
      .sort()
      .map((name) => [
        name,
        (JSON.parse(readFileSync(join(directory, name), "utf8")) as { seq: number }).seq,
      ]);

  test("keeps the allowed number of files, the newest ones", async () => {
    const audit = start(LIMITS);
    for (let n = 1; n <= 7; n++) await audit.append(entry(n));
    expect(contents()).toEqual([
      ["audit.1.ndjson", 6],
      ["audit.2.ndjson", 5],
      ["audit.3.ndjson", 4],
      ["audit.ndjson", 7],
    ]);
    expect(await seqs(audit)).toEqual([7, 6, 5, 4]);
  });

  test("deletes surplus files when the number is reduced; one file is enough", async () => {
    const many = start(LIMITS);
    for (let n = 1; n <= 4; n++) await many.append(entry(n));
    await many.close();
    const two = start({ ...LIMITS, auditFilesMax: 2 });
    await two.append(entry(5));
    expect(await seqs(two)).toEqual([5, 4]);
    await two.close();
    const one = start({ ...LIMITS, auditFilesMax: 1 });
    await one.append(entry(6));
    expect(contents()).toEqual([["audit.ndjson", 6]]);
  });

  test.each([1, 2, 3])("cut short after %i files loses nothing and keeps the order", async (steps) => {
    const meter = { lines: 0, dropped: 0 };
    const audit = start({ ...LIMITS, auditFilesMax: 5 }, meter);
    for (let n = 1; n <= 4; n++) await audit.append(entry(n));
    let passed = 0;
    armFault("audit.during-rotation", () => {
      if (++passed === steps) throw new Error("cut short");
    });
    await audit.append(entry(5));
    expect(meter).toEqual({ lines: 4, dropped: 1 });
    expect(await seqs(audit)).toEqual([4, 3, 2, 1]);
    const next = start({ ...LIMITS, auditFilesMax: 5 });
    await next.append(entry(6));
    expect((await seqs(next)).slice(1)).toEqual([4, 3, 2, 1]);
  });
});

test("a line that cannot be written is counted and skips its number; the next one is written", async () => {
  const meter = { lines: 0, dropped: 0 };
  const audit = start({}, meter);
  await audit.append(entry(1));
  armFault("audit.before-line", () => {
    armFault("audit.before-line", null);
    throw new Error("the disk is full");
  });
  await audit.append(entry(2));
  await audit.append(entry(3));
  expect(meter).toEqual({ lines: 2, dropped: 1 });
  expect(await seqs(audit)).toEqual([3, 1]);
});
