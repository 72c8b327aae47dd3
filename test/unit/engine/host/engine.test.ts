// The engine's interface: look-ups by id and by sequence number, live bitsets, snapshots, and the release of
// memory.
import { expect, test } from "vitest";
import { type Engine, liveBytes } from "../../../../engine-wasm/host/instance/engine.js";
import { loadEngine } from "../load-engine.js";
import { type Catalogue, groupsOf, makeCatalogue } from "../segments/catalogue.js";

const module = await loadEngine();
const bench = module.workbench();

const isDead = (i: number): boolean => i % 5 === 2;
const seqOf = (i: number): number => 1000 + 7 * i;

function numbered(count: number, sizes: number[]): Catalogue {
  const documents = Array.from({ length: count }, (_, i) => ({ id: `doc-${i}` }));
  return makeCatalogue(module, bench, groupsOf(documents, sizes), isDead);
}

test("finds live documents by id hash in every segment, repeatedly", () => {
  const { engine, entries, snapshot } = numbered(300, [100, 1]);
  const numbers = [...Array(302).keys(), 7];
  const hashes = BigUint64Array.from(numbers, (i) => bench.hash(`doc-${i}`));
  const place = (i: number): { entry: number; row: number } =>
    i < 100 ? { entry: 0, row: i } : i === 100 ? { entry: 1, row: 0 } : { entry: 2, row: i - 101 };
  const expected = numbers.flatMap((i, hashIndex) =>
    i >= 300 || isDead(i) ? [] : [{ hashIndex, ...place(i), seq: seqOf(i) }],
  );
  expect(engine.findIds(snapshot, new Uint8Array(hashes.buffer))).toEqual(expected);
  const twice = engine.setSnapshot([entries[0]!, { segment: entries[0]!.segment, live: 0 }]);
  const one = new Uint8Array(BigUint64Array.of(hashes[3]!).buffer);
  expect(engine.findIds(twice, one).map(({ entry }) => entry)).toEqual([0, 1]);
  expect(() => engine.findIds(snapshot, one.subarray(1))).toThrow("malformed");
});

test("locates sequence numbers, including deleted rows", () => {
  const { engine, snapshot } = numbered(20, [5]);
  const seqs = Float64Array.of(seqOf(0), seqOf(4), seqOf(5), seqOf(19), seqOf(2), 0, seqOf(3) + 1, seqOf(20));
  const absent = { entry: -1, row: 0 };
  expect(engine.locate(snapshot, seqs)).toEqual([
    { entry: 0, row: 0 },
    { entry: 0, row: 4 },
    { entry: 1, row: 0 },
    { entry: 1, row: 14 },
    { entry: 0, row: 2 },
    absent,
    absent,
    absent,
  ]);
});

/**
 * Returns the address where the free memory at the end begins. A region of this size fits into no hole
 * further inside, so it is placed there.
 */
function wholeRegion(engine: Engine): number {
  const address = engine.reserveSegment(1_000_000);
  engine.detach(address);
  return address;
}

test("live bitsets can be full, cleared bit by bit, copied, stored and read back", () => {
  const engine = module.engine();
  const before = engine.usedBytes();
  const start = wholeRegion(engine);
  for (const rows of [1, 63, 64, 65, 130]) {
    const live = engine.liveAll(rows);
    expect(engine.liveCount(live, rows)).toBe(rows);
    expect(engine.kill(live, rows - 1)).toBe(true);
    expect(engine.kill(live, rows - 1)).toBe(false);
    const copy = engine.liveCopy(live, rows);
    engine.kill(live, 0);
    expect(engine.liveCount(copy, rows)).toBe(rows - 1);
    const bytes = engine.liveBytes(copy, rows);
    const stored = engine.reserveSegment(bytes.length);
    engine.fill(stored, 0, bytes);
    expect(engine.liveCount(stored, rows)).toBe(rows - 1);
    for (const region of [live, copy, stored]) engine.liveRelease(region);
  }
  expect(engine.usedBytes()).toBe(before);
  expect(wholeRegion(engine)).toBe(start);
});

test("detached segments make room for new ones", () => {
  const { engine, entries, snapshot } = numbered(400, [200]);
  const [first, second] = [entries[0]!, entries[1]!];
  expect([engine.rows(first.segment), engine.rows(second.segment)]).toEqual([200, 200]);
  const bytes = engine.segmentBytes(first.segment);
  engine.releaseSnapshot(snapshot);
  const used = engine.usedBytes();
  engine.detach(first.segment);
  expect(used - engine.usedBytes()).toBeGreaterThanOrEqual(bytes);
  expect(engine.reserveSegment(bytes)).toBe(first.segment);
  expect(engine.memoryBytes()).toBeGreaterThan(bytes);
});

test("a renewal moves the named objects; answers stay the same and memory shrinks", () => {
  const { engine, entries, snapshot } = numbered(400, [200]);
  const hashes = new Uint8Array(
    BigUint64Array.from({ length: 400 }, (_, i) => bench.hash(`doc-${i}`)).buffer,
  );
  const before = engine.findIds(snapshot, hashes);
  engine.detach(engine.attach(new Uint8Array(engine.segmentView(entries[0]!.segment))));
  engine.liveRelease(engine.liveAll(100_000_000));
  const grown = engine.memoryBytes();
  const regions = entries.flatMap(({ segment, live }) => [
    { address: segment, bytes: engine.segmentBytes(segment) },
    ...(live === 0 ? [] : [{ address: live, bytes: liveBytes(engine.rows(segment)) }]),
  ]);
  const moved = new Map(engine.renew(regions).map((address, i) => [regions[i]!.address, address]));
  expect(engine.memoryBytes()).toBeLessThan(grown - 10_000_000);
  const again = engine.setSnapshot(
    entries.map(({ segment, live }) => ({
      segment: moved.get(segment)!,
      live: live === 0 ? 0 : moved.get(live)!,
    })),
  );
  expect(engine.findIds(again, hashes)).toEqual(before);
  expect(engine.memoryBytes() - engine.usedBytes()).toBeLessThan(1_000_000);
});

test("a merged segment answers like its inputs", () => {
  const { engine, entries, snapshot } = numbered(300, [120, 90]);
  const hashes = new Uint8Array(
    BigUint64Array.from({ length: 300 }, (_, i) => bench.hash(`doc-${i}`)).buffer,
  );
  const before = engine.findIds(snapshot, hashes).map(({ hashIndex, seq }) => ({ hashIndex, seq }));
  const merge = engine.beginMerge(entries);
  while (!merge.step(50));
  const segment = merge.finish();
  const merged = engine.setSnapshot([{ segment, live: 0 }]);
  const after = engine.findIds(merged, hashes).map(({ hashIndex, seq }) => ({ hashIndex, seq }));
  expect(after).toEqual(before);
  expect(engine.rows(segment)).toBe(240);
});
