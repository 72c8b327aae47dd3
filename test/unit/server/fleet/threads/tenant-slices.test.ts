// TenantSlices on the HTTP thread: one slice per event loop iteration, tenants in rotation.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { inSlices, LARGE_BYTES, TenantSlices } from "../../../../../server/fleet/threads/tenant-slices.js";
import { RequestLife } from "../../../../../server/ground/jobs/request-life.js";

/** A request that is never over. */
const ASKED = new RequestLife();

describe("TenantSlices", () => {
  it("gives one turn per event loop turn, to the tenants in rotation", async () => {
    const turns = new TenantSlices();
    const given: string[] = [];
    const waiting = [
      [1, "a"],
      [1, "b"],
      [1, "c"],
      [2, "d"],
    ] as const;
    const all = waiting.map(async ([tenant, name]) => {
      await turns.next(tenant, ASKED);
      given.push(name);
    });
    await yieldToEventLoop();
    expect(given.length).toBeLessThanOrEqual(1);
    await Promise.all(all);
    expect(given.indexOf("d")).toBe(1);
    expect(given.filter((name) => name !== "d")).toEqual(["a", "b", "c"]);
  });

  it("yields to queries that need no turn, until they end or need one", async () => {
    const turns = new TenantSlices();
    const light = turns.query(1, ASKED);
    const other = turns.query(3, ASKED);
    let given = false;
    const turn = turns.next(2, ASKED).then(() => {
      given = true;
    });
    await yieldToEventLoop();
    await yieldToEventLoop();
    expect(given).toBe(false);
    light.end();
    light.end();
    const own = other.next();
    await turn;
    await own;
    other.end();
  });

  it("yields for a short time only", async () => {
    const turns = new TenantSlices();
    const endless = turns.query(1, ASKED);
    for (let i = 0; i < 3; i++) await turns.next(2, ASKED);
    endless.end();
  });

  it("wastes no slice on a request that is over", async () => {
    const turns = new TenantSlices();
    const left = new RequestLife();
    const waiting = turns.next(1, left);
    const next = turns.next(1, ASKED);
    left.end(new Error("left"));
    await expect(waiting).rejects.toThrow("left");
    await yieldToEventLoop();
    await yieldToEventLoop();
    await expect(Promise.race([next, "not yet"])).resolves.toBeUndefined();
    await expect(turns.next(1, left)).rejects.toThrow("left");
  });

  it("lets small bodies pass at once", async () => {
    const turns = new TenantSlices();
    expect(turns.forBytes(1, LARGE_BYTES, ASKED)).toBeUndefined();
  });

  it("works step by step, with pauses if that takes long", async () => {
    let pauses = 0;
    const pause = { next: async (): Promise<void> => void pauses++ };
    function* steps(ms: number): Generator<void, string> {
      for (let i = 0; i < 5; i++) {
        for (const until = performance.now() + ms; performance.now() < until; );
        yield;
      }
      return "done";
    }
    expect(await inSlices(steps(3), pause)).toBe("done");
    expect(pauses).toBe(5);
  });

  it("rethrows a step's error", () => {
    // biome-ignore lint/correctness/useYield: it ends before its first pause
    function* broken(): Generator<void, never> {
      throw new Error("broken");
    }
    expect(() => inSlices(broken(), { next: async () => undefined })).toThrow("broken");
  });
});
