// If the database refuses a write or a background job fails, nothing changes. If the engine traps, the index
// recovers without a restart.
import { afterEach, describe, expect, test } from "vitest";
import { EngineError } from "../../../../engine-wasm/host/engine-error.js";
import { armShardFault, SHARD_FAULT_POINTS } from "../../../../shards/fault.js";
import {
  SHARD_NO_MEMORY,
  SHARD_NOT_OPEN,
  SHARD_TRAPPED,
  SHARD_UNAVAILABLE,
} from "../../../../shards/protocol/errors.js";
import { Action } from "../../../../shards/protocol/ops.js";
import { CrashDisk, CrashStore } from "../../../crash/crash-store.js";
import { TestShard } from "../harness.js";

afterEach(() => {
  for (const point of SHARD_FAULT_POINTS) armShardFault(point, null);
});

const document = (id: string, price: number) => ({ id, body: { id, price } });

async function filled(disk = new CrashDisk()): Promise<TestShard> {
  const shard = await TestShard.open(new CrashStore(disk));
  await shard.write(Action.UPSERT, [document("a", 1), document("b", 2)]);
  return shard;
}

/** A store whose `getMany` waits until the test calls `goOn`. */
class WaitingStore extends CrashStore {
  goOn: (() => void) | null = null;

  override async getMany(keys: Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    await new Promise<void>((resolve) => {
      this.goOn = resolve;
    });
    return super.getMany(keys);
  }
}

describe("faults", () => {
  test("an index dropped while its documents are read is not reported as damaged", async () => {
    const store = new WaitingStore(new CrashDisk());
    const shard = await TestShard.open(store);
    await shard.write(Action.UPSERT, [document("a", 1), document("b", 2)]);
    const seqs = await shard.seqs();
    const exported = expect(shard.export(seqs)).rejects.toMatchObject({ code: SHARD_UNAVAILABLE });
    await shard.drop();
    store.goOn!();
    await exported;
    expect(shard.reports).toEqual([]);
    await shard.close();
  });

  test("a failed commit changes nothing, and the next one works", async () => {
    const shard = await filled();
    const before = await shard.stats();
    armShardFault("commit.before-batch", () => {
      throw new Error("disk full");
    });
    await expect(shard.write(Action.UPSERT, [document("a", 5), document("c", 5)])).rejects.toThrow(
      "disk full",
    );
    armShardFault("commit.before-batch", null);
    const { merging, memoryBytes } = before; // not compared: background work continues and takes memory
    expect({ ...(await shard.stats()), merging, memoryBytes }).toEqual(before);
    expect(await shard.get("a")).toEqual({ id: "a", price: 1 });
    expect(await shard.search()).toEqual(await shard.seqs());
    await shard.write(Action.UPSERT, [document("c", 6)]);
    expect((await shard.documents()).size).toBe(3);
    await shard.close();
  });

  test("a trap answers 503, and the index is back with all its documents", async () => {
    const shard = await filled();
    armShardFault("commit.before-batch", () => {
      throw new EngineError("trap", "unreachable");
    });
    const failed = shard.write(Action.UPSERT, [document("c", 3)]);
    await expect(failed).rejects.toMatchObject({ code: SHARD_TRAPPED });
    armShardFault("commit.before-batch", null);
    for (;;) {
      try {
        expect((await shard.documents()).size).toBe(2);
        break;
      } catch (error) {
        expect(error).toMatchObject({ code: SHARD_NOT_OPEN });
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
    await shard.write(Action.UPSERT, [document("c", 3)]);
    expect((await shard.documents()).size).toBe(3);
    expect(shard.reports.length).toBe(1);
    await shard.close();
  });

  test("running out of memory before the commit changes nothing; after it, the index is read again", async () => {
    const shard = await filled();
    const full = () => {
      throw new EngineError("memory", "full");
    };
    armShardFault("commit.before-batch", full);
    await expect(shard.write(Action.UPSERT, [document("c", 3)])).rejects.toMatchObject({
      code: SHARD_NO_MEMORY,
    });
    armShardFault("commit.before-batch", null);
    expect((await shard.documents()).size).toBe(2);
    expect(shard.reports).toEqual([]);
    armShardFault("commit.publish", full);
    await expect(shard.write(Action.UPSERT, [document("c", 3)])).rejects.toMatchObject({
      code: SHARD_UNAVAILABLE,
    });
    armShardFault("commit.publish", null);
    for (let size = 0; size !== 3; ) {
      size = await shard.documents().then(
        (documents) => documents.size,
        () => 0,
      );
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(shard.reports.length).toBe(1);
    await shard.close();
  });

  test("a failed merge is reported and keeps the old segments", async () => {
    const shard = await filled();
    armShardFault("merge.before-switch", () => {
      throw new Error("no");
    });
    for (let i = 0; i < 5; i++) await shard.write(Action.UPSERT, [document(`x${i}`, i)]);
    await shard.settled();
    expect(shard.reports).toEqual([expect.stringContaining("background work failed")]);
    expect((await shard.stats()).segments).toBe(6);
    expect((await shard.documents()).size).toBe(7);
    await shard.close();
  });

  test("an interrupted drop is finished when the shard opens", async () => {
    const disk = new CrashDisk();
    const shard = await filled(disk);
    armShardFault("drop.after-manifest", () => {
      throw new Error("power");
    });
    await expect(shard.drop()).rejects.toThrow("power");
    expect(disk.durable.size).toBeGreaterThan(0);
    const again = await TestShard.open(new CrashStore(disk));
    expect((await again.documents()).size).toBe(0);
    expect((await again.stats()).segments).toBe(0);
    await again.close();
  });

  test("damaged segment bytes are refused with their location", async () => {
    const disk = new CrashDisk();
    await (await filled(disk)).close();
    const piece = [...disk.durable.keys()].find((key) => key.charCodeAt(4) === 0x10)!;
    const bytes = Uint8Array.from(disk.durable.get(piece)!);
    bytes[100]! ^= 1;
    disk.durable.set(piece, bytes);
    await expect(TestShard.open(new CrashStore(disk))).rejects.toMatchObject({
      code: "SHARD-DAMAGED",
      message: expect.stringContaining("index 7, segment 1, piece 0"),
    });
  });
});
