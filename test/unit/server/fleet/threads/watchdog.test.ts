// When a thread counts as hung.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Watchdog } from "../../../../../server/fleet/threads/watchdog.js";

const LOOK_MS = 10;

/** A thread whose heartbeats the test advances. */
class World {
  beats = 5;
  busy = true;
  hangs = 0;
  readonly watchdog = new Watchdog(10 * LOOK_MS, {
    beats: () => this.beats,
    mustBeat: () => this.busy,
    onHang: () => this.hangs++,
  });

  look(times: number): void {
    vi.advanceTimersByTime(times * LOOK_MS);
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a thread hangs once it misses ten checks in a row, and is reported once", () => {
  const world = new World();
  world.beats++;
  world.look(10);
  world.beats++;
  world.look(10);
  expect(world.hangs).toBe(0);
  world.look(100);
  expect(world.hangs).toBe(1);
  world.beats++;
  world.look(11);
  expect(world.hangs).toBe(2);
});

test("a thread may take longer before its first beat, after every restart", () => {
  const world = new World();
  world.look(59);
  expect(world.hangs).toBe(0);
  world.look(1);
  expect(world.hangs).toBe(1);
  world.watchdog.begin();
  world.look(59);
  expect(world.hangs).toBe(1);
});

test("an idle thread may be silent", () => {
  const world = new World();
  world.beats++;
  world.look(5);
  world.busy = false;
  world.look(100);
  world.busy = true;
  world.look(9);
  expect(world.hangs).toBe(0);
});

test("a stopped watchdog reports nothing", () => {
  const world = new World();
  world.watchdog.stop();
  world.look(100);
  expect(world.hangs).toBe(0);
});
