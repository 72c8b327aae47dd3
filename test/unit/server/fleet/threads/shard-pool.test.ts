// The shard threads' life cycle: order, back-pressure, crashes, recovery, shutdown. The threads run a small
// worker instead of a shard.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { type Ask, type Message, ShardPool } from "../../../../../server/fleet/threads/shard-pool.js";
import { RequestLife } from "../../../../../server/ground/jobs/request-life.js";

const workerFile = fileURLToPath(new URL("../workers/echo-worker.mjs", import.meta.url));
const [ECHO, ECHO_LATE, EXIT, CRASH, THROW, HANG, ECHO_SLOW] = [0, 1, 2, 3, 4, 5, 6];
const TENANT = 1;
const message = (...bytes: number[]): Message => new Uint8Array(bytes);
const pools: ShardPool[] = [];

interface PoolOptions {
  queue?: number;
  hangMs?: number;
  recover?: (shard: number, ask: Ask) => Promise<void>;
  dieDir?: string;
}

/** A thread that is not hung, but only waiting for a core on a busy machine, recovers within this time. */
const HANG_MS = 2_000;
const NEVER_MS = 3_600_000;

async function startPool(options: PoolOptions = {}) {
  const pool = new ShardPool({
    shards: 2,
    workerData: (shard, beats) => ({ shard, beats, dieDir: options.dieDir }),
    ping: () => message(ECHO),
    checkReply: () => undefined,
    limits: {
      shardQueueRequestsMax: options.queue ?? 100,
      searchMsMax: 60_000,
      shardHangMsMax: options.hangMs ?? NEVER_MS,
    },
    log: pino({ level: "silent" }),
    recover: options.recover ?? (async () => undefined),
    workerFile,
  });
  pools.push(pool);
  await pool.start();
  return pool;
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close(() => message(ECHO))));
});

