// When memory growth counts as a suspicion against a thread.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GrowthWatch } from "../../../../../server/http/frontends/growth-watch.js";

const LOOK_MS = 250;
const MIB = 1024 * 1024;

/** A thread and its process, whose heartbeats and memory the test changes. */
class World {
  beats = 5;
  mib = 100;
  suspicions = 0;
  readonly watch = new GrowthWatch({
    beats: () => this.beats,
    bytes: () => this.mib * MIB,
    onGrowth: () => this.suspicions++,
  });

  /** Looks after each of these changes of memory. */
  grow(...mib: readonly number[]): number {
    for (const change of mib) {
      this.mib += change;
      vi.advanceTimersByTime(LOOK_MS);
    }
    return this.suspicions;
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("growth is suspicious while the thread does not beat, fast or slow", () => {
  const world = new World();
  expect(world.grow(65)).toBe(1);
  expect(world.grow(20, 20, 20)).toBe(1);
  expect(world.grow(20)).toBe(2);
  expect(world.grow(0, 0, 0)).toBe(2);
});

test("growth before a beat is not", () => {
  const world = new World();
  for (let i = 0; i < 10; i++) {
    world.beats++;
    world.grow(60, 4);
  }
  expect(world.suspicions).toBe(0);
});

test("what was given back and is taken again is growth, too", () => {
  const world = new World();
  expect(world.grow(-90, 65)).toBe(1);
});

test("a stopped watch looks no more", () => {
  const world = new World();
  world.watch.stop();
  expect(world.grow(1000)).toBe(0);
});
