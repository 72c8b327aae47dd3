// Merging gives exactly the bytes of a segment built from the surviving documents, for random documents,
// splits, deletions and step sizes. Afterwards nothing remains in the engine's memory.
import fc from "fast-check";
import { expect, test } from "vitest";
import * as L from "../../../../engine-wasm/assembly/layout.js";
import type { BuildDocument, BuildField } from "../../../../engine-wasm/host/instance/build.js";
import { Merge, type MergeEntry } from "../../../../engine-wasm/host/instance/merge.js";
import { PLAIN_ANALYSIS } from "../../../../engine-wasm/host/instance/workbench.js";
import type { EngineInstance } from "../../../../engine-wasm/host/wasm/memory.js";
import { readSegment } from "../../../oracle/segments/segment-reader.js";
import { loadEngine } from "../load-engine.js";
import { anyDocuments, anyFields, seqsOf, toRaw } from "./documents.js";

const module = await loadEngine();
const bench = module.workbench();

function build(fields: BuildField[], documents: BuildDocument[]): Uint8Array {
  const { segment, failures } = bench.build({ fields, analysis: PLAIN_ANALYSIS }, documents);
  expect(failures).toEqual([]);
  return segment!;
}

/**
 * An input for a merge: its documents, and which of them are live. With `allLive`, the merge gets no bitset
 * of live rows for it.
 */
interface Part {
  documents: BuildDocument[];
  live: boolean[];
  allLive: boolean;
}

function liveBits(live: boolean[]): Uint8Array {
  // Also sets the bits after the last row, which the merge must ignore.
  const bits = new Uint8Array(Math.ceil(live.length / 64) * 8).fill(0xff);
  live.forEach((alive, row) => {
    if (!alive) bits[row >> 3]! &= ~(1 << (row & 7));
  });
  return bits;
}

function addParts(instance: EngineInstance, fields: BuildField[], parts: Part[]): MergeEntry[] {
  return parts.map((part) => ({
    segment: instance.region(build(fields, part.documents)),
    live: part.allLive ? 0 : instance.region(liveBits(part.live)),
  }));
}

function run(instance: EngineInstance, entries: MergeEntry[], units: number): Uint8Array {
  const merge = new Merge(instance, entries);
  let steps = 0;
  while (!merge.step(units)) if (++steps > 1e6) throw new Error("the merge does not end");
  return bytesOf(instance, merge.finish());
}

function bytesOf(instance: EngineInstance, segment: number): Uint8Array {
  const view = instance.view();
  return new Uint8Array(view.subarray(segment, segment + view.readUInt32LE(segment + L.SEG_BYTES)));
}

function survivors(parts: Part[]): BuildDocument[] {
  return parts.flatMap((part) => part.documents.filter((_, row) => part.allLive || part.live[row]));
}

function cutUp(documents: BuildDocument[], cuts: number[], lives: boolean[], allLive: boolean[]): Part[] {
  const ends = [...new Set(cuts.map((cut) => 1 + (cut % documents.length))), documents.length].sort(
    (a, b) => a - b,
  );
  let from = 0;
  const parts: Part[] = [];
  for (const end of new Set(ends)) {
    const own = documents.slice(from, end);
    const live = own.map((_, row) => lives[(from + row) % lives.length]!);
    parts.push({ documents: own, live, allLive: allLive[parts.length % allLive.length]! });
    from = end;
  }
  return parts;
}

function expectSame(merged: Uint8Array, fields: BuildField[], documents: BuildDocument[]): void {
  if (documents.length === 0) {
    const read = readSegment(merged);
    expect([read.rows, read.terms.length]).toEqual([0, 0]);
    return;
  }
  const built = build(fields, documents);
  if (Buffer.compare(merged, built) !== 0) expect(readSegment(merged)).toEqual(readSegment(built));
  expect(Buffer.compare(merged, built)).toBe(0);
}

test("a merge yields the same bytes as a build", () => {
  const plan = fc.record({
    fields: anyFields,
    count: fc.integer({ min: 1, max: 30 }),
    random: fc.infiniteStream(fc.nat()),
    cuts: fc.array(fc.nat(), { maxLength: 5 }),
    lives: fc.array(fc.boolean(), { minLength: 1, maxLength: 30 }),
    allLive: fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
    units: fc.constantFrom(1, 2, 7, 1000000),
  });
  fc.assert(
    fc.property(plan, ({ fields, count, random, cuts, lives, allLive, units }) => {
      const documents = toRaw(anyDocuments(fields, count, random), seqsOf(count));
      const parts = cutUp(documents, cuts, lives, allLive);
      const instance = module.instantiate();
      const merged = run(instance, addParts(instance, fields, parts), units);
      expectSame(merged, fields, survivors(parts));
    }),
    { numRuns: 300 },
  );
});

const CATALOGUE: BuildField[] = [
  { slot: 2, name: "title", type: L.TYPE_STRING, flags: L.FLAG_INDEX, language: 0 },
  { slot: 0, name: "tags", type: L.TYPE_STRINGS, flags: L.FLAG_INDEX | L.FLAG_FACET, language: 0 },
  {
    slot: 7,
    name: "price",
    type: L.TYPE_FLOAT,
    flags: L.FLAG_INDEX | L.FLAG_SORT | L.FLAG_FACET,
    language: 0,
  },
  { slot: 9, name: "codes", type: L.TYPE_INT32S, flags: L.FLAG_INDEX, language: 0 },
];

