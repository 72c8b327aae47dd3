// Every fault point of a data source run: the process is killed there, the step fails, or the server is told
// to stop. Afterwards no document is lost or invented, no run is still shown as running, and the next run
// leaves the index with the feed's contents.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SERVER_FAULT_POINTS } from "../../../server/ground/fault.js";
import { effort } from "../../effort.js";
import type { RunPoint } from "../faults/fault-scenarios.js";
import { World } from "../faults/fault-world.js";
import { type FeedServer, startFeedServer } from "../world/feed-server.js";
import { documentsOf, ended, FROM_LOOPBACK, makeSource, runsOf, type Source, sync } from "../world/feeds.js";
import { eventually } from "../world/harness.js";

const POINTS = SERVER_FAULT_POINTS.filter((point): point is RunPoint => point.startsWith("run."));
/** Points where a step can fail. At all other points, only a kill can interrupt. */
const FAILING: readonly RunPoint[] = [
  "run.after-begin",
  "run.before-batch",
  "run.after-batch",
  "run.after-read",
  "run.before-deletion",
];
const STOPPED = effort<readonly RunPoint[]>(["run.after-batch"], POINTS);
const POINTS_OF = { kill: POINTS, throw: FAILING, stop: STOPPED };

type Documents = Record<string, Record<string, unknown>>;

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const one = (id: string, title: string) => ({ id, title });
const OLD = Array.from({ length: 10 }, (_, i) => one(`d${i}`, "old"));
const NEW = [...OLD.slice(0, 5), ...OLD.slice(5, 9).map(({ id }) => one(id, "new")), one("n0", "new")];
const byId = (list: readonly { id: string }[]): Documents =>
  Object.fromEntries(list.map((document) => [document.id, document]));

describe.each(["kill", "throw", "stop"] as const)("%s", (what) => {
  const world = new World(FROM_LOOPBACK);
  let feeds: FeedServer;

  beforeAll(async () => {
    feeds = await startFeedServer();
    await world.start();
  });

  afterAll(async () => {
    await world.close();
    await feeds.close();
  });

  test.each(POINTS_OF[what])("at %s", async (point) => {
    const server = world.server!;
    const index = point.replace(".", "-");
    await server.createIndex(index, SCHEMA);
    const source = await makeSource(server, index, {
      url: feeds.url(`/${index}`),
      format: "json",
      sync_mode: "replace",
    });
    feeds.route(`/${index}`, { body: JSON.stringify(OLD) });
    await sync(server, source);
    feeds.route(`/${index}`, { body: JSON.stringify(NEW) });
    world.arm(point, what);
    const queued = await server.raw("POST", `${source.path}/sync-now`).catch(() => undefined);
    await eventually(async () => world.spent(point), `${point} is reached`);
    if (what === "throw") {
      const run = await ended(server, source, queued!.json.data.run_id as number);
      expect(run).toMatchObject({ status: "failed", error_code: "SK-DS-503", documents_deleted: 0 });
    } else {
      await eventually(async () => !server.running, "the server is dead");
      if (what === "stop") expect(await server.stop()).toBe(0);
      await server.launch();
    }
    await settled(source);
    expectBetween(await documentsOf(server, index));
    expect(await sync(server, source)).toMatchObject({ status: "completed" });
    expect(await documentsOf(server, index)).toEqual(byId(NEW));
  });

  test("nothing is damaged", async () => {
    expect(await world.server!.stop()).toBe(0);
    const { code, text } = await world.skein("check", "--data-dir", world.dataDir);
    expect(code, text).toBe(0);
  });

  /**
   * Waits until no run is queued or running: queued runs continue, and the interrupted one is marked as
   * failed.
   */
  async function settled(source: Source): Promise<void> {
    await eventually(async () => {
      const runs = await runsOf(world.server!, source);
      return runs.every(({ status }) => status === "completed" || status === "failed");
    }, "no run is under way");
    const interrupted = (await runsOf(world.server!, source)).filter(({ status }) => status === "failed");
    for (const run of interrupted) expect(run.error_code).toBe("SK-DS-503");
  }

  /** Documents in the feed must be old or new; documents no longer in it may have been deleted. */
  function expectBetween(found: Documents): void {
    const [old, fresh] = [byId(OLD), byId(NEW)];
    for (const [id, document] of Object.entries(found)) expect([old[id], fresh[id]]).toContainEqual(document);
    expect(Object.keys(old).filter((id) => id in fresh && !(id in found))).toEqual([]);
  }
});
