// Block packing: `unpackRows` and `unpackFrequencies` return what `packBlock` was given, for every bit width,
// and the bits are laid out as docs/FORMATS.md says.
import { beforeAll, expect, test } from "vitest";
import { compileParts, type Parts } from "./compile-parts.js";

const VALUES = 0x10000;
const PACKED = 0x11000;
const UNPACKED = 0x12000;

let parts: Parts;
let memory: DataView;

beforeAll(async () => {
  parts = await compileParts(`
    export { bitsFor, packBlock } from "./memory/pack";
    export { unpackFrequencies, unpackRows } from "./memory/unpack";
  `);
  memory = new DataView(parts.memory.buffer);
});

/** Returns 128 numbers below 2^bits, including the largest. */
function numbers(bits: number): number[] {
  let state = bits + 1;
  return Array.from({ length: 128 }, (_, i) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return i === 77 ? 2 ** bits - 1 : state % 2 ** bits;
  });
}

function pack(values: number[], bits: number): void {
  for (const [i, value] of values.entries()) memory.setUint32(VALUES + 4 * i, value, true);
  new Uint8Array(parts.memory.buffer, PACKED, 1024).fill(0xaa);
  parts.exports.packBlock!(VALUES, bits, PACKED);
}

function unpacked(): number[] {
  return Array.from({ length: 128 }, (_, i) => memory.getUint32(UNPACKED + 4 * i, true));
}

const widths = Array.from({ length: 33 }, (_, bits) => bits);

test.each(widths)("width %i round-trips frequencies", (bits) => {
  const values = numbers(bits);
  pack(values, bits);
  parts.exports.unpackFrequencies!(PACKED, bits, UNPACKED);
  expect(unpacked()).toEqual(values.map((value) => (value + 1) >>> 0));
});

test.each(widths)("width %i round-trips rows", (bits) => {
  const gaps = numbers(bits);
  pack(gaps, bits);
  parts.exports.unpackRows!(PACKED, bits, -1, UNPACKED);
  let row = -1;
  expect(unpacked()).toEqual(
    gaps.map((gap) => {
      row = (row + gap + 1) >>> 0;
      return row;
    }),
  );
});

test.each(widths)("width %i uses 16 bytes per bit, lane by lane", (bits) => {
  const values = numbers(bits);
  pack(values, bits);
  for (const i of [0, 1, 5, 77, 126, 127]) {
    let value = 0;
    for (let bit = 0; bit < bits; bit++) {
      const place = Math.floor(i / 4) * bits + bit;
      const word = memory.getUint32(PACKED + Math.floor(place / 32) * 16 + (i % 4) * 4, true);
      if ((word >>> (place % 32)) & 1) value += 2 ** bit;
    }
    expect(value).toBe(values[i]);
  }
  expect(memory.getUint8(PACKED + 16 * bits)).toBe(0xaa);
});

test("bitsFor returns the bit width of the largest number", () => {
  for (const bits of widths) expect(parts.exports.bitsFor!(2 ** bits - 1)).toBe(bits);
});
