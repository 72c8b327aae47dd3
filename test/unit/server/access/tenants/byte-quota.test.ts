// Byte quotas in plans: usage is the measured bytes plus the bytes accepted since the measurement. Also which
// writes wait for a measurement, and in which order they start.
import { beforeEach, describe, expect, test, vi } from "vitest";
import { ByteQuotas, type TakenBytes } from "../../../../../server/access/tenants/byte-quota.js";
import { createLogger } from "../../../../../server/ground/log.js";

const TENANT = 1;
const log = createLogger("silent");
const NOTHING = { diskBytes: 0, memoryBytes: 0 };

let nowMs: number;
let limits: { diskBytes: number | null; memoryBytes: number | null };
/** Bytes that the indexes use (`taken`), and the number of measurements (`measured`). */
let taken: TakenBytes[];
let measured: number;
/** Completes the measurements delayed by `hold`. */
let release: (() => void) | null;
let held: Promise<void>;
let quotas: ByteQuotas;

beforeEach(() => {
  nowMs = 0;
  limits = { diskBytes: 100, memoryBytes: null };
  taken = [NOTHING];
  measured = 0;
  release = null;
  held = Promise.resolve();
  quotas = new ByteQuotas({
    limitsOf: (tenant) => (tenant === TENANT ? limits : { diskBytes: null, memoryBytes: null }),
    measure: async () => {
      measured++;
      const sizes = taken;
      await held;
      return sizes;
    },
    nowMs: () => nowMs,
    log,
  });
});

function hold(): void {
  held = new Promise((resolve) => {
    release = resolve;
  });
}

const answered = async (): Promise<void> => undefined;

/** Resolves with the refusal, or with null once the write is answered. */
function write(bytes: number, work: () => Promise<void> = answered, tenant = TENANT): Promise<string | null> {
  return quotas.run(tenant, bytes, async (refused) => {
    if (refused === null) await work();
    return refused;
  });
}

/** Starts a write that stays in progress until `end` is called. */
function longWrite(bytes: number): { answer: Promise<string | null>; end: () => void } {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { answer: write(bytes, () => ended), end };
}

describe("a tenant's usage", () => {
  test("is never measured for a tenant without a limit", async () => {
    expect(await write(1_000, answered, 2)).toBeNull();
    limits = { diskBytes: null, memoryBytes: null };
    expect(await write(1_000)).toBeNull();
    expect(measured).toBe(0);
  });

  test("is the sum over its indexes, for disk and for memory", async () => {
    taken = [
      { diskBytes: 40, memoryBytes: 7 },
      { diskBytes: 50, memoryBytes: 8 },
    ];
    expect(await write(10)).toBeNull();
    taken = [taken[0]!, { diskBytes: 60, memoryBytes: 8 }];
    expect(await write(1)).toMatch(/^the plan allows 100 bytes of disk, of which about 100 are used;/);
    limits = { diskBytes: null, memoryBytes: 15 };
    expect(await write(1)).toMatch(/^the plan allows 15 bytes of memory, of which about 15 are used;/);
    limits = { diskBytes: 1_000, memoryBytes: 1_000 };
    expect(await write(1)).toBeNull();
  });

  test("includes writes accepted since the measurement, so that rapid writes need only one", async () => {
    for (let i = 0; i < 10; i++) expect(await write(10)).toBeNull();
    expect(measured).toBe(1);
    taken = [{ diskBytes: 100, memoryBytes: 0 }];
    expect(await write(1)).toContain("about 100 are used");
    expect(measured).toBe(2);
  });

  test("includes writes that a measurement may have missed, and counts no write twice", async () => {
    const long = longWrite(60);
    await Promise.resolve();
    expect(await write(50)).toContain("about 60 are used");
    taken = [{ diskBytes: 30, memoryBytes: 0 }];
    expect(await write(50)).toContain("about 90 are used");
    long.end();
    expect(await long.answer).toBeNull();
    expect(await write(50)).toBeNull();
  });

  test("excludes writes that were refused or failed before anything was written", async () => {
    expect(await write(101)).not.toBeNull();
    await expect(write(100, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await write(100)).toBeNull();
  });
});

describe("a measurement", () => {
  test("is repeated in the background of a write once it is old", async () => {
    expect(await write(1)).toBeNull();
    nowMs += 1_900;
    expect(await write(1)).toBeNull();
    expect(measured).toBe(1);
    nowMs += 200;
    hold();
    expect(await write(1)).toBeNull();
    expect(await write(1)).toBeNull();
    expect(measured).toBe(2);
    release!();
  });

  test("accepts writes again after deletions, and is not repeated for each refusal", async () => {
    taken = [{ diskBytes: 200, memoryBytes: 0 }];
    for (let i = 0; i < 5; i++) expect(await write(1)).not.toBeNull();
    expect(measured).toBe(1);
    taken = [NOTHING];
    nowMs += 1_000;
    expect(await write(1)).toBeNull();
    expect(measured).toBe(2);
  });

  test("keeps the order of the writes waiting for it", async () => {
    hold();
    const order: number[] = [];
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const writes = [90, 1, 20, 2].map((bytes, i) =>
      write(bytes, async () => {
        order.push(i);
        await ended; // until then, no measurement includes the write
      }),
    );
    expect(order).toEqual([]);
    release!();
    await vi.waitFor(() => expect(order).toHaveLength(3));
    end();
    const refusals = await Promise.all(writes);
    expect(refusals.map((refused) => refused === null)).toEqual([true, true, false, true]);
    expect(order).toEqual([0, 1, 3]);
  });

  test("that fails keeps the previous result", async () => {
    let fails = true;
    const failing = new ByteQuotas({
      limitsOf: () => limits,
      measure: async () => {
        if (fails) throw new Error("a shard restarts");
        return [{ diskBytes: 100, memoryBytes: 0 }];
      },
      nowMs: () => nowMs,
      log,
    });
    const refusal = (): Promise<string | null> => failing.run(TENANT, 1, async (refused) => refused);
    expect(await refusal()).toBeNull();
    fails = false;
    nowMs += 5_000;
    expect(await refusal()).toContain("about 100 are used");
    fails = true;
    nowMs += 5_000;
    expect(await refusal()).toContain("about 100 are used");
  });
});

test("after a limit is removed, no write overtakes the waiting ones", async () => {
  hold();
  const order: string[] = [];
  const first = write(90, async () => void order.push("first"));
  limits = { diskBytes: null, memoryBytes: null };
  const second = write(90, async () => void order.push("second"));
  release!();
  expect(await Promise.all([first, second])).toEqual([null, null]);
  expect(order).toEqual(["first", "second"]);
});

test("a changed limit applies from the next write on", async () => {
  taken = [{ diskBytes: 150, memoryBytes: 0 }];
  expect(await write(1)).not.toBeNull();
  limits = { diskBytes: 200, memoryBytes: null };
  expect(await write(1)).toBeNull();
  limits = { diskBytes: 120, memoryBytes: null };
  expect(await write(1)).not.toBeNull();
});
