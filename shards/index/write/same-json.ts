// Compares two documents as JSON values, ignoring white space and member order. Numbers are compared digit by
// digit, because different numbers may be equal as doubles. Knows nothing about write operations.
import { isUtf8 } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import { EngineError } from "../../../engine-wasm/host/engine-error.js";
import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";

/** A string or number in JSON text. */
const SCALARS = /"(?:[^"\\]+|\\.)*"|-?[0-9][0-9.eE+-]*/g;

/** `known` is a JSON object. Returns false if `given` is not a well-formed object. */
export function sameDocument(known: Uint8Array, given: Uint8Array, workbench: Workbench): boolean {
  if (Buffer.compare(known, given) === 0) return true;
  if (!isUtf8(given)) return false;
  const before = valuesByName(known, workbench);
  const after = valuesByName(given, workbench);
  if (before === null || before.size !== after?.size) return false;
  for (const [name, value] of after) {
    const other = before.get(name);
    if (other === undefined || !sameValue(other, value)) return false;
  }
  return true;
}

/** Returns the bytes of each member's value, or null if `raw` is not a well-formed object. */
function valuesByName(raw: Uint8Array, workbench: Workbench): Map<string, Uint8Array> | null {
  try {
    const members = workbench.topLevel(raw);
    return new Map(
      members.map(({ name, valueStart, valueEnd }) => [name, raw.subarray(valueStart, valueEnd)]),
    );
  } catch (error) {
    if (error instanceof EngineError && error.code === "json") return null;
    throw error;
  }
}

function sameValue(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0 || isDeepStrictEqual(parseExactly(a), parseExactly(b));
}

/**
 * Parses well-formed JSON, returning each number as a string of its digits. A prefix letter distinguishes
 * numbers from strings.
 */
function parseExactly(json: Uint8Array): unknown {
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString();
  return JSON.parse(
    text.replace(SCALARS, (scalar) => (scalar.startsWith('"') ? `"s${scalar.slice(1)}` : `"n${scalar}"`)),
  );
}
