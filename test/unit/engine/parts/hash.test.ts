// hash64 is xxHash64 with seed 0: checked against published test vectors, and against a BigInt model for
// every length around the block sizes.
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { Workbench } from "../../../../engine-wasm/host/instance/workbench.js";
import { loadEngine } from "../load-engine.js";

const MASK = (1n << 64n) - 1n;
const P1: bigint = 0x9e3779b185ebca87n;
const P2: bigint = 0xc2b2ae3d27d4eb4fn;
const P3: bigint = 0x165667b19e3779f9n;
const P4: bigint = 0x85ebca77c2b2ae63n;
const P5: bigint = 0x27d4eb2f165667c5n;

const rotate = (x: bigint, by: bigint): bigint => ((x << by) | (x >> (64n - by))) & MASK;
const round = (lane: bigint, input: bigint): bigint => (rotate((lane + input * P2) & MASK, 31n) * P1) & MASK;

function twin(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  let hash = P5;
  if (bytes.length >= 32) {
    const lanes = [(P1 + P2) & MASK, P2, 0n, (MASK + 1n - P1) & MASK];
    for (; at + 32 <= bytes.length; at += 32) {
      for (let i = 0; i < 4; i++) lanes[i] = round(lanes[i]!, view.getBigUint64(at + i * 8, true));
    }
    hash = [1n, 7n, 12n, 18n].reduce((sum, by, i) => (sum + rotate(lanes[i]!, by)) & MASK, 0n);
    for (const lane of lanes) hash = ((hash ^ round(0n, lane)) * P1 + P4) & MASK;
  }
  hash = (hash + BigInt(bytes.length)) & MASK;
  for (; at + 8 <= bytes.length; at += 8) {
    hash = (rotate(hash ^ round(0n, view.getBigUint64(at, true)), 27n) * P1 + P4) & MASK;
  }
  if (at + 4 <= bytes.length) {
    hash = (rotate(hash ^ ((BigInt(view.getUint32(at, true)) * P1) & MASK), 23n) * P2 + P3) & MASK;
    at += 4;
  }
  for (; at < bytes.length; at++) hash = (rotate(hash ^ ((BigInt(bytes[at]!) * P5) & MASK), 11n) * P1) & MASK;
  hash = ((hash ^ (hash >> 33n)) * P2) & MASK;
  hash = ((hash ^ (hash >> 29n)) * P3) & MASK;
  return hash ^ (hash >> 32n);
}

let workbench: Workbench;
beforeAll(async () => {
  workbench = (await loadEngine()).workbench();
});

describe("hash64", () => {
  test("equals the published test vectors", () => {
    expect(workbench.hash("")).toBe(0xef46db3751d8e999n);
    expect(workbench.hash("a")).toBe(0xd24ec4f1a98c6e5bn);
    expect(workbench.hash("abc")).toBe(0x44bc2cf5ad770999n);
  });

  test("equals its twin for every length up to 100 bytes", () => {
    for (let length = 0; length <= 100; length++) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 131 + length) & 255);
      expect(workbench.hash(bytes), `length ${length}`).toBe(twin(bytes));
    }
  });

  test("equals its twin for random bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(workbench.hash(bytes)).toBe(twin(bytes));
      }),
      { numRuns: 100 },
    );
  });
});
