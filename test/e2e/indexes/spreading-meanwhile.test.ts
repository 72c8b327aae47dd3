// Requests while an index is being spread: changes to the whole index, writes, a server stop and shard
// deaths. The spreading is stopped at one of three points: before the decision, because a receiving shard is
// blocked; when the decision is written to the catalog and the write seems to fail; or just before the home
// shard's copy is dropped. Nothing may be lost or duplicated, and every request must be carried out.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { eventually, expectStatus } from "../world/harness.js";
import { HOME_DOCUMENTS_MAX, SCHEMA, SpreadingWorld, type Thing, things } from "./spreading-world.js";

const SHARDS = 3;
const BEGUN = things(0, HOME_DOCUMENTS_MAX);
const MORE = things(HOME_DOCUMENTS_MAX, 20);
const ALL = [...BEGUN, ...MORE];

/** The point at which the spreading is stopped. */
type Hold = "a shard is stuck" | "spread.after-decision" | "spread.before-drop";
const HOLDS: readonly Hold[] = [
  "a shard is stuck",
  "spread.after-decision",
  ...effort<readonly Hold[]>([], ["spread.before-drop"]),
];

const world = new SpreadingWorld({ shards: SHARDS });
const { server } = world;

beforeAll(() => server.launch());
afterAll(() => world.close());

/** Grows the index, then runs `work` while the index's spreading is stopped halfway. */
async function whileSpread<T>(hold: Hold, index: string, home: number, work: () => Promise<T>): Promise<T> {
  const grow = () => world.write(index, MORE);
  if (hold !== "a shard is stuck") return world.whileHeld(hold, grow, work);
  return world.blocked.while((home + 1) % SHARDS, async () => {
    await grow();
    return work();
  });
}

/**
 * Sends a request while the spreading is stopped, runs `meanwhile`, and lets the spreading continue. Returns
 * the answer, which may only come after the spreading has ended.
 */
