// Codes regions agree with plain loops when filled from vector records, copied between segments, and stored
// and loaded again. Damaged regions are refused.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Random } from "../../../../bench/random.js";
import { EngineError } from "../../../../engine-wasm/host/engine-error.js";
import type { Engine } from "../../../../engine-wasm/host/instance/engine.js";
import { PLAIN_ANALYSIS } from "../../../../engine-wasm/host/instance/workbench.js";
import { codesLength } from "../../../../engine-wasm/host/vectors/codes.js";
import { effort } from "../../../effort.js";
import { type PlainVector, plainCodes, plainRecords } from "../../../oracle/vectors/codes.js";
import { loadEngine } from "../load-engine.js";
import { toRaw } from "../segments/documents.js";
import { randomVector } from "./random-vectors.js";

const module = await loadEngine();
const bench = module.workbench();

function segmentOf(seqs: readonly number[]): Uint8Array {
  const documents = toRaw(
    seqs.map((seq) => ({ id: `d${seq}` })),
    seqs,
  );
  return bench.build({ fields: [], analysis: PLAIN_ANALYSIS }, documents).segment!;
}

function someVectors(random: Random, count: number): PlainVector[] {
  const few = Array.from({ length: 5 }, () => randomVector(random));
  return Array.from({ length: count }, () => random.pick([null, ...few]));
}

function damaged(engine: Engine, bytes: Uint8Array): void {
  const before = engine.usedBytes();
  expect(() => engine.attachCodes(bytes)).toThrow(expect.objectContaining({ code: "damaged" }));
  expect(engine.usedBytes()).toBe(before);
}

test("codes are the signs of vector records", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 200 }), fc.integer(), (count, seed) => {
      const random = new Random(seed);
      const engine = module.engine();
      // Frees a codes region, so that the next one gets memory that is not zero.
      engine.releaseCodes(engine.attachCodes(plainCodes(someVectors(random, count))));
      const codes = engine.newCodes(count);
      const vectors: PlainVector[] = new Array(count).fill(null);
      for (let i = 0; i < 4; i++) {
        expect(Buffer.from(engine.codesBytes(codes, count))).toEqual(Buffer.from(plainCodes(vectors)));
        expect(engine.codesCount(codes)).toBe(vectors.filter((one) => one !== null).length);
        const live = engine.liveAll(count);
        const isLive = vectors.map((_, row) => random.below(3) > 0 || !engine.kill(live, row));
        const counted = vectors.filter((one, row) => one !== null && isLive[row]);
        expect(engine.codesCount(codes, live)).toBe(counted.length);
        engine.liveRelease(live);
        const first = random.from(0, count);
        const some = someVectors(random, random.from(0, count - first));
        engine.fillCodes(codes, first, plainRecords(some));
        vectors.splice(first, some.length, ...some);
      }
      const stored = engine.codesBytes(codes, count);
      const other = module.engine();
      expect(other.codesBytes(other.attachCodes(stored), count)).toEqual(stored);
      const filled = other.reserveSegment(stored.length);
      let at = 0;
      for (const part of engine.codesParts(codes)) {
        other.fill(filled, at, part);
        at += part.length;
      }
      other.attachFilledCodes(filled, at);
      expect(other.codesBytes(filled, count)).toEqual(stored);
    }),
    { numRuns: effort(24, 400) },
  );
});

test("records for rows beyond the end are refused", () => {
  const engine = module.engine();
  const codes = engine.newCodes(3);
  const two = plainRecords(someVectors(new Random(1), 2));
  const bad = new EngineError("program", "The query program is malformed");
  engine.fillCodes(codes, 1, two);
  expect(() => engine.fillCodes(codes, 2, two)).toThrow(bad);
  expect(() => engine.fillCodes(codes, 2 ** 32 - 1, two)).toThrow(bad);
  expect(() => engine.fillCodes(codes, 0, two.subarray(1))).toThrow(RangeError);
});

