// The write gate: exclusive work starts once running writes have ended; writes that arrive later wait until
// it has ended, then start in order.
import { describe, expect, test } from "vitest";
import { WriteGate } from "../../../../../server/fleet/owner/write-gate.js";

describe("the write gate", () => {
  test("waits for running writes, holds back later ones and releases them in order", async () => {
    const gate = new WriteGate();
    const events: string[] = [];
    await gate.enter();
    const quiet = gate.quiet(10_000, async () => {
      events.push("quiet begins");
      await new Promise((resolve) => setImmediate(resolve));
      events.push("quiet ends");
      return 7;
    });
    const later = ["a", "b", "c"].map(async (name) => {
      await gate.enter();
      events.push(name);
      gate.leave();
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(events).toEqual([]);
    gate.leave();
    expect(await quiet).toBe(7);
    await Promise.all(later);
    expect(events).toEqual(["quiet begins", "quiet ends", "a", "b", "c"]);
  });

  test("gives up if running writes do not end, and lets the others proceed", async () => {
    const gate = new WriteGate();
    await gate.enter();
    let ran = false;
    const quiet = gate.quiet(10, async () => {
      ran = true;
    });
    const later = gate.enter();
    expect(await quiet).toBeUndefined();
    await later;
    expect(ran).toBe(false);
    gate.leave();
    gate.leave();
    expect(await gate.quiet(10, async () => "idle again")).toBe("idle again");
  });

  test("refuses writes that would have to wait too long; the others keep their order", async () => {
    const gate = new WriteGate(20);
    let end = (): void => undefined;
    const work = new Promise<void>((resolve) => {
      end = resolve;
    });
    const quiet = gate.quiet(10_000, () => work);
    await expect(gate.enter()).rejects.toMatchObject({ code: "SK-SYS-503", retryAfter: 5 });
    const waiting = gate.enter();
    end();
    await quiet;
    await waiting;
    gate.leave();
    expect(await gate.quiet(10, async () => "nobody is inside")).toBe("nobody is inside");
  });

  test("opens again after failed work", async () => {
    const gate = new WriteGate();
    const failing = gate.quiet(10, () => Promise.reject(new Error("no disk")));
    const waiting = gate.enter();
    await expect(failing).rejects.toThrow("no disk");
    await waiting;
    gate.leave();
  });
});