describe("shard pool", () => {
  it("answers many concurrent requests", async () => {
    const pool = await startPool();
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) => pool.ask(i % 2, message(ECHO_LATE, i, 0))),
    );
    expect(replies.map((reply) => reply[1])).toEqual(Array.from({ length: 50 }, (_, i) => i));
    expect(Math.max(...replies.map((reply) => reply[2]!))).toBeGreaterThan(1);
  });

  it("answers each read with its own reply, alongside requests", async () => {
    const pool = await startPool();
    const reads = Array.from({ length: 40 }, (_, i) =>
      pool.read(0, message(i % 3 === 0 ? ECHO_LATE : ECHO, i), TENANT, new RequestLife()),
    );
    const request = pool.ask(0, message(ECHO_LATE, 99));
    expect((await Promise.all(reads)).map((reply) => reply[1])).toEqual(reads.map((_, i) => i));
    expect((await request)[1]).toBe(99);
  });

  it("counts queued reads", async () => {
    const pool = await startPool({ queue: 2 });
    const reads = [1, 2, 3].map((i) => pool.read(0, message(ECHO_LATE, i), TENANT, new RequestLife()));
    const results = await Promise.allSettled(reads);
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  });

  it("fails the running reads when the thread ends, and answers later ones from the next thread", async () => {
    const pool = await startPool();
    const inside = [
      pool.read(1, message(ECHO_LATE), TENANT, new RequestLife()),
      pool.read(1, message(EXIT), TENANT, new RequestLife()),
      pool.read(1, message(ECHO), TENANT, new RequestLife()),
    ];
    const results = await Promise.allSettled(inside);
    for (const result of results)
      expect(result).toMatchObject({ status: "rejected", reason: { code: "SK-SE-503", retryAfter: 1 } });
    expect((await pool.read(1, message(ECHO, 9), TENANT, new RequestLife()))[1]).toBe(9);
    expect(pool.readings()[1]!.restarts).toBe(1);
  });

  it("ends a thread that hangs in a read", async () => {
    const pool = await startPool({ hangMs: HANG_MS });
    await expect(pool.read(0, message(HANG), TENANT, new RequestLife())).rejects.toMatchObject({
      code: "SK-SE-503",
    });
    expect((await pool.read(0, message(ECHO, 3), TENANT, new RequestLife()))[1]).toBe(3);
  });

  it("refuses requests beyond the queue's length", async () => {
    const pool = await startPool({ queue: 3 });
    const asks = Array.from({ length: 4 }, () => pool.ask(0, message(ECHO_LATE)));
    const results = await Promise.allSettled(asks);
    expect(results.map((result) => result.status)).toEqual([
      "fulfilled",
      "fulfilled",
      "fulfilled",
      "rejected",
    ]);
    expect(results[3]).toMatchObject({ reason: { code: "SK-SE-503", retryAfter: 1 } });
  });

  it("passes on a request's error without a restart", async () => {
    let recoveries = 0;
    const pool = await startPool({ recover: async () => void recoveries++ });
    await expect(pool.ask(0, message(THROW))).rejects.toThrow("refused");
    expect((await pool.ask(0, message(ECHO, 7)))[1]).toBe(7);
    expect(recoveries).toBe(0);
  });

  it.each([
    ["exits", EXIT],
    ["crashes", CRASH],
    ["hangs", HANG],
  ])("restarts a thread that %s and lets later requests wait", async (_name, how) => {
    const recovered: number[] = [];
    const pool = await startPool({
      hangMs: how === HANG ? HANG_MS : NEVER_MS,
      recover: async (shard, ask) => {
        recovered.push((await ask(message(ECHO, 40 + shard)))[1] as number);
      },
    });
    const inside = pool.ask(1, message(ECHO_SLOW));
    const fatal = pool.ask(1, message(how));
    const other = pool.ask(0, message(ECHO_LATE, 5));
    await expect(inside).rejects.toMatchObject({ code: "SK-SE-503", retryAfter: 1 });
    await expect(fatal).rejects.toMatchObject({ code: "SK-SE-503" });
    expect((await pool.ask(1, message(ECHO, 9)))[1]).toBe(9);
    expect((await other)[1]).toBe(5);
    expect(recovered).toEqual([41]);
  });

  it("recovers again when the thread dies during its recovery", async () => {
    let attempts = 0;
    const pool = await startPool({
      recover: async (_shard, ask) => {
        if (attempts++ < 2) await ask(message(EXIT));
      },
    });
    await expect(pool.ask(0, message(EXIT))).rejects.toMatchObject({ code: "SK-SE-503" });
    expect((await pool.ask(0, message(ECHO, 3)))[1]).toBe(3);
    expect(attempts).toBe(3);
    expect(pool.open).toBe(true);
  });

  it("recovers at once if the new thread dies before it has loaded", async () => {
    const folder = mkdtempSync(join(tmpdir(), "skein-pool-"));
    writeFileSync(join(folder, "die"), "");
    const pool = await startPool({ dieDir: folder });
    await expect(pool.ask(0, message(EXIT))).rejects.toMatchObject({ code: "SK-SE-503" });
    expect((await pool.ask(0, message(ECHO, 3)))[1]).toBe(3);
    expect(pool.readings()[0]!.restarts).toBe(4);
    rmSync(folder, { recursive: true });
  });

  it("leaves alone a thread whose request waits longer than the hang limit", async () => {
    const pool = await startPool({ hangMs: HANG_MS });
    expect((await pool.ask(0, message(ECHO_SLOW, 4)))[1]).toBe(4);
    expect(pool.readings()[0]!.restarts).toBe(0);
  });
});

describe("closing a shard pool", () => {
  it("ends a thread that does not close in time, and says which shard it was", async () => {
    const pool = await startPool();
    let turn = 0;
    const closed = pool.close(() => message(turn++ === 0 ? ECHO : HANG), 50);
    await expect(closed).rejects.toThrow("shard 1 did not close in good order");
    pools.length = 0;
  });

  it("waits for no reads, and says when the last request was refused", async () => {
    const pool = await startPool();
    const read = pool.read(0, message(ECHO_SLOW), TENANT, new RequestLife());
    const outcome = expect(read).rejects.toMatchObject({ code: "SK-SE-503" });
    await expect(pool.close(() => message(THROW))).rejects.toThrow("shard 0 did not close in good order");
    await outcome;
    pools.length = 0;
  });

  it("ends while a thread that has died cannot be restarted", async () => {
    let attempts = 0;
    const pool = await startPool({
      recover: async () => {
        attempts++;
        throw new Error("not now");
      },
    });
    await expect(pool.ask(1, message(EXIT))).rejects.toMatchObject({ code: "SK-SE-503" });
    await pool.close(() => message(ECHO));
    expect(attempts).toBeLessThan(3);
    pools.length = 0;
  });

  it("finishes running requests, then refuses", async () => {
    const pool = await startPool();
    const late = pool.ask(0, message(ECHO_LATE, 8));
    await pool.close(() => message(ECHO));
    expect((await late)[1]).toBe(8);
    await expect(pool.ask(0, message(ECHO))).rejects.toMatchObject({ code: "SK-SE-503" });
    pools.length = 0;
  });
});