test("codes are copied to rows with the same sequence numbers", () => {
  let copied = 0;
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 150 }),
      fc.integer({ min: 1, max: 70 }),
      fc.integer(),
      (...drawn) => {
        const [count, step, seed] = drawn;
        const random = new Random(seed);
        const all = Array.from({ length: count }, (_, i) => 50 + 3 * i);
        const [start, end] = [random.below(count), random.from(0, count)];
        const sides = [all, random.below(2) === 0 ? all : all.slice(start, Math.max(start + 1, end))].map(
          (of) => {
            const some = of.filter(() => random.below(4) > 0);
            const seqs = some.length === 0 ? of : some;
            return { seqs, vectors: someVectors(random, seqs.length) };
          },
        );
        if (random.below(2) === 0) sides.reverse();
        const [to, from] = sides as [(typeof sides)[0], (typeof sides)[0]];
        const expected = to.vectors.map((old, row) => {
          const there = from.seqs.indexOf(to.seqs[row]!);
          return (there < 0 ? null : from.vectors[there]!) ?? old;
        });
        copied += expected.filter((one, row) => one !== to.vectors[row]).length;
        const engine = module.engine();
        const [there, here] = [to, from].map(({ seqs, vectors }) => {
          return { segment: engine.attach(segmentOf(seqs)), codes: engine.attachCodes(plainCodes(vectors)) };
        });
        for (const _ of engine.copyCodes(there!, here!));
        expect(engine.codesBytes(there!.codes, to.seqs.length)).toEqual(plainCodes(expected));

        const instance = module.instantiate();
        const regions = [
          segmentOf(to.seqs),
          plainCodes(to.vectors),
          segmentOf(from.seqs),
          plainCodes(from.vectors),
        ];
        const [a, b, c, d] = regions.map((bytes) => instance.region(bytes)) as [
          number,
          number,
          number,
          number,
        ];
        for (let row = 0; row < to.seqs.length; ) {
          const next = instance.run((kernels) => kernels.codesCopy(a, b, c, d, row, step));
          expect(next).toBeGreaterThan(row);
          row = next;
        }
        const bytes = plainCodes(expected);
        expect(new Uint8Array(instance.view().subarray(b, b + bytes.length))).toEqual(bytes);
      },
    ),
    { numRuns: effort(36, 600) },
  );
  expect(copied).toBeGreaterThan(100);
});

test("codes move with a renewed engine", () => {
  const vectors = someVectors(new Random(2), 100);
  const engine = module.engine();
  const bytes = plainCodes(vectors);
  const codes = engine.attachCodes(bytes);
  const region = { address: codes, bytes: codesLength(100) };
  expect(region.bytes).toBe(bytes.length);
  const ahead = engine.beginRenewal();
  for (const _ of ahead.copyAhead([region]));
  const [moved] = engine.renew([region], ahead);
  expect(engine.codesBytes(moved!, 100)).toEqual(bytes);
});

test("inconsistent stored codes are refused", () => {
  const engine = module.engine();
  const vectors = someVectors(new Random(3), 70);
  const bytes = plainCodes(vectors);
  engine.attachCodes(bytes);
  for (const length of [0, 1, 7, 8, 63, bytes.length - 1]) damaged(engine, bytes.subarray(0, length));
  damaged(engine, Buffer.concat([bytes, Buffer.alloc(8)]));
  for (const rows of [0, 69, 71, 0x7fffffff, 0xffffffff]) {
    const wrong = Buffer.from(bytes);
    wrong.writeUInt32LE(rows, 0);
    damaged(engine, wrong);
  }
  for (const [at, bit] of [
    [4, 1],
    [7, 128],
    [8 + 8, 1 << 6],
    [8 + 15, 128],
  ] as const) {
    const wrong = Buffer.from(bytes);
    wrong[at]! |= bit;
    damaged(engine, wrong);
  }
});
