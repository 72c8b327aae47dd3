// Simulates a power failure at every sync of an index in several shards, starts again, and expects each batch
// and each deletion by filter that was under way completely or not at all, and every acknowledged one.
import { isDeepStrictEqual } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SkeinError } from "../../server/ground/errors.js";
import { effort } from "../effort.js";
import { field, makeRecord } from "../unit/server/record.js";
import { CrashFleet, type Stored } from "./crash-fleet.js";
import { CrashDisk } from "./crash-store.js";

const PRICE_SLOT = 1;
const RECORD = makeRecord({}, [field("title", "string", 0), field("price", "int32", PRICE_SLOT)]);

type Documents = ReadonlyMap<string, Stored>;

interface Operation {
  send(fleet: CrashFleet): Promise<unknown>;
  after(before: Documents): Documents;
}

function documentsOf(from: number, to: number, price: number): Stored[] {
  return Array.from({ length: to - from }, (_, i) => {
    return { id: `d${from + i}`, title: `number ${from + i}`, price: price + i };
  });
}

const put = (from: number, to: number, price: number): Operation => {
  const documents = documentsOf(from, to, price);
  return {
    send: (fleet) => fleet.batch("upsert", documents),
    after: (before) => new Map([...before, ...documents.map((one) => [one.id, one] as const)]),
  };
};

const remove = (ids: readonly string[]): Operation => ({
  send: (fleet) =>
    fleet.batch(
      "delete",
      ids.map((id) => ({ id })),
    ),
  after: (before) => new Map([...before].filter(([id]) => !ids.includes(id))),
});

const removeBelow = (price: number): Operation => ({
  send: (fleet) => fleet.deleteBelow(PRICE_SLOT, price),
  after: (before) => new Map([...before].filter(([, document]) => document.price >= price)),
});

/** The operations of a line are sent at the same time. Many small batches make the shards merge. */
const STORY: readonly (readonly Operation[])[] = [
  [put(0, 24, 10)],
  [put(0, 12, 50), put(12, 30, 5), put(6, 18, 70)],
  [removeBelow(12)],
  [put(0, 9, 1), remove(["d13", "d20", "d21", "d22"])],
  [put(2, 14, 30), removeBelow(9), put(30, 31, 8)],
  [put(0, 31, 20), put(5, 6, 90), put(0, 31, 40)],
];

interface Outcome {
  readonly certain: Documents;
  /** What was sent after that, and which of it was acknowledged. */
  readonly pending: readonly { readonly operation: Operation; readonly acknowledged: boolean }[];
  readonly made: boolean;
}

async function run(disks: readonly CrashDisk[]): Promise<Outcome> {
  const { power } = disks[0]!;
  let certain: Documents = new Map();
  let fleet: CrashFleet;
  try {
    fleet = await CrashFleet.start(RECORD, disks, false);
  } catch {
    return { certain, pending: [], made: false };
  }
  try {
    for (const operations of STORY) {
      const sent = await Promise.allSettled(operations.map((operation) => operation.send(fleet)));
      const pending = operations.map((operation, i) => {
        return { operation, acknowledged: sent[i]!.status === "fulfilled" };
      });
      if (power.failures > 0) return { certain, pending, made: true };
      expect(pending.every(({ acknowledged }) => acknowledged)).toBe(true);
      const possible = outcomes(certain, pending);
      certain = joined(await fleet.documents());
      expect(possible).toContainEqual(certain);
    }
    return { certain, pending: [], made: true };
  } finally {
    await fleet.stop();
  }
}

function joined(parts: readonly Documents[]): Documents {
  return new Map(parts.flatMap((part) => [...part]));
}

/** Every state that some order of the acknowledged operations and some of the others leads to. */
function outcomes(before: Documents, pending: Outcome["pending"]): Documents[] {
  const states: Documents[] = pending.some(({ acknowledged }) => acknowledged) ? [] : [before];
  for (const [i, { operation }] of pending.entries())
    states.push(...outcomes(operation.after(before), pending.toSpliced(i, 1)));
  return states;
}

async function expectWhole(disks: readonly CrashDisk[], { certain, pending, made }: Outcome): Promise<void> {
  const fleet = await CrashFleet.start(RECORD, disks, made);
  const found = joined(await fleet.documents());
  const isPossible = outcomes(certain, pending).some((documents) => isDeepStrictEqual(documents, found));
  if (!isPossible) expect(found).toEqual(certain); // shows the difference
  expect((await fleet.stats()).liveDocs).toBe(found.size);
  // The recovered index still takes writes and deletions, and keeps them.
  const next = put(3, 33, 100);
  await next.send(fleet);
  await removeBelow(100).send(fleet);
  const kept = removeBelow(100).after(next.after(found));
  expect(joined(await fleet.documents())).toEqual(kept);
  expect(fleet.reports).toEqual([]);
  await fleet.stop();
  const again = await CrashFleet.start(RECORD, disks, true);
  expect(joined(await again.documents())).toEqual(kept);
  await again.stop();
}

const SETTINGS = [
  { keepsLast: false, isEager: false },
  { keepsLast: true, isEager: false },
  { keepsLast: false, isEager: true },
  { keepsLast: true, isEager: true },
];

function copiesOf(disks: readonly CrashDisk[]): CrashDisk[] {
  const copies = CrashDisk.several(disks.length);
  for (const [i, copy] of copies.entries()) {
    const { keepsLast, isEager, durable } = disks[i]!;
    Object.assign(copy, { keepsLast, isEager });
    for (const [key, value] of durable) copy.durable.set(key, value);
  }
  return copies;
}

