// Every part of the engine that distinguishes field types handles all of them. For an unknown type, it
// returns a status rather than reading it as another type.
import { beforeAll, expect, test } from "vitest";
import * as L from "../../../../engine-wasm/assembly/layout.js";
import { statusError } from "../../../../engine-wasm/host/engine-error.js";
import { FIELD_TYPES } from "../../../../server/ground/field-types.js";
import { compileParts, type Parts } from "./compile-parts.js";

const SOURCE = `
import { valueKey } from "./columns/column-values";
import { scratchZeroed } from "./memory/arena";
import { isArrayType, isFloatType, isStringType, valueBytes as bytes } from "./segment/field-type";
import { status, statusReset } from "./status";

export function valueBytes(type: u32): u32 { statusReset(); return bytes(type); }
export function isArray(type: u32): u32 { return isArrayType(type) ? 1 : 0; }
export function isString(type: u32): u32 { return isStringType(type) ? 1 : 0; }
export function isFloat(type: u32): u32 { return isFloatType(type) ? 1 : 0; }
export function readNumber(type: u32): u64 {
  statusReset();
  return valueKey(type, scratchZeroed(16), 0);
}
export function outcome(): i32 { return status(); }
`;
const UNKNOWN = 99;
const WIDTHS = new Map<number, number>([
  [L.TYPE_STRING, 0],
  [L.TYPE_STRINGS, 0],
  [L.TYPE_BOOL, 1],
  [L.TYPE_INT32, 4],
  [L.TYPE_INT32S, 4],
  [L.TYPE_INT64, 8],
  [L.TYPE_FLOAT, 8],
  [L.TYPE_FLOATS, 8],
]);

let parts: Parts["exports"];

beforeAll(async () => {
  parts = (await compileParts(SOURCE)).exports;
});

test("every type in the server's table matches the engine's, and has its width", () => {
  expect(Object.keys(FIELD_TYPES)).toHaveLength(L.TYPE_COUNT);
  for (const { code, kind, array } of Object.values(FIELD_TYPES)) {
    expect(parts.valueBytes!(code), `type ${code}`).toBe(WIDTHS.get(code));
    expect(parts.isArray!(code), `type ${code}`).toBe(array ? 1 : 0);
    expect(parts.isString!(code), `type ${code}`).toBe(kind === "string" ? 1 : 0);
    expect(parts.isFloat!(code), `type ${code}`).toBe(kind === "float" ? 1 : 0);
    expect(parts.outcome!()).toBe(L.STATUS_OK);
  }
});

test("an unknown type has neither width nor number", () => {
  expect(parts.valueBytes!(UNKNOWN)).toBe(0);
  expect(parts.outcome!()).toBe(L.STATUS_UNKNOWN_TYPE);
  for (const type of [UNKNOWN, L.TYPE_STRINGS, L.TYPE_INT32S]) {
    expect(parts.readNumber!(type)).toBe(0n);
    expect(parts.outcome!(), `type ${type}`).toBe(L.STATUS_UNKNOWN_TYPE);
  }
  parts.readNumber!(L.TYPE_INT64);
  expect(parts.outcome!()).toBe(L.STATUS_OK);
});

test("the host reports an unknown type as a mismatch", () => {
  expect(statusError(-L.STATUS_UNKNOWN_TYPE)).toMatchObject({ code: "mismatch", message: /type of a field/ });
});
