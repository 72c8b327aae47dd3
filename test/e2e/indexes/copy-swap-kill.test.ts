// A kill -9 at any moment during a swap or copy leaves either the complete old state or the complete new
// state.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { expectStatus, sleep, TestServer } from "../world/harness.js";
import { documents, LEFT, makeSide, QUERY, RIGHT, schema, sideOfRecords } from "../world/sides.js";

describe("a kill", () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await TestServer.start({ shards: 2 });
  });

  afterAll(() => server.close());

  test("between swaps leaves all of the old or all of the new state", async () => {
    await makeSide(server, "a", LEFT);
    await makeSide(server, "b", RIGHT);
    const outcomes = new Set<string>();
    for (let round = 0; round < effort(3, 30) || outcomes.size < 2; round++) {
      const swapping = (async () => {
        for (;;) {
          const body = { target_index: "b" };
          const reply = await server.raw("POST", "/v1/indexes/a/swap-with", { body }).catch(() => undefined);
          if (reply?.status !== 200) return;
        }
      })();
      await sleep(20 + 7 * round);
      await server.stop("SIGKILL");
      await swapping;
      await server.launch();
      const sides = [await sideOfRecords(server, "a"), await sideOfRecords(server, "b")];
      expect(sides.toSorted()).toEqual(["left", "right"]);
      outcomes.add(sides.join());
    }
  });

  test("around a swap that drops leaves either both old indexes or only the new one", async () => {
    let current = "g0";
    await makeSide(server, "live", { name: current, count: 30 });
    for (let round = 1; round <= effort(4, 30); round++) {
      const next = `g${round}`;
      await makeSide(server, "next", { name: next, count: 30 + round });
      const body = { target_index: "next", drop_source_after: true };
      const swapped = server.raw("POST", "/v1/indexes/live/swap-with", { body }).catch(() => undefined);
      await sleep(round % 5);
      await server.stop("SIGKILL");
      const answered = (await swapped)?.status === 200;
      await server.launch();
      const present = (await server.get("/v1/indexes/next")).status === 200;
      const side = await sideOfRecords(server, "live");
      expect(side).toBe(present ? current : next);
      if (answered) expect(present).toBe(false);
      if (present) expectStatus(await server.delete("/v1/indexes/next"), 200);
      current = side;
    }
  });

  test("during a copy leaves all parts of the old or all of the new", async () => {
    await makeSide(server, "from1", LEFT);
    await makeSide(server, "from2", LEFT);
    await server.createIndex("to", schema(LEFT), documents(LEFT));
    for (const [i, name] of ["from1", "from2"].entries()) {
      const settings = { num_typos: i, symbols_to_index: i === 0 ? ["+"] : [] };
      expectStatus(await server.patch(`/v1/indexes/${name}/settings`, settings), 200);
      for (const list of ["ranking-rules", "synonyms"]) {
        const path = `/v1/indexes/${name}/${list}`;
        const [{ id }] = (await server.get(path)).json.data as unknown as [{ id: number }];
        expectStatus(await server.patch(`${path}/${id}`, { enabled: i === 0 }), 200);
      }
    }
    for (let round = 0; round < effort(3, 15); round++) {
      const copying = (async () => {
        for (let i = 0; ; i++) {
          const body = { source_index: i % 2 === 0 ? "from1" : "from2" };
          const path = "/v1/indexes/to/copy-settings-from";
          const reply = await server.raw("POST", path, { body }).catch(() => undefined);
          if (reply?.status !== 200) return;
        }
      })();
      await sleep(60 + 11 * round);
      await server.stop("SIGKILL");
      await copying;
      await server.launch();
      const settings = (await server.get("/v1/indexes/to/settings")).json.data;
      const rules = (await server.get("/v1/indexes/to/ranking-rules")).json.data as unknown as object[];
      const groups = (await server.get("/v1/indexes/to/synonyms")).json.data as unknown as object[];
      const enabled = settings.num_typos === 0;
      expect(settings.symbols_to_index).toEqual(enabled ? ["+"] : []);
      expect([rules, groups]).toMatchObject([[{ enabled }], [{ enabled }]]);
      expect((await server.query("to", QUERY)).json.found).toBe(LEFT.count);
    }
  });
});
