// Damage in every kind of stored value and in LevelDB's own files: a closed shard database on a real disk is
// damaged in one place and opened by the worker's own code. Every answer must be correct, or an error that
// names the damaged place. Afterwards, check must find the damage and repair must mend it.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runJob } from "../../../../shards/offline/shard-job.js";
import { encodeOpen } from "../../../../shards/protocol/control.js";
import type { OfflineJob, ShardReport } from "../../../../shards/protocol/offline.js";
import { Action } from "../../../../shards/protocol/ops.js";
import { decodeEmptyReply } from "../../../../shards/protocol/reply.js";
import { seal } from "../../../../shards/storage/envelope.js";
import * as keys from "../../../../shards/storage/keyspace.js";
import { hasDatabase } from "../../../../shards/storage/level-reader/level-files.js";
import { LevelStore } from "../../../../shards/storage/level-store.js";
import { StoreDamagedError } from "../../../../shards/storage/store.js";
import { effort } from "../../../effort.js";
import { engineModule, NO_VECTORS, SCHEMA, TestShard, UID } from "../harness.js";

const folder = mkdtempSync(join(tmpdir(), "skein-damage-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const OTHER = 8;
/** Length in bytes of the footer at the end of a table file; some of its bytes have no meaning. */
const FOOTER_BYTES = 48;
const whole = join(folder, "whole");
const body = (id: string, price: number) => ({ id, body: { id, title: `thing ${id}`, price } });
/** The index's contents by id. */
const expected = new Map<string, unknown>();
let bytes = new Map<string, Uint8Array>();
let copies = 0;

const locationIn = (dataDir: string): string => join(dataDir, "shards", "0");

/**
 * Enough documents to keep the first segment from being merged: few of its rows are deleted, and it is much
 * larger than the next segment.
 */
const FILLERS = Array.from({ length: 200 }, (_, i) => body(`filler-${i}`, i));

/**
 * Builds a database with every kind of key: two segments with deleted rows, dead and released documents, a
 * mark, a second index.
 */
beforeAll(async () => {
  const shard = await TestShard.open(await LevelStore.open(locationIn(whole)));
  await shard.ask(encodeOpen({ uid: OTHER, schema: SCHEMA, made: false, vectors: NO_VECTORS, published: 0 }));
  shard.oldest = 0;
  await shard.write(Action.UPSERT, [
    ...["a", "b", "c", "d", "e", "f"].map((id, i) => body(id, i)),
    ...FILLERS,
  ]);
  await shard.write(Action.UPSERT, [body("b", 20), body("g", 21)]);
  await shard.write(Action.DELETE, [{ id: "c" }]);
  for (const [id, one] of await shard.documents()) expected.set(id, one);
  await shard.close();
  const db = new ClassicLevel<Uint8Array, Uint8Array>(locationIn(whole), options);
  const mark = seal(6, 1, Uint8Array.of(1, 0, 0, 0));
  await db.put(keys.unfinishedKey(UID, 90), mark);
  const released = seal(10, 1, new Uint8Array(Float64Array.of(3).buffer));
  await db.put(keys.releasedDocumentsKey(UID), released);
  bytes = new Map();
  for await (const [key, value] of db.iterator()) bytes.set(Buffer.from(key).toString("hex"), value);
  await db.close();
});

const options = { keyEncoding: "view", valueEncoding: "view", compression: false } as const;

function copy(): string {
  const dataDir = join(folder, String(copies++));
  cpSync(whole, dataDir, { recursive: true });
  return dataDir;
}

/** Returns a copy with one value replaced, or removed if `value` is null. */
async function damagedCopy(key: Uint8Array, value: Uint8Array | null): Promise<string> {
  const dataDir = copy();
  const db = new ClassicLevel<Uint8Array, Uint8Array>(locationIn(dataDir), options);
  if (value === null) await db.del(key);
  else await db.put(key, value);
  await db.close();
  return dataDir;
}

async function job(task: "check" | "repair", dataDir: string): Promise<ShardReport> {
  const indexes = [UID, OTHER].map((uid) => ({
    uid,
    schema: SCHEMA,
    shards: 1,
    part: 0,
  }));
  const asked: OfflineJob = {
    task,
    dataDir,
    shard: 0,
    indexes,
    only: null,
    dropping: [],
    dryRun: false,
  };
  return runJob(asked, await engineModule());
}

const problemsOf = (report: ShardReport): string[] => [
  ...report.problems,
  ...report.indexes.flatMap((index) => index.problems),
];

function flip(value: Uint8Array, at: number): Uint8Array {
  const changed = Uint8Array.from(value);
  changed[at]! ^= 1 << (at & 7);
  return changed;
}

/** Returns the positions at which to flip a bit: in the frame and in some of the payload. */
function places(value: Uint8Array): number[] {
  const wanted = [0, 6, 12, value.length - 1, ...effort([], [4, 8, 17, value.length >> 1])];
  return [...new Set(wanted.filter((at) => at < value.length))];
}

/**
 * Sends every kind of request and expects a correct result or an error that names damage. Returns these
 * errors' messages.
 */
async function askEverything(dataDir: string): Promise<string[]> {
  const named: string[] = [];
  const store = await LevelStore.open(locationIn(dataDir));
  let shard: TestShard;
  try {
    shard = await TestShard.open(store);
  } catch (error) {
    expect(error).toMatchObject({ code: "SHARD-DAMAGED" });
    await store.close();
    return [(error as Error).message];
  }
  const ask = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if ((error as Error).name === "AssertionError") throw error;
      expect(error).toMatchObject({ code: "SHARD-DAMAGED" });
      named.push((error as Error).message);
    }
  };
  for (const id of ["a", "b", "c", "d", "e", "f", "g"]) {
    await ask(async () => expect(await shard.get(id)).toEqual(expected.get(id) ?? null));
  }
  await ask(async () => expect(await shard.documents()).toEqual(expected));
  await ask(async () => {
    await shard.write(Action.UPDATE, [{ id: "a", body: { price: 77 } }]);
    expect(await shard.get("a")).toMatchObject({ price: 77 });
  });
  for (const message of named) expect(shard.reports.some((line) => line.includes(message))).toBe(true);
  decodeEmptyReply(await shard.ask(Uint8Array.of(7)));
  return named;
}

