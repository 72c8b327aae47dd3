// Out of file handles (EMFILE): writes that need one are refused with 503 and Retry-After, reads continue,
// nothing acknowledged is lost, and writes recover without a restart. Linux's prlimit lowers the running
// process's limit to the number of handles it has open.
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { eventually, expectStatus, TestServer } from "../world/harness.js";
import type { Reply } from "../world/reply.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const BATCH = 200;
const HANDLES = 4096;

let server: TestServer | undefined;
afterEach(() => server?.close());

function limitHandles(pid: number, handles: number): boolean {
  try {
    execFileSync("prlimit", [`--pid=${pid}`, `--nofile=${handles}:${HANDLES}`], { stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}

/**
 * A batch of more than a MiB: a few of them fill a database's write-ahead log, and the database then needs
 * new files.
 */
function documents(batch: number) {
  const stuffing = "x".repeat(8000);
  return Array.from({ length: BATCH }, (_, i) => ({
    id: `b${batch}-${i}`,
    title: "thing",
    _stuffing: stuffing,
  }));
}

test("without free file handles: reads go on, writes resume, and no acknowledged document is lost", async (context) => {
  server = await TestServer.start();
  await server.createIndex("things", SCHEMA);
  if (!limitHandles(server.pid, HANDLES)) return context.skip("cannot change the limits of a process here");
  const acknowledged = new Set<string>();
  let next = 0;
  const took = async (): Promise<boolean> => {
    const sent = documents(next++);
    const reply: Reply = await server!.post("/v1/indexes/things/documents/batch", { documents: sent });
    if (reply.status !== 200) {
      expectStatus(reply, 503);
      expect(reply.json.code).toBe("SK-SYS-503");
      expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
      return false;
    }
    const { errors } = reply.json.data as unknown as { errors: { id: string; code: string }[] };
    for (const { code } of errors) expect(code).toBe("SK-SYS-503");
    const refused = new Set(errors.map(({ id }) => id));
    for (const { id } of sent) if (!refused.has(id)) acknowledged.add(id);
    return errors.length === 0;
  };
  const found = async (): Promise<number> => {
    const reply = await server!.query("things", { q: "thing", per_page: 3 });
    expectStatus(reply, 200);
    return reply.json.found;
  };
  expect(await took()).toBe(true);
  limitHandles(server.pid, readdirSync(`/proc/${server.pid}/fd`).length);
  await eventually(async () => !(await took()), "writes are refused");
  for (let i = 0; i < 10; i++) expect(await found()).toBe(acknowledged.size);
  limitHandles(server.pid, HANDLES);
  await eventually(took, "writes are accepted again");
  expect(await took()).toBe(true);
  expect(await found()).toBe(acknowledged.size);
  await server.stop("SIGKILL");
  await server.launch();
  expect(await found()).toBe(acknowledged.size);
});
