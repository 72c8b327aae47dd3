// The stages of a read that is sent to a shard by message: quarantine, queue, refusals, time slices,
// deadline.

import { expect, test } from "vitest";
import { ThreadReader } from "../../../../../server/fleet/reads/thread-reader.js";
import {
  type AskedSnapshot,
  fetchRead,
  messageRead,
  type ProgramRead,
} from "../../../../../server/fleet/shard-reader.js";
import type { Isolation } from "../../../../../server/fleet/threads/isolation.js";
import { LARGE_BYTES } from "../../../../../server/fleet/threads/tenant-slices.js";
import { RequestLife } from "../../../../../server/ground/jobs/request-life.js";
import { SHARD_DAMAGED, SHARD_TRAPPED, ShardError } from "../../../../../shards/protocol/errors.js";
import { encodeError, encodeOk } from "../../../../../shards/protocol/reply.js";
import { makeRecord } from "../../record.js";

const SOON = Date.now() + 600_000;

/** Shards that answer with `reply`. Records each read's stages. */
class World implements Isolation {
  readonly passed: string[] = [];
  apart: boolean | Promise<boolean> = false;
  reply: Uint8Array = encodeOk(new Uint8Array(4));
  readonly snapshot: AskedSnapshot = {
    record: makeRecord(),
    tenant: 7,
    slices: { next: async () => void this.passed.push("time slice") },
    life: new RequestLife(),
    data: 1,
    generation: 1,
    oldestGeneration: 1,
  };
  readonly reader = new ThreadReader(this, this, (shard, { code }) =>
    this.passed.push(`${code} in ${shard}`),
  );

  async read(shard: number, _message: Uint8Array, tenant: number): Promise<Uint8Array> {
    this.passed.push(`shard ${shard} for ${tenant}`);
    return this.reply;
  }

  enter(): boolean | Promise<boolean> {
    this.passed.push("enter");
    return this.apart;
  }

  async sendApart(shard: number): Promise<Uint8Array> {
    this.passed.push(`shard ${shard}, apart`);
    return this.reply;
  }

  leave(_shard: number, _subject: unknown, _apart: boolean, error: unknown): void {
    this.passed.push(error === null ? "leave" : "leave failed");
  }

  search(deadline: number): ProgramRead<number> {
    return {
      kind: "search",
      of: this.snapshot,
      asked: "a search",
      program: new Uint8Array(2),
      deadline,
      decode: ({ length }) => length,
    };
  }
}

test("each shard is asked, and its result is decoded", async () => {
  const world = new World();
  expect(await Promise.all(world.reader.read(world.search(SOON), [2, 5]))).toEqual([4, 4]);
  expect(world.passed).toEqual(["enter", "shard 2 for 7", "enter", "shard 5 for 7", "leave", "leave"]);
});

test("a read without a subject bypasses the quarantine", async () => {
  const world = new World();
  const read = messageRead(world.snapshot, new Uint8Array(1), (reply) => reply.length);
  expect(await world.reader.read(read, [0])[0]).toBe(5);
  expect(world.passed).toEqual(["shard 0 for 7"]);
});

test("a suspect is sent separately, once its trial has begun", async () => {
  const world = new World();
  world.apart = Promise.resolve(true);
  await world.reader.read(world.search(SOON), [1])[0];
  expect(world.passed).toEqual(["enter", "shard 1, apart", "leave"]);
});

test("a refusal is thrown before the read leaves the quarantine, and damage is reported", async () => {
  const world = new World();
  world.reply = encodeError(new ShardError(SHARD_TRAPPED, "unreachable"));
  await expect(world.reader.read(world.search(SOON), [0])[0]).rejects.toMatchObject({ life: null });
  expect(world.passed.at(-1)).toBe("leave failed");
  world.reply = encodeError(new ShardError(SHARD_DAMAGED, "a segment", { uid: 1 }));
  const fetched = world.reader.read(fetchRead(world.snapshot, [1], {}), [3])[0];
  await expect(fetched).rejects.toMatchObject({ code: "SK-SE-503", retryAfter: 60 });
  expect(world.passed.slice(-2)).toEqual([`${SHARD_DAMAGED} in 3`, "leave failed"]);
});

test("a large reply waits for a time slice, and a late reply is not decoded", async () => {
  const world = new World();
  world.reply = encodeOk(new Uint8Array(LARGE_BYTES));
  expect(await world.reader.read(world.search(Date.now() + 60_000), [0])[0]).toBe(LARGE_BYTES);
  await expect(world.reader.read(world.search(Date.now() - 1), [0])[0]).rejects.toMatchObject({
    retryAfter: 1,
  });
  expect(world.passed.filter((what) => what === "time slice")).toHaveLength(2);
});