const ROWS: { kind: string; key: (seq: number) => Uint8Array; name: RegExp; removable: boolean }[] = [
  { kind: "manifest", key: () => keys.manifestKey(UID), name: /index 7, manifest/, removable: true },
  { kind: "schema", key: () => keys.schemaKey(UID), name: /index 7, schema/, removable: true },
  {
    kind: "piece",
    key: () => keys.pieceKey(UID, 1, 0),
    name: /index 7, segment 1, piece 0/,
    removable: true,
  },
  {
    kind: "deleted rows",
    key: () => keys.deletedRowsKey(UID, 1),
    name: /index 7, deleted rows of segment 1/,
    removable: true,
  },
  {
    kind: "dead documents",
    key: () => keys.deadDocumentsKey(UID, 2),
    name: /index 7, dead documents of generation 2/,
    removable: false,
  },
  {
    kind: "released documents",
    key: () => keys.releasedDocumentsKey(UID),
    name: /index 7, released documents/,
    removable: false,
  },
  {
    kind: "mark",
    key: () => keys.unfinishedKey(UID, 90),
    name: /index 7, unfinished segment 90/,
    removable: false,
  },
  { kind: "document", key: () => keys.documentKey(UID, 1), name: /index 7, document 1/, removable: true },
];

describe("damage in a stored value", () => {
  test("an undamaged database answers everything, and check finds nothing", async () => {
    expect(problemsOf(await job("check", copy()))).toEqual([]);
    expect(await askEverything(copy())).toEqual([]);
    const kinds = new Set([...bytes.keys()].map((hex) => keys.kindOfKey(Buffer.from(hex, "hex"))));
    expect(kinds.size).toBe(8);
  });

  for (const { kind, key, name, removable } of ROWS) {
    const stored = (): Uint8Array => bytes.get(Buffer.from(key(1)).toString("hex"))!;

    test(`${kind}: found and named, never answered; the other index works; repair fixes it`, async () => {
      const value = stored();
      const damages: (Uint8Array | null)[] = places(value).map((at) => flip(value, at));
      damages.push(value.subarray(0, value.length - 1), value.subarray(0, 3), new Uint8Array(0));
      if (removable) damages.push(null);
      for (const damaged of damages) {
        const dataDir = await damagedCopy(key(1), damaged);
        const checked = problemsOf(await job("check", dataDir));
        expect(checked.join("\n")).toMatch(name);
        const named = await askEverything(await damagedCopy(key(1), damaged));
        expect(named.length).toBeGreaterThan(0);
        for (const message of named) expect(message).toMatch(name);
        const repaired = await job("repair", dataDir);
        const lost = repaired.indexes.find(({ uid }) => uid === UID)!.repair!.lost;
        expect(lost.map(({ seq }) => seq)).toEqual(kind === "document" ? [1] : []);
        expect(problemsOf(await job("check", dataDir))).toEqual([]);
        const again = await TestShard.open(await LevelStore.open(locationIn(dataDir)));
        const whole = new Map(expected);
        if (kind === "document") whole.delete("a");
        expect(await again.documents()).toEqual(whole);
        expect((await again.search()).length).toBe(whole.size);
        await again.close();
      }
    });
  }

  test("a manifest that went back in time is detected", async () => {
    const dataDir = copy();
    const shard = await TestShard.open(await LevelStore.open(locationIn(dataDir)));
    await shard.write(Action.UPSERT, [body("h", 1)]);
    await shard.close();
    const db = new ClassicLevel<Uint8Array, Uint8Array>(locationIn(dataDir), options);
    await db.put(keys.manifestKey(UID), bytes.get(Buffer.from(keys.manifestKey(UID)).toString("hex"))!);
    await db.close();
    await expect(TestShard.open(await LevelStore.open(locationIn(dataDir)))).rejects.toMatchObject({
      code: "SHARD-DAMAGED",
      message: expect.stringContaining("index 7, manifest: older than index 7, document"),
    });
  });

  test("values of another version are refused, and repair leaves them alone", async () => {
    for (const [key, kind, version, what] of [
      [keys.manifestKey(UID), 1, 2, "index 7, manifest"],
      [keys.pieceKey(UID, 1, 0), 2, 1, "index 7, segment 1, piece 0"],
      [keys.schemaKey(UID), 5, 1, "index 7, schema"],
    ] as const) {
      const dataDir = await damagedCopy(key, seal(kind, version + 1, Uint8Array.of(1, 2, 3)));
      const store = await LevelStore.open(locationIn(dataDir));
      await expect(TestShard.open(store)).rejects.toMatchObject({
        code: "SHARD-VERSION",
        message: `${what}: format version ${version + 1}, this build reads ${version}`,
      });
      await store.close();
      const report = await job("repair", dataDir);
      expect(report.indexes[0]!.repair).toBeNull();
      expect(problemsOf(report)).toContainEqual(expect.stringContaining("another version of Skein wrote"));
    }
  });
});