function catalogue(count: number): BuildDocument[] {
  const documents = Array.from({ length: count }, (_, i) => ({
    id: `d${i}`,
    title: `common ${"often ".repeat((i * 7) % 5)}${i % 3 === 0 ? "third" : ""} word${i % 97} ${i % 500 === 0 ? "rare" : ""}`,
    tags: i % 5 === 0 ? null : [`t${i % 11}`, "common tag", `only ${i}`],
    price: i % 13,
    codes: Array.from({ length: i % 4 }, (_value, j) => i * j),
  }));
  return toRaw(documents, seqsOf(count));
}

test.each([
  ["without deletions", 1],
  ["every third deleted", 3],
  ["all but every tenth deleted", 10],
])("posting lists of many blocks, %s", (_name, kind) => {
  const documents = catalogue(3000);
  const lives = documents.map((_, i) => kind === 1 || (kind === 3 ? i % 3 !== 1 : i % 10 === 0));
  for (const cuts of [[], [1499], [99, 130, 999, 2500]]) {
    const parts = cutUp(documents, cuts, [true], [kind === 1]);
    let row = 0;
    for (const part of parts) part.live = part.live.map(() => lives[row++]!);
    const instance = module.instantiate();
    const entries = addParts(instance, CATALOGUE, parts);
    expectSame(run(instance, entries, 50), CATALOGUE, survivors(parts));
  }
});

test("fields that only some inputs have", () => {
  const [title, tags, price, codes] = CATALOGUE as [BuildField, BuildField, BuildField, BuildField];
  const documents = catalogue(60);
  const instance = module.instantiate();
  const entries = [
    { segment: instance.region(build([title, price], documents.slice(0, 20))), live: 0 },
    { segment: instance.region(build([tags, codes], documents.slice(20, 40))), live: 0 },
    { segment: instance.region(build([codes, title], documents.slice(40))), live: 0 },
  ];
  const read = readSegment(run(instance, entries, 3));
  expect(read.fields.map((field) => field.slot)).toEqual([0, 2, 7, 9]);
  expect(read.fields.map((field) => field.present.map(Number).join(""))).toEqual([
    documents.map((_, i) => Number(i >= 20 && i < 40 && i % 5 !== 0)).join(""),
    documents.map((_, i) => Number(i < 20 || i >= 40)).join(""),
    documents.map((_, i) => Number(i < 20)).join(""),
    documents.map((_, i) => Number(i >= 20 && i % 4 !== 0)).join(""),
  ]);
  expect(read.fields[2]!.ordinals!.slice(18, 22)).toEqual([5, 6, -1, -1]);
});

test("a slot's type and flags must agree in all inputs", () => {
  const documents = catalogue(10);
  const [title, tags] = CATALOGUE as [BuildField, BuildField];
  const instance = module.instantiate();
  const first = { segment: instance.region(build([title, tags], documents.slice(0, 5))), live: 0 };
  const before = instance.run((kernels) => kernels.regionBytes());
  for (const other of [
    { ...title, flags: title.flags | L.FLAG_SORT },
    { ...title, name: "tags", type: L.TYPE_STRINGS },
  ]) {
    const second = { segment: instance.region(build([other], documents.slice(5))), live: 0 };
    expect(() => new Merge(instance, [first, second])).toThrow("malformed");
    instance.release(second.segment);
  }
  expect(() => new Merge(instance, [])).toThrow("malformed");
  expect(instance.run((kernels) => kernels.regionBytes())).toBe(before);
});

test("inputs may disagree on which fields are required", () => {
  const documents = catalogue(10);
  const [title] = CATALOGUE as [BuildField];
  const instance = module.instantiate();
  const required = { ...title, flags: title.flags | L.FLAG_REQUIRED };
  for (const [first, second] of [
    [required, title],
    [title, required],
  ] as const) {
    const entries = [
      { segment: instance.region(build([first], documents.slice(0, 5))), live: 0 },
      { segment: instance.region(build([second], documents.slice(5))), live: 0 },
    ];
    expect(run(instance, entries, 3)).toEqual(build([first], documents));
  }
});

test("live bits are those at the start, other work may run between two steps, and memory is freed", () => {
  const parts = cutUp(catalogue(500), [200], [true, true, false], [false]);
  const instance = module.instantiate();
  const entries = addParts(instance, CATALOGUE, parts);
  const before = instance.run((kernels) => kernels.regionBytes());
  const cancelled = new Merge(instance, entries);
  cancelled.step(40);
  cancelled.cancel();
  cancelled.cancel();
  expect(instance.run((kernels) => kernels.regionBytes())).toBe(before);

  const merge = new Merge(instance, entries);
  instance.view().fill(0, entries[0]!.live, entries[0]!.live + 8);
  const others: number[] = [];
  while (!merge.step(20)) {
    expect(() => merge.finish()).toThrow();
    others.push(instance.region(new Uint8Array(1000).fill(0xee)));
    instance.input(new Uint8Array(100000).fill(0xdd));
  }
  const segment = merge.finish();
  expectSame(bytesOf(instance, segment), CATALOGUE, survivors(parts));
  expect(() => merge.step(1)).toThrow("ended");
  for (const other of others) instance.release(other);
  instance.release(segment);
  expect(instance.run((kernels) => kernels.regionBytes())).toBe(before);
});