async function asked<T>(
  hold: Hold,
  index: string,
  home: number,
  request: () => Promise<T>,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<T> {
  const answer = await whileSpread(hold, index, home, async () => {
    const pending = request();
    pending.catch(() => undefined);
    await meanwhile();
    return { pending };
  });
  return answer.pending;
}

let names = 0;
const fresh = (what: string): string => `${what}-${++names}`;

describe.each(HOLDS)("while %s", (hold) => {
  test("reads are answered, and writes wait or succeed", async () => {
    const index = fresh("written");
    const path = `/v1/indexes/${index}/documents`;
    const home = await world.make(index, undefined, BEGUN);
    const changed = { ...BEGUN[3]!, title: "changed", number: 1_003 };
    const imported = things(100, 30, "imported");
    const requests = () =>
      Promise.all([
        server.patch(`${path}/d3`, { title: "changed", number: 1_003 }),
        server.delete(`${path}/d5`),
        server.delete(`${path}?filter_by=${encodeURIComponent("number:[10..19]")}`),
        server.post(`${path}/batch`, { action: "update", documents: [{ id: "d30", group: "g9" }] }),
        server.raw("POST", `${path}/import`, {
          body: imported.map((one) => JSON.stringify(one)).join("\n"),
          headers: { "content-type": "application/x-ndjson" },
        }),
      ]);
    const replies = await asked(hold, index, home, requests, async () => {
      if (hold !== "spread.after-decision") return; // here, writes wait, so the number is known
      expect(await world.found(index)).toBe(ALL.length);
    });
    for (const reply of replies) expectStatus(reply, 200);
    expect(replies[2]!.json.data).toMatchObject({ deleted: 10 });
    const kept = ALL.filter(({ id, number }) => id !== "d3" && id !== "d5" && (number < 10 || number > 19));
    const expected = kept.map((one) => (one.id === "d30" ? { ...one, group: "g9" } : one));
    await world.spread(index);
    await world.expectThings(index, [...expected, changed, ...imported]);
  });

  test("the schema can be changed", async () => {
    const index = fresh("schema");
    const home = await world.make(index, undefined, BEGUN);
    const body = { schema: { fields: [{ name: "added", type: "string", facet: true }] } };
    expectStatus(await asked(hold, index, home, () => server.patch(`/v1/indexes/${index}`, body)), 200);
    const isActive = async () => (await server.get(`/v1/indexes/${index}`)).json.data.status === "active";
    await eventually(isActive, "it is re-indexed");
    await world.spread(index);
    await world.expectThings(index, ALL);
    const update = ALL.slice(0, 70).map(({ id }) => ({ id, added: "fresh" }));
    const path = `/v1/indexes/${index}/documents/batch`;
    expectStatus(await server.post(path, { action: "update", documents: update }), 200);
    expect(await world.found(index, "added:fresh")).toBe(70);
  });

  test("settings can be copied from another index", async () => {
    const [index, source] = [fresh("copied"), fresh("source")];
    await world.make(source, { schema: SCHEMA, settings: { symbols_to_index: ["+"], num_typos: 0 } });
    const home = await world.make(index, undefined, [...BEGUN.slice(1), { ...BEGUN[0], title: "c+ first" }]);
    const path = `/v1/indexes/${index}`;
    const copy = () =>
      server.post(`${path}/copy-settings-from`, { source_index: source, copy: ["settings"] });
    expectStatus(await asked(hold, index, home, copy), 200);
    await eventually(async () => (await server.get(path)).json.data.status === "active", "it is re-indexed");
    await world.spread(index);
    await world.expectThings(index, [{ ...BEGUN[0]!, title: "c+ first" }, ...ALL.slice(1)]);
    expect((await server.get(`${path}/settings`)).json.data).toMatchObject({ symbols_to_index: ["+"] });
    expect((await server.query(index, { q: "c+" })).json.found).toBe(1);
  });

  test("the index can be deleted and another one created under its name", async () => {
    const index = fresh("deleted");
    const home = await world.make(index, undefined, BEGUN);
    expectStatus(await asked(hold, index, home, () => server.delete(`/v1/indexes/${index}`)), 200);
    expectStatus(await server.get(`/v1/indexes/${index}`), 404);
    await world.make(index, undefined, ALL.slice(0, 70));
    await world.spread(index);
    await world.expectThings(index, ALL.slice(0, 70));
  });

  test("two indexes can be swapped, whichever of them is being spread", async () => {
    const [index, other] = [fresh("live"), fresh("next")];
    const few = things(500, 9, "few");
    await world.make(other, undefined, few);
    const home = await world.make(index, undefined, BEGUN);
    const swap = (name: string, target_index: string) =>
      server.post(`/v1/indexes/${name}/swap-with`, { target_index });
    const replies = await asked(hold, index, home, async () => [
      await swap(index, other),
      await swap(index, other),
      await swap(other, index),
    ]);
    for (const reply of replies) expectStatus(reply, 200);
    await world.spread(other);
    await world.expectThings(other, ALL);
    await world.expectThings(index, few);
    expect(await world.shardsOf(index)).toBe(1);
  });

  test("a swap can displace and drop it", async () => {
    const [index, other] = [fresh("displaced"), fresh("instead")];
    const few = things(500, 9, "few");
    await world.make(other, undefined, few);
    const home = await world.make(index, undefined, BEGUN);
    const body = { target_index: other, drop_source_after: true };
    const reply = await asked(hold, index, home, () => server.post(`/v1/indexes/${index}/swap-with`, body));
    expectStatus(reply, 200);
    await world.expectThings(index, few);
    expectStatus(await server.get(`/v1/indexes/${other}`), 404);
    await world.write(index, BEGUN);
    await world.spread(index);
    await world.expectThings(index, [...few, ...BEGUN]);
  });
});

test("an index that grows while it is being re-indexed is spread afterwards", async () => {
  const index = fresh("anew");
  await world.make(index, undefined, BEGUN);
  await world.whileFailing("schema.before-shards", async () => {
    const body = { schema: { fields: [{ name: "added", type: "string", facet: true }] } };
    await server.patch(`/v1/indexes/${index}`, body);
    await world.write(index, MORE);
    expect((await server.get(`/v1/indexes/${index}`)).json.data.status).toBe("rebuilding");
    expect(await world.shardsOf(index)).toBe(1);
  });
  await world.spread(index);
  await world.expectThings(index, ALL);
});

describe("stopping the server", () => {
  test.each(HOLDS)("while %s loses nothing", async (hold) => {
    const index = fresh("stopped");
    const home = await world.make(index, undefined, BEGUN);
    const code = await whileSpread(hold, index, home, () =>
      server.stop(hold === HOLDS[0] ? "SIGKILL" : "SIGTERM"),
    );
    expect(code).toBe(hold === HOLDS[0] ? null : 0);
    await server.launch();
    await world.spread(index);
    await world.expectThings(index, ALL);
  });
});

describe("a shard's death", () => {
  const POINTS = effort(
    ["spread.after-copy", "spread.before-drop"] as const,
    ["spread.before-copy", "spread.after-copy", "spread.after-decision", "spread.before-drop"] as const,
  );

  test.each(POINTS)("at %s neither loses nor duplicates anything", async (point) => {
    for (let round = 0; round < effort(1, 6); round++)
      for (const [which, step] of [
        ["the home", 0],
        ["another", 1],
      ] as const) {
        const index = fresh(`killed-${which.replace(" ", "-")}`);
        const home = await world.make(index, undefined, BEGUN);
        await world.whileHeld(
          point,
          () => world.write(index, MORE),
          () => world.kill((home + step) % SHARDS),
        );
        await world.spread(index);
        await eventually(
          async () => (await server.query(index, { q: "*", per_page: 0 })).status === 200,
          "all shards answer again",
        );
        await world.expectThings(index, ALL);
      }
  });

  test.each([0, 1, 2])("leaves an index that was spread earlier unchanged: shard home + %i", async (step) => {
    const index = fresh("at-rest");
    const home = await world.make(index, undefined, ALL);
    await world.spread(index);
    await world.kill((home + step) % SHARDS);
    await eventually(async () => (await server.get("/health/ready")).status === 200, "all shards are back");
    expect((await server.get(`/v1/indexes/${index}`)).json.data).toMatchObject({
      status: "active",
      records_count: ALL.length,
    });
    await world.expectThings(index, ALL);
    expect(server.log.filter(({ msg }) => msg === "stored data of an index cannot be read")).toEqual([]);
  });

  test("while an index's home copy waits to be dropped does not count documents twice", async () => {
    const index = fresh("counted");
    const home = await world.make(index, undefined, BEGUN);
    await world.whileHeld(
      "spread.before-drop",
      () => world.write(index, MORE),
      async () => {
        await world.kill(home);
        await eventually(async () => (await server.get("/health/ready")).status === 200, "it is back");
        expect((await server.get(`/v1/indexes/${index}`)).json.data.records_count).toBe(ALL.length);
      },
    );
    await world.expectThings(index, ALL);
  });

  test("at any time loses nothing, with writers that retry refused writes", async () => {
    const index = fresh("any-time");
    const home = await world.make(index, undefined, BEGUN);
    const documents: Thing[] = things(HOME_DOCUMENTS_MAX, 400);
    let at = 0;
    const writer = async (): Promise<void> => {
      while (at < documents.length) {
        const batch = documents.slice(at, at + 10);
        at += 10;
        const isWritten = async (): Promise<boolean> => {
          const reply = await server.post(`/v1/indexes/${index}/documents/batch`, { documents: batch });
          return reply.status === 200 && reply.json.data.failed === 0;
        };
        await eventually(isWritten, "the batch is accepted");
      }
    };
    const killer = async (): Promise<void> => {
      for (let turn = 0; turn < effort(6, 30); turn++) {
        await world.kill((home + turn) % SHARDS);
        await eventually(
          async () => (await server.get("/health/ready")).status === 200,
          "all shards are back",
        );
      }
    };
    await Promise.all([writer(), writer(), killer()]);
    await eventually(
      async () => (await server.query(index, { q: "*", per_page: 0 })).status === 200,
      "all shards answer again",
    );
    await world.spread(index);
    await world.expectThings(index, [...BEGUN, ...documents]);
  });
});
