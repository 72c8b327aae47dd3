// The limits on memory on machines of different sizes.
import { expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../../../server/ground/limits.js";
import { fitted, memoryOf } from "../../../../server/ground/memory-fit.js";

const MIB = 1024 * 1024;

test("a small machine or heap lowers the limits, a large one leaves them", () => {
  const small = fitted(DEFAULT_LIMITS, { bytes: 1024 * MIB, heapBytes: 512 * MIB });
  expect(small.workBytesMax).toBe(256 * MIB);
  expect(small.bodiesInMemoryBytesMax).toBe(128 * MIB);
  expect(small.unsentBytesMax).toBe(128 * MIB);
  expect(small.requestsInFlightMax).toBe(16_384);
  const tiny = fitted(DEFAULT_LIMITS, { bytes: 128 * MIB, heapBytes: 64 * MIB });
  expect(tiny.bodiesInMemoryBytesMax).toBe(DEFAULT_LIMITS.batchBodyBytesMax);
  expect(fitted(DEFAULT_LIMITS, { bytes: 32_768 * MIB, heapBytes: 4_096 * MIB })).toEqual(DEFAULT_LIMITS);
});

test("the memory limit counts like the size of the machine", () => {
  expect(memoryOf({ memoryBytesMax: 123 * MIB }).bytes).toBe(123 * MIB);
  expect(memoryOf(DEFAULT_LIMITS).bytes).toBeGreaterThan(0);
  expect(memoryOf(DEFAULT_LIMITS).heapBytes).toBeGreaterThan(MIB);
});
