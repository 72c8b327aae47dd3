// Which indexes are loaded: each is opened only once, and the least recently used is unloaded first. In
// random stories, the limit is exceeded only while all loaded indexes are in use, and no index in use is ever
// unloaded.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Residency } from "../../../../../server/fleet/owner/residency.js";

/** Opens and unloads indexes. Every operation waits until the test decides its outcome. */
class World {
  now = 0;
  readonly opened: number[] = [];
  readonly closed: number[] = [];
  readonly loaded = new Set<number>();
  readonly used = new Map<number, number>();
  busy = new Set<number>();
  readonly waiting: { kind: "open" | "close"; id: number; end: (failed: boolean) => void }[] = [];
  readonly residency: Residency;
  /** Indexes that other threads may start using. */
  readonly marked = new Set<number>();
  readonly usedElsewhere = new Map<number, number>();
  readonly endedElsewhere = new Map<number, number>();

  constructor(loadedMax: number) {
    this.residency = new Residency({
      loadedMax,
      idleMs: 100,
      now: () => this.now,
      open: (id) => {
        this.opened.push(id);
        this.loaded.add(id);
        return new Promise((resolve, reject) => {
          this.waiting.push({
            kind: "open",
            id,
            end: (failed) => {
              if (failed) this.loaded.delete(id);
              failed ? reject(new Error(`${id} does not open`)) : resolve();
            },
          });
        });
      },
      close: (id) => {
        if ((this.used.get(id) ?? 0) > 0) throw new Error(`${id} is unloaded while it is in use`);
        if ((this.usedElsewhere.get(id) ?? 0) > 0) return Promise.resolve(false);
        this.closed.push(id);
        return new Promise((resolve, reject) => {
          this.waiting.push({
            kind: "close",
            id,
            end: (failed) => {
              if (failed) return reject(new Error("the shard is gone"));
              if (this.busy.has(id)) return resolve(false);
              this.loaded.delete(id);
              resolve(true);
            },
          });
        });
      },
      mark: (id, isOpen) => (isOpen ? this.marked.add(id) : this.marked.delete(id)),
      elsewhere: (id) => ({
        isUsed: (this.usedElsewhere.get(id) ?? 0) > 0,
        ended: this.endedElsewhere.get(id) ?? 0,
      }),
    });
  }

  /**
   * Starts another thread's use of an index. Returns false if the index is not marked for use by other
   * threads.
   */
  beginElsewhere(id: number): boolean {
    if (!this.marked.has(id)) return false;
    this.usedElsewhere.set(id, (this.usedElsewhere.get(id) ?? 0) + 1);
    return true;
  }

  endElsewhere(id: number): void {
    this.endedElsewhere.set(id, (this.endedElsewhere.get(id) ?? 0) + 1);
    this.usedElsewhere.set(id, this.usedElsewhere.get(id)! - 1);
  }

  async settle(): Promise<void> {
    for (let i = 0; i < 50; i++) await Promise.resolve();
  }

  /** Completes every waiting operation, and every operation that starts as a result. */
  async endAll(): Promise<void> {
    await this.settle();
    while (this.waiting.length > 0) {
      this.waiting.shift()?.end(false);
      await this.settle();
    }
  }

  async use(id: number): Promise<void> {
    const begun = this.residency.begin(id);
    await this.endAll();
    (await begun)();
    await this.endAll();
  }
}

