// The audit log when the process is killed or the disk rejects writes at each step: every acknowledged change
// is logged, a lost line is counted and appears in the server's log, and the files stay readable.
import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SERVER_FAULT_POINTS } from "../../../server/ground/fault.js";
import { eventually, expectStatus, type TestServer } from "../world/harness.js";
import type { AuditPoint } from "./fault-scenarios.js";
import { World } from "./fault-world.js";

const POINTS = SERVER_FAULT_POINTS.filter((point): point is AuditPoint => point.startsWith("audit."));
/** With 600 bytes, a file has room for two lines. */
const world = new World({ limits: { auditFileBytesMax: 600, auditFilesMax: 100 } });
const SETTINGS = "/v1/indexes/shop/settings";

let changes = 0;
const change = (server: TestServer) => server.patch(SETTINGS, { num_typos: changes++ % 3 });

async function ids(server: TestServer): Promise<string[]> {
  const reply = await server.get("/v1/audit?limit=1000");
  expectStatus(reply, 200);
  return (reply.json.data.entries as { request_id: string }[]).map(({ request_id }) => request_id);
}

const droppedOf = async (server: TestServer) =>
  Number(/^skein_audit_lines_dropped_total (\d+)$/m.exec((await server.raw("GET", "/metrics")).text)![1]);

/** Makes changes until the armed point is passed. Returns the request ids of the acknowledged changes. */
async function untilPassed(server: TestServer, point: AuditPoint): Promise<string[]> {
  const answered: string[] = [];
  for (let i = 0; i < 10 && server.running && !world.spent(point); i++) {
    const reply = await change(server).catch(() => undefined);
    if (reply === undefined) continue;
    expectStatus(reply, 200);
    answered.push(reply.headers["x-request-id"] as string);
  }
  expect(world.spent(point)).toBe(true);
  return answered;
}

beforeAll(async () => {
  const server = await world.start();
  await server.createIndex("shop", { fields: [{ name: "title", type: "string" }] });
  for (let i = 0; i < 9; i++) expectStatus(await change(server), 200);
  expect(readdirSync(world.dataDir).filter((name) => name.startsWith("audit.")).length).toBeGreaterThan(3);
});

afterAll(() => world.close());

describe("a kill", () => {
  test.each(POINTS)("at %s loses no line about an answered change", async (point) => {
    const server = world.server!;
    const before = await ids(server);
    world.arm(point, "kill");
    const answered = await untilPassed(server, point);
    await eventually(async () => !server.running, "the server is dead");
    // Simulates a crash in the middle of a line.
    appendFileSync(join(world.dataDir, "audit.ndjson"), '{"seq":99,"time":"20');
    await server.launch();
    expectStatus(await change(server), 200);
    const [newest, ...after] = await ids(server);
    expect(newest).toMatch(/./);
    expect(after.filter((id) => answered.includes(id) || before.includes(id))).toEqual([
      ...answered.toReversed(),
      ...before,
    ]);
  });
});

describe("a full disk", () => {
  test.each(POINTS)(
    "at %s: the change is answered, its lost line is counted and goes to the server's log",
    async (point) => {
      const server = world.server!;
      const [before, dropped] = [await ids(server), await droppedOf(server)];
      world.arm(point, "throw");
      const answered = await untilPassed(server, point);
      await eventually(async () => (await droppedOf(server)) === dropped + 1, "the lost line is counted");
      const told = server.log.findLast(({ msg }) => msg === "a line of the audit log is lost")!;
      const lost = (told.audit as { request_id: string }).request_id;
      expect(told).toMatchObject({ level: "error", audit: { action: "settings.update", target: "shop" } });
      expect(answered.at(-1)).toBe(lost);
      expectStatus(await change(server), 200);
      const [, ...after] = await ids(server);
      // at "after-line" the line is already written; only the disk's confirmation is missing
      const kept = answered.filter((id) => id !== lost || point === "audit.after-line");
      expect(after).toEqual([...kept.toReversed(), ...before]);
    },
  );
});