/** Freezes the disks of a start at each of its syncs, and expects that the next start makes up for it. */
async function expectWholeAfterCrashes(disks: readonly CrashDisk[], outcome: Outcome): Promise<number> {
  for (let freezeAt = 1; ; freezeAt++) {
    const copies = copiesOf(disks);
    copies[0]!.freezeAt = freezeAt;
    const fleet = await CrashFleet.start(RECORD, copies, outcome.made).catch(() => null);
    await fleet?.stop();
    const { failures } = copies[0]!.power;
    copies[0]!.freezeAt = 0;
    await expectWhole(copies, outcome);
    if (failures === 0) return freezeAt - 1;
  }
}

// A usual run tries a sample of the syncs, a long run all of them.
describe.each([
  { shards: 1, stride: 8 },
  { shards: 2, stride: 8 },
  { shards: 3, stride: 16 },
  { shards: 8, stride: 96 },
])("an index in $shards shards that loses power", ({ shards, stride }) => {
  const disksOf = (settings: object, freezeAt: number): CrashDisk[] => {
    const disks = CrashDisk.several(shards);
    for (const disk of disks) Object.assign(disk, { ...settings, freezeAt });
    return disks;
  };

  test("at any sync has whole batches", async () => {
    for (const [i, settings] of SETTINGS.entries()) {
      const calm = disksOf(settings, 0);
      await run(calm);
      const { syncs } = calm[0]!;
      expect(syncs).toBeGreaterThan(STORY.length);
      for (let freezeAt = 1 + effort(i, 0); freezeAt <= syncs; freezeAt += effort(stride, 1)) {
        const disks = disksOf(settings, freezeAt);
        const outcome = await run(disks);
        disks[0]!.freezeAt = 0;
        await expectWhole(disks, outcome);
      }
    }
  });

  test.runIf(shards === 3)("again while it takes batches back, has whole batches", async () => {
    let taken = 0;
    for (let freezeAt = 8; freezeAt < 30; freezeAt += effort(7, 1)) {
      const disks = disksOf(SETTINGS[0]!, freezeAt);
      const outcome = await run(disks);
      disks[0]!.freezeAt = 0;
      taken += await expectWholeAfterCrashes(disks, outcome);
    }
    expect(taken).toBeGreaterThan(0);
  });
});

describe("what was answered although one shard does not have its part", () => {
  const ids = (found: readonly Documents[]): string[][] => found.map((part) => [...part.keys()].sort());
  let disks: CrashDisk[];
  let fleet: CrashFleet;

  /** Ends the server as a loss of power does, and starts it again. */
  async function crash(): Promise<void> {
    disks[0]!.power.failures++;
    await fleet.stop();
    fleet = await CrashFleet.start(RECORD, disks, true);
  }

  beforeEach(async () => {
    disks = CrashDisk.several(3);
    fleet = await CrashFleet.start(RECORD, disks, false);
    await put(0, 12, 10).send(fleet);
  });

  afterEach(() => fleet.stop());

  test("stays when a shard refused its part", async () => {
    disks[1]!.refuses = ({ adds }) => adds === true;
    expect(await fleet.batch("upsert", documentsOf(0, 24, 50))).toEqual({ failed: 1 });
    const before = await fleet.documents();
    expect(ids(before)[1]!.length).toBeLessThan(ids(before)[0]!.length);
    await crash();
    expect(await fleet.documents()).toEqual(before);
  });

  test("stays when a shard had nothing to change", async () => {
    const known = await fleet.documents();
    const changed = [...known[0]!.values()].map((document) => ({ ...document, price: 99 }));
    await fleet.sync([...changed, ...known[1]!.values(), ...known[2]!.values()]);
    const before = await fleet.documents();
    expect(before[0]).not.toEqual(known[0]);
    await crash();
    expect(await fleet.documents()).toEqual(before);
  });

  test("stays when a shard's thread died, with or without its part", async () => {
    for (const turns of [0, 1, 2, 4, 8, 16]) {
      const sent = fleet.batch("upsert", documentsOf(0, 24, 100 + turns));
      for (let i = 0; i < turns; i++) await new Promise(setImmediate);
      await fleet.restart(1);
      await sent;
      const before = await fleet.documents();
      await crash();
      expect(await fleet.documents()).toEqual(before);
    }
  });

  test("is not promised while no shard can record that it is published", async () => {
    const before = joined(await fleet.documents());
    for (const disk of disks) disk.refuses = ({ adds }) => adds !== true;
    disks[1]!.refuses = () => true;
    const sent = [put(0, 24, 50), put(0, 24, 70)].map((operation) => operation.send(fleet));
    for (const one of sent) await expect(one).rejects.toThrow(SkeinError);
    for (const disk of disks) disk.refuses = () => false;
    await crash();
    expect(joined(await fleet.documents())).toEqual(before);
  });

  test("stays once a later write has been able to record it", async () => {
    for (const disk of disks) disk.refuses = ({ adds }) => adds !== true;
    disks[1]!.refuses = () => true;
    await expect(put(0, 24, 50).send(fleet)).rejects.toThrow(SkeinError);
    for (const disk of disks) disk.refuses = () => false;
    await put(20, 40, 70).send(fleet);
    const before = await fleet.documents();
    await crash();
    expect(await fleet.documents()).toEqual(before);
  });
});