describe("residency", () => {
  test("opens an index once for all concurrent requests", async () => {
    const world = new World(5);
    const begun = [1, 1, 1].map((id) => world.residency.begin(id));
    await world.endAll();
    for (const end of await Promise.all(begun)) end();
    expect(world.opened).toEqual([1]);
    expect(world.residency.loaded).toBe(1);
  });

  test("unloads the least recently used to make room before it opens another", async () => {
    const world = new World(2);
    for (const id of [1, 2]) {
      world.now++;
      await world.use(id);
    }
    world.now++;
    await world.use(1);
    world.now++;
    const begun = world.residency.begin(3);
    await world.settle();
    expect([world.opened, world.closed]).toEqual([[1, 2], [2]]);
    await world.endAll();
    (await begun)();
    expect([...world.loaded]).toEqual([1, 3]);
  });

  test("keeps an index that is in use or has work; once it is free there is room again", async () => {
    const world = new World(1);
    const first = world.residency.begin(1);
    await world.endAll();
    await world.use(2);
    expect(world.residency.loaded).toBe(1);
    expect(world.closed).toEqual([2]);
    (await first)();
    world.busy.add(1);
    world.now += 1;
    await world.use(3);
    expect([...world.loaded]).toContain(1);
    world.busy.clear();
    world.now += 10_000;
    await world.use(4);
    expect([...world.loaded]).toEqual([4]);
  });

  test("unloads an index idle for long and opens it again on demand", async () => {
    const world = new World(5);
    await world.use(1);
    world.now = 50;
    await world.use(2);
    world.now = 120;
    const swept = world.residency.sweep();
    await world.endAll();
    await swept;
    expect([world.residency.isOpen(1), world.residency.isOpen(2)]).toEqual([false, true]);
    await world.use(1);
    expect(world.opened).toEqual([1, 2, 1]);
  });

  test.each([
    ["stays open for its own work, it is used", true],
    ["is unloaded, it is not opened again", false],
  ])("when an index being unloaded %s", async (_, stays) => {
    const world = new World(5);
    await world.use(1);
    if (stays) world.busy.add(1);
    world.now = 200;
    const swept = world.residency.sweep();
    await world.settle();
    const begun = world.residency.beginLoaded(1);
    await world.endAll();
    await swept;
    const end = await begun;
    expect(end !== undefined).toBe(stays);
    world.now = 400;
    world.busy.clear();
    await world.residency.sweep();
    expect(world.residency.isOpen(1)).toBe(stays);
    end?.();
    expect(world.opened).toEqual([1]);
  });

  test.each([false, true])(
    "a request for a loaded index waits while it is being opened (fails: %s)",
    async (fails) => {
      const world = new World(3);
      expect(await world.residency.beginLoaded(1)).toBeUndefined();
      const opening = world.residency.begin(1).catch(() => undefined);
      let begun: string | undefined;
      void world.residency.beginLoaded(1).then((end) => {
        begun = end === undefined ? "is not open" : "is open";
      });
      await world.settle();
      expect(begun).toBeUndefined();
      world.waiting.shift()!.end(fails);
      await opening;
      await world.settle();
      expect(begun).toBe(fails ? "is not open" : "is open");
    },
  );

  test("visiting many indexes evicts none that was there before", async () => {
    const world = new World(3);
    for (let id = 1; id <= 10; id++) {
      world.now++;
      const visit = world.residency.visit(id);
      await world.endAll();
      await visit;
    }
    expect(world.opened.length).toBe(10);
    expect([...world.loaded]).toEqual([1, 2, 10]);
  });
});

describe("residency of indexes used by other threads", () => {
  test("keeps them, and dates their use from the check after it ended", async () => {
    const world = new World(1);
    await world.use(1);
    expect(world.beginElsewhere(1)).toBe(true);
    await world.use(2);
    expect([...world.loaded]).toEqual([1]);
    world.now = 1_000;
    world.endElsewhere(1);
    await world.residency.sweep();
    expect([...world.loaded]).toEqual([1]);
    world.now = 1_200;
    const swept = world.residency.sweep();
    await world.endAll();
    await swept;
    expect([[...world.loaded], world.beginElsewhere(1)]).toEqual([[], false]);
  });

  test("counts them as in use after a loss", async () => {
    const world = new World(5);
    await world.use(1);
    await world.use(2);
    world.beginElsewhere(2);
    expect(world.residency.lost()).toEqual([2]);
    expect([...world.marked]).toEqual([2]);
  });
});

describe("residency after failures and losses", () => {
  test("a failed opening is reported to all waiting requests, and retried by the next one", async () => {
    const world = new World(5);
    const begun = [world.residency.begin(1), world.residency.begin(1)];
    await world.settle();
    world.waiting.shift()?.end(true);
    for (const one of await Promise.allSettled(begun)) expect(one.status).toBe("rejected");
    expect(world.residency.loaded).toBe(0);
    await world.use(1);
    expect(world.opened).toEqual([1, 1]);
  });

  test("after a loss, indexes in use are reported, and others are reopened before use", async () => {
    const world = new World(5);
    await world.use(1);
    const second = world.residency.begin(2);
    await world.endAll();
    const third = world.residency.begin(3);
    await world.settle();
    expect(world.residency.lost()).toEqual([2]);
    await world.endAll();
    expect(world.opened).toEqual([1, 2, 3, 3]);
    await world.use(1);
    expect(world.opened.filter((id) => id === 1).length).toBe(2);
    (await second)();
    (await third)();
  });
});

