// The arena never returns overlapping memory, loses none, and merges freed neighbours.
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { compileParts, type Parts } from "./compile-parts.js";

const SOURCE = `export {
  reserve, release, shrink, scratch, scratchReset, scratchZeroed, passesBegin, passBegin, passScratch,
  passScratchZeroed, regionBytes, freeBytes
} from "./memory/arena";`;

let parts: Parts;
beforeEach(async () => {
  parts ??= await compileParts(SOURCE);
});

interface Region {
  at: number;
  bytes: number;
  mark: number;
}

const step = fc.record({
  kind: fc.constantFrom("reserve", "reserve", "release", "shrink", "scratch"),
  bytes: fc.oneof(fc.nat(200), fc.nat(100_000)),
  pick: fc.nat(),
});

describe("arena", () => {
  test("regions keep their bytes through any sequence of calls", () => {
    const { exports, memory } = parts;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const regions: Region[] = [];
        const check = (region: Region): void => {
          const bytes = new Uint8Array(memory.buffer, region.at, region.bytes);
          expect(bytes.every((byte) => byte === region.mark)).toBe(true);
        };
        steps.forEach(({ kind, bytes, pick }, i) => {
          const chosen = pick % Math.max(1, regions.length);
          const region = regions[chosen];
          if (kind === "reserve") {
            const at: number = exports.reserve!(bytes);
            expect(at % 16).toBe(0);
            regions.push({ at, bytes, mark: i + 1 });
            new Uint8Array(memory.buffer, at, bytes).fill(i + 1);
          } else if (kind === "scratch") {
            const p: number = exports.scratchReset!(bytes);
            new Uint8Array(memory.buffer, p, bytes).fill(255);
            const zeroed: number = exports.scratchZeroed!(bytes);
            expect(zeroed).toBeGreaterThanOrEqual(p + bytes);
            expect(new Uint8Array(memory.buffer, zeroed, bytes).every((byte) => byte === 0)).toBe(true);
          } else if (region !== undefined && kind === "release") {
            check(region);
            exports.release!(region.at);
            regions.splice(chosen, 1);
          } else if (region !== undefined) {
            region.bytes = Math.min(region.bytes, bytes);
            exports.shrink!(region.at, region.bytes);
          }
        });
        for (const region of regions) {
          check(region);
          exports.release!(region.at);
        }
        expect(exports.regionBytes!()).toBe(0);
        expect(exports.freeBytes!()).toBe(0);
      }),
      { numRuns: 100 },
    );
  });

  test("reuses a freed region", () => {
    const { exports } = parts;
    const first: number = exports.reserve!(1000);
    const second: number = exports.reserve!(1000);
    exports.release!(first);
    expect(exports.freeBytes!()).toBeGreaterThanOrEqual(1000);
    expect(exports.reserve!(900)).toBe(first);
    exports.release!(first);
    exports.release!(second);
    expect(exports.regionBytes!()).toBe(0);
  });

  test("passes use the same memory again, until scratch is discarded", () => {
    const { exports, memory } = parts;
    exports.scratchReset!(100);
    exports.passesBegin!(64);
    const first: number = exports.passScratch!(20);
    const second: number = exports.passScratch!(32);
    expect(second).toBe(first + 32);
    const beyond: number = exports.passScratch!(1);
    expect(beyond).toBeGreaterThanOrEqual(first + 64);
    new Uint8Array(memory.buffer, first, 64).fill(255);
    exports.passBegin!();
    expect(exports.passScratchZeroed!(20)).toBe(first);
    expect(new Uint8Array(memory.buffer, first, 20).every((byte) => byte === 0)).toBe(true);
    const reset: number = exports.scratchReset!(64);
    exports.passBegin!(); // a kernel that visits a single segment begins no passes
    expect(exports.passScratch!(20)).toBeGreaterThanOrEqual(reset + 64);
  });

  test("reports that 4 GiB are not enough, and stays usable", async () => {
    const { exports } = await compileParts(SOURCE);
    const kept: number = exports.reserve!(1000);
    expect(() => exports.scratch!(0xffffffff)).toThrow("out of memory");
    expect(() => exports.reserve!(0xfffffff0)).toThrow("out of memory");
    expect(exports.scratchReset!(100)).toBeGreaterThan(kept);
    exports.release!(kept);
    expect(exports.regionBytes!()).toBe(0);
  });
});
