// The compact encodings of stored numbers: norm bytes equal Lucene's, and varints round-trip.
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { decodeNorm, encodeNorm } from "../../../oracle/words/analyse.js";
import { compileParts, type Parts } from "./compile-parts.js";

const SOURCE = `
import { Varints } from "./memory/varint";
export { scratchReset } from "./memory/arena";
export { encodeNorm, decodeNorm } from "./memory/norm";
export { putVarintU32, putVarintU64, varintU32 } from "./memory/varint";
const reader = changetype<Varints>(memory.data(offsetof<Varints>(), 16));
export function varintU64(p: usize): u64 {
  reader.at = p;
  return reader.u64();
}
export function cursor(): usize { return reader.at; }
`;

let parts: Parts;
beforeAll(async () => {
  parts = await compileParts(SOURCE);
});

describe("norms", () => {
  test("every byte decodes as in Lucene and encodes back to itself", () => {
    for (let norm = 0; norm < 256; norm++) {
      expect(parts.exports.decodeNorm!(norm) >>> 0).toBe(decodeNorm(norm));
      expect(parts.exports.encodeNorm!(decodeNorm(norm))).toBe(norm);
    }
    expect(decodeNorm(39)).toBe(39);
    expect(decodeNorm(255)).toBe(2013265944); // 24 + 15 * 2^27
  });

  test("every length is rounded down to an encodable one", () => {
    const length = fc.oneof(fc.nat(200), fc.nat(0x7fffffff));
    fc.assert(
      fc.property(length, (tokens) => {
        expect(parts.exports.encodeNorm!(tokens)).toBe(encodeNorm(tokens));
      }),
      { numRuns: 300 },
    );
  });
});

describe("varints", () => {
  test("round-trip", () => {
    const { exports } = parts;
    const p = exports.scratchReset!(64);
    const edges = [0, 7, 14, 21, 28, 31, 32, 35, 49, 63].flatMap((bits) => [
      2n ** BigInt(bits),
      2n ** BigInt(bits) - 1n,
    ]);
    const wide = fc.oneof(fc.constantFrom(...edges), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }));
    fc.assert(
      fc.property(wide, (value) => {
        const end: number = exports.putVarintU64!(p, value);
        expect(BigInt.asUintN(64, exports.varintU64!(p))).toBe(value);
        expect(exports.cursor!()).toBe(end);
        if (value >= 2n ** 32n) return;
        expect(exports.putVarintU32!(p, Number(value))).toBe(end);
        expect(exports.varintU32!(p) >>> 0).toBe(Number(value));
      }),
      { numRuns: 300 },
    );
  });
});