describe("damage in LevelDB's files", () => {
  /** Returns a copy with a flipped bit in one file whose name matches `pattern`. */
  async function flippedFile(pattern: RegExp, at: (length: number) => number): Promise<string> {
    const dataDir = copy();
    const shard = await TestShard.open(await LevelStore.open(locationIn(dataDir)));
    for (const id of ["x", "y", "z"]) await shard.write(Action.UPSERT, [body(id, 1)]);
    await shard.close();
    const names = readdirSync(locationIn(dataDir)).filter((name) => pattern.test(name));
    const name = names
      .map((one) => join(locationIn(dataDir), one))
      .sort((a, b) => statSync(b).size - statSync(a).size)[0]!;
    const content = readFileSync(name);
    writeFileSync(name, flip(content, at(content.length)));
    return dataDir;
  }

  test.each([
    ["the log", /\.log$/, (length: number) => Math.floor(length / 3)],
    ["CURRENT", /^CURRENT$/, () => 3],
    ["the list of tables", /^MANIFEST/, () => 20],
  ] as const)("%s: the database does not open and says why; repair makes it open", async (_, pattern, at) => {
    const dataDir = await flippedFile(pattern, at);
    await expect(LevelStore.open(locationIn(dataDir))).rejects.toThrow(StoreDamagedError);
    expect((await job("check", dataDir)).problems.length).toBeGreaterThan(0);
    const repaired = await job("repair", dataDir);
    expect(repaired.filesRepaired, repaired.problems.join("\n")).toBe(true);
    expect(problemsOf(await job("check", dataDir)), repaired.problems.join("\n")).toEqual([]);
    const shard = await TestShard.open(await LevelStore.open(locationIn(dataDir)));
    for (const [id, document] of await shard.documents()) expect(document).toMatchObject({ id });
    await shard.close();
  });

  test("a missing last log record is damage after a clean shutdown, and accepted after a crash", async () => {
    const dataDir = await flippedFile(/\.log$/, (length) => length - 1);
    await expect(LevelStore.open(locationIn(dataDir))).rejects.toThrow(
      /has changed since the database was closed/,
    );
    expect((await job("check", dataDir)).problems).toEqual([expect.stringMatching(/\.log is damaged/)]);
    rmSync(join(locationIn(dataDir), "closed.json"));
    await (await LevelStore.open(locationIn(dataDir))).close();
  });

  test("the note of a clean shutdown does not apply to a database opened since", async () => {
    const dataDir = copy();
    const noted = readFileSync(join(locationIn(dataDir), "closed.json"));
    const shard = await TestShard.open(await LevelStore.open(locationIn(dataDir)));
    await shard.write(Action.UPSERT, [body("x", 1)]);
    const crashed = join(folder, String(copies++));
    cpSync(dataDir, crashed, { recursive: true });
    await shard.close();
    expect(readFileSync(join(locationIn(crashed), "closed.json"))).toEqual(noted);
    const reopened = await TestShard.open(await LevelStore.open(locationIn(crashed)));
    expect((await reopened.documents()).has("x")).toBe(true);
    await reopened.close();
  });

  test("a lost CURRENT does not make a new database", async () => {
    const dataDir = copy();
    rmSync(join(locationIn(dataDir), "CURRENT"));
    await expect(LevelStore.open(locationIn(dataDir))).rejects.toThrow("the file CURRENT is missing");
  });

  test("an interrupted creation of a database is repeated", async () => {
    const location = join(folder, String(copies++));
    mkdirSync(location);
    for (const name of ["LOCK", "LOG", "MANIFEST-000001", "000001.dbtmp"])
      writeFileSync(join(location, name), "");
    expect(hasDatabase(location)).toBe(false);
    const store = await LevelStore.open(location);
    expect(hasDatabase(location)).toBe(true);
    await store.close();
  });

  test.each([
    ["after a clean shutdown", true],
    ["after a crash", false],
  ])("a missing log, %s, never loses writes unnoticed; repair makes the rest open", async (_, orderly) => {
    const running = copy();
    const shard = await TestShard.open(await LevelStore.open(locationIn(running)));
    await shard.write(Action.UPSERT, [body("x", 1)]);
    if (orderly) await shard.close();
    const left = join(folder, String(copies++));
    cpSync(running, left, { recursive: true });
    if (!orderly) await shard.close();
    const log = readdirSync(locationIn(left)).find((name) => name.endsWith(".log"))!;
    rmSync(join(locationIn(left), log));
    await expect(LevelStore.open(locationIn(left))).rejects.toThrow(`the file ${log} is missing`);
    expect((await job("repair", left)).filesRepaired).toBe(true);
    expect(problemsOf(await job("check", left))).toEqual([]);
  });

  test("a directory without a database is reported and left unchanged", async () => {
    const dataDir = join(folder, String(copies++));
    mkdirSync(locationIn(dataDir), { recursive: true });
    for (const task of ["check", "repair"] as const) {
      expect((await job(task, dataDir)).problems).toEqual([
        "the database is missing; restore it from a backup",
      ]);
    }
    expect(readdirSync(locationIn(dataDir))).toEqual([]);
  });

  test("check finds flipped bytes anywhere in a table", async () => {
    const dataDir = copy();
    await LevelStore.repair(locationIn(dataDir)); // moves the log into a table
    const store = await LevelStore.open(locationIn(dataDir));
    await store.close();
    const table = readdirSync(locationIn(dataDir)).find((name) => name.endsWith(".ldb"))!;
    const file = join(locationIn(dataDir), table);
    const content = readFileSync(file);
    expect((await job("check", dataDir)).problems).toEqual([]);
    for (let at = 0; at < content.length - FOOTER_BYTES; at += 1 + (content.length >> 6)) {
      writeFileSync(file, flip(content, at));
      expect((await job("check", dataDir)).problems, `byte ${at} of ${content.length}`).toEqual([
        expect.stringContaining(table),
      ]);
    }
    writeFileSync(file, flip(content, content.length >> 1));
    expect((await job("repair", dataDir)).filesRepaired).toBe(true);
    expect(problemsOf(await job("check", dataDir))).toEqual([]);
  });
});
