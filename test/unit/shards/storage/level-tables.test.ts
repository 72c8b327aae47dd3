// A page of zeros anywhere in a table does not end the process: repair keeps every value that LevelDB can
// still read safely, and afterwards the database is intact.
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EVERY_KEY } from "../../../../shards/storage/keyspace.js";
import { levelDamage } from "../../../../shards/storage/level-reader/level-files.js";
import { LevelStore } from "../../../../shards/storage/level-store.js";

const PAGE_BYTES = 4096;
const VALUES = 400;
const folder = mkdtempSync(join(tmpdir(), "skein-tables-"));
const whole = join(folder, "whole");
const expected = new Map<string, string>();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes one table with about forty blocks. */
beforeAll(async () => {
  const store = await LevelStore.open(whole);
  for (let i = 0; i < VALUES; i++) {
    expected.set(`key/${String(i).padStart(4, "0")}`, `${i} `.repeat(100));
  }
  const ops = Array.from(expected, ([key, value]) => {
    return { type: "put" as const, key: Buffer.from(key), value: Buffer.from(value) };
  });
  await store.batch(ops, { sync: true });
  await store.close();
  await LevelStore.repair(whole); // moves the log into a table, but not as a store would
  const reopened = await LevelStore.open(whole);
  await reopened.compact(EVERY_KEY);
  await reopened.close();
});

const tableIn = (location: string): string => {
  const [name, ...more] = readdirSync(location).filter((one) => one.endsWith(".ldb"));
  expect(more).toEqual([]);
  return join(location, name!);
};

/** Changes the table in a copy, repairs the copy and returns the values that are left. */
async function repaired(change: (table: Buffer) => void): Promise<Map<string, string>> {
  const location = join(folder, "copy");
  rmSync(location, { recursive: true, force: true });
  cpSync(whole, location, { recursive: true });
  const table = readFileSync(tableIn(location));
  change(table);
  writeFileSync(tableIn(location), table);
  expect(levelDamage(location, true)).toHaveLength(1);
  await LevelStore.repair(location);
  const store = await LevelStore.open(location);
  await store.compact(EVERY_KEY);
  const left = new Map<string, string>();
  for await (const [key, value] of store.entries(EVERY_KEY)) {
    left.set(Buffer.from(key).toString(), Buffer.from(value).toString());
  }
  for (const [key, value] of left) {
    expect(Buffer.from((await store.get(Buffer.from(key)))!).toString()).toBe(value);
  }
  await store.close();
  expect(levelDamage(location, true)).toEqual([]);
  return left;
}

function missing(left: ReadonlyMap<string, string>): number {
  return [...expected].filter(([key, value]) => left.get(key) !== value).length;
}

describe("repairing a table", () => {
  test("with a page of zeros loses the values in its blocks", async () => {
    const { length } = readFileSync(tableIn(whole));
    const inBlocks = length - 3 * PAGE_BYTES; // the filter and indexes follow the blocks
    for (let at = 0; at < inBlocks; at += PAGE_BYTES) {
      const lost = missing(await repaired((table) => table.fill(0, at, at + PAGE_BYTES)));
      expect(lost, `page at ${at}`).toBeGreaterThan(0);
      expect(lost, `page at ${at}`).toBeLessThan(40);
    }
  });

  test("with a flipped bit in a value loses that value only", async () => {
    const left = await repaired((table) => {
      table[table.indexOf("77 77 77") + 20]! ^= 1;
    });
    expect(left.size).toBe(VALUES);
    expect(missing(left)).toBe(1);
  });

  test("with a flipped bit in the filter loses nothing, and no key is mistaken for missing afterwards", async () => {
    const left = await repaired((table) => {
      table[table.indexOf("filter.leveldb") - 60]! ^= 1;
    });
    expect(missing(left)).toBe(0);
  });

  test("with a damaged index, meta index or footer loses nothing: the blocks are found without them", async () => {
    const table = readFileSync(tableIn(whole));
    const meta = table.indexOf("filter.leveldb");
    for (const at of [meta, meta + 200, table.length - 100, table.length - 1]) {
      const left = await repaired((one) => {
        one[at]! ^= 4;
      });
      expect(missing(left), `byte ${at}`).toBe(0);
    }
    expect(missing(await repaired((one) => one.fill(0, meta)))).toBe(0);
  });

  test("of zeros does not crash the process", async () => {
    expect((await repaired((table) => table.fill(0))).size).toBe(0);
  });
});

test("a table cut short before it was listed is not damage", async () => {
  const location = join(folder, "killed");
  cpSync(whole, location, { recursive: true });
  const table = readFileSync(tableIn(location));
  const cutShort = join(location, "000099.ldb");
  writeFileSync(cutShort, table.subarray(0, table.length / 2));
  expect(levelDamage(location, true)).toEqual([]);
  const store = await LevelStore.open(location);
  await store.close();
  expect(existsSync(cutShort)).toBe(false);

  writeFileSync(tableIn(location), table.subarray(0, table.length / 2));
  expect(levelDamage(location, true)).toEqual([
    expect.stringContaining("it does not end like a table") as unknown,
  ]);
});