describe("residency in random stories", () => {
  test("equals the model", async () => {
    const id = fc.integer({ min: 0, max: 7 });
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant("begin" as const), id }) },
      { weight: 5, arbitrary: fc.record({ kind: fc.constant("end" as const), id }) },
      {
        weight: 8,
        arbitrary: fc.record({ kind: fc.constant("settle" as const), id, fails: fc.boolean() }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("lost" as const), id }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("sweep" as const), id }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const), id }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("busy" as const), id }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("visit" as const), id }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant("begin elsewhere" as const), id }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant("end elsewhere" as const), id }) },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(step, { maxLength: 60 }),
        async (max, steps) => {
          const world = new World(max);
          const ends: { id: number; end: () => void }[] = [];
          const forgotten = new Set<number>();
          let asked = 0;
          let answered = 0;
          const begin = (wanted: number): void => {
            asked++;
            void world.residency.begin(wanted).then(
              (end) => {
                answered++;
                if (!forgotten.has(wanted)) {
                  expect(world.loaded.has(wanted)).toBe(true);
                  world.used.set(wanted, (world.used.get(wanted) ?? 0) + 1);
                }
                ends.push({ id: wanted, end });
              },
              () => answered++,
            );
          };
          const release = (): void => {
            const use = ends.shift();
            if (use === undefined) return;
            if (!forgotten.has(use.id)) world.used.set(use.id, (world.used.get(use.id) ?? 1) - 1);
            use.end();
          };
          for (const now of steps) {
            world.now += 30;
            if (now.kind === "begin" && !forgotten.has(now.id)) begin(now.id);
            else if (now.kind === "end") release();
            else if (now.kind === "settle") {
              world.waiting
                .splice(now.id % (world.waiting.length || 1), 1)[0]
                ?.end(now.fails && now.id === 0);
            } else if (now.kind === "lost") world.residency.lost();
            else if (now.kind === "sweep") void world.residency.sweep();
            else if (now.kind === "visit" && !forgotten.has(now.id))
              void world.residency.visit(now.id).catch(() => undefined);
            else if (now.kind === "begin elsewhere") {
              if (world.beginElsewhere(now.id)) expect(world.loaded.has(now.id)).toBe(true);
            } else if (now.kind === "end elsewhere") {
              if ((world.usedElsewhere.get(now.id) ?? 0) > 0) world.endElsewhere(now.id);
            } else if (now.kind === "busy") world.busy = new Set([now.id]);
            else if (now.kind === "forget") {
              forgotten.add(now.id);
              world.used.delete(now.id);
              world.usedElsewhere.delete(now.id);
              world.residency.forget(now.id);
            }
            await world.settle();
            for (const [one, uses] of world.usedElsewhere)
              if (uses > 0) expect(world.loaded.has(one)).toBe(true);
            const free = [...world.loaded].filter(
              (one) =>
                !forgotten.has(one) &&
                (world.used.get(one) ?? 0) === 0 &&
                (world.usedElsewhere.get(one) ?? 0) === 0 &&
                !world.endedElsewhere.has(one) && // still counts as used until the next sweep
                !world.busy.has(one) &&
                !world.waiting.some((waits) => waits.id === one),
            );
            const closing = new Set(world.waiting.flatMap(({ kind, id }) => (kind === "close" ? [id] : [])));
            const staying = [...world.loaded].filter((one) => !forgotten.has(one) && !closing.has(one));
            if (staying.length > max) {
              // Above the limit, unloading must have been tried for every free index.
              expect(free.every((one) => world.closed.includes(one))).toBe(true);
            }
          }
          world.busy.clear();
          world.usedElsewhere.clear();
          while (ends.length > 0 || world.waiting.length > 0) {
            await world.endAll();
            release();
          }
          expect(answered).toBe(asked);
          // The first sweep notices that other threads' uses have ended; the second finds that all indexes
          // have been idle since the first.
          for (let sweeps = 0; sweeps < 2; sweeps++) {
            world.now += 100_000;
            const swept = world.residency.sweep();
            await world.endAll();
            await swept;
          }
          expect([...world.loaded].filter((one) => !forgotten.has(one))).toEqual([]);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
