// Mutations of a request's body and path.
import type { Random } from "../../../bench/random.js";
import { mutateText } from "../target.js";
import { anyValue, chance, oddNumber, oddText, percentEncoded } from "./values.js";

const EXTRA_NAMES = [
  "__proto__",
  "constructor",
  "toString",
  "",
  "id",
  "index",
  "_x",
  "extra",
  "\0",
  "é",
  "a.b",
];
const ALPHABET = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ":",
  ",",
  "\\",
  "\\u0000",
  "\\ud800",
  "\\u00e9",
  "\0",
  "1",
  "-",
  "e9",
  ".",
  "null",
  " ",
];
const RAW_NUMBERS = [
  "1e999",
  "-0",
  "1E400",
  "0.1e-400",
  "9223372036854775807",
  "9223372036854775808",
  "18446744073709551616",
  "9007199254740993",
  "-9223372036854775809",
  "NaN",
  "Infinity",
  "-Infinity",
  "01",
  "+1",
  "1.",
  "0x10",
  "1_000",
  "2147483648.0",
];
const NESTED = [60, 63, 64, 65, 70, 5_000];

/**
 * Maximum total size of an element's copies in bytes. The fuzzed server's body limit is lower anyway, and
 * generating larger bodies takes seconds, during which the server closes the idle connection.
 */
const COPIED_BYTES_MAX = 500_000;

type Holder = Record<string | number, unknown>;

/** Replaces, removes, copies or adds something anywhere in a JSON value. Returns the new value. */
export function mutateValue(random: Random, value: unknown): unknown {
  const holder: Holder = { root: structuredClone(value) };
  const places = placesIn(holder);
  const [at, name] = random.pick(places);
  const kind = random.below(9);
  if (kind < 3) at[name] = anyValue(random);
  else if (kind < 4) at[name] = chance(random, 2) ? oddNumber(random) : oddText(random);
  else if (kind < 5) at[name] = nested(random.pick(NESTED.slice(0, 5)), chance(random, 2));
  else if (kind < 6) {
    const [other, otherName] = random.pick(places);
    at[name] = structuredClone(other === holder ? null : other[otherName]);
  } else if (kind < 7 && at !== holder) {
    if (Array.isArray(at)) at.splice(Number(name), 1);
    else delete at[name];
  } else if (kind < 8 && Array.isArray(at)) {
    const copiesMax = Math.ceil(COPIED_BYTES_MAX / (JSON.stringify(at[0])?.length ?? 1));
    for (let n = Math.min(random.pick([1, 2, 60, 300]), copiesMax); n > 0; n--)
      at.push(structuredClone(at[0]));
  } else {
    const extra = random.pick(EXTRA_NAMES);
    const target = typeof at[name] === "object" && at[name] !== null ? (at[name] as Holder) : at;
    const descriptor = { value: anyValue(random), enumerable: true, configurable: true };
    if (!Array.isArray(target)) Object.defineProperty(target, extra, descriptor);
  }
  return holder.root;
}

function placesIn(root: Holder): [Holder, string | number][] {
  const places: [Holder, string | number][] = [];
  const waiting = [root];
  for (let holder = waiting.pop(); holder !== undefined && places.length < 300; holder = waiting.pop()) {
    for (const name of Object.keys(holder).slice(0, 40)) {
      places.push([holder, name]);
      const inner = holder[name];
      if (typeof inner === "object" && inner !== null) waiting.push(inner as Holder);
    }
  }
  return places;
}

function nested(depth: number, inObjects: boolean): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = inObjects ? { a: value } : [value];
  return value;
}

/** JSON text that JSON.stringify would not write: duplicate members, odd numbers, any kind of damage. */
export function mutateJson(random: Random, text: string): Uint8Array {
  switch (random.below(10)) {
    case 0:
      return Buffer.from(
        text.replace(
          /"(\w+)":/,
          (whole, name: string) => `"${name}":${random.pick(["1", '"x"', "null"])},${whole}`,
        ),
      );
    case 1:
      return Buffer.from(text.replace(/-?\b\d+(\.\d+)?\b/, random.pick(RAW_NUMBERS)));
    case 2:
      return Buffer.from(text.slice(0, random.below(text.length + 1)));
    case 3:
      return withBytes(random, Buffer.from(text));
    case 4:
      return Buffer.from(random.pick(["\ufeff", " ", "/**/", "[", ")]}'\n"]) + text);
    case 5:
      return Buffer.from(text + random.pick(["}", ",", "\n\n", "\0", text, " x"]));
    case 6:
      return Buffer.from(
        text.replace(
          /"([^"\\]+)"(?!:)/,
          `"$1${random.pick(["\\ud800", "\\udc00\\ud800", "\\u0000", "\\u12", "\\x"])}"`,
        ),
      );
    case 7: {
      const depth = random.pick(NESTED);
      return Buffer.from(`{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`);
    }
    case 8:
      return Buffer.from(random.pick(["", "null", "0", '""', "[]", "{}", "true", "[{}]", "{", "\0"]));
    default:
      return Buffer.from(mutateText(random, text, ALPHABET));
  }
}

/** Inserts bytes that are not UTF-8. */
function withBytes(random: Random, bytes: Buffer): Buffer {
  const at = random.below(bytes.length + 1);
  const odd = random.pick([
    [0xff],
    [0xc0, 0x80],
    [0xed, 0xa0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
    [0xe2, 0x82],
    [0x80],
  ]);
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(odd), bytes.subarray(at)]);
}

const ODD_SEGMENTS = [
  "..",
  ".",
  "..%2f",
  "%2e%2e%2fsecrets",
  "%00",
  "%",
  "%zz",
  "%e0%a4%a",
  "%c0%af",
  "a%2fb",
  "%25",
  "+",
  "~",
  "%5c",
  "é",
  "*",
  "null",
  "-1",
  "0",
  "1e3",
  "00001",
  "9007199254740993",
  "999999999999999999999",
  "%F0%9F%91%9F",
  "%ed%a0%80",
  "%20",
  ";x=1",
  "%0d%0aset-cookie:x",
];

export function oddSegment(random: Random): string {
  if (chance(random, 10)) return random.pick(["a", "%41", "é"]).repeat(random.pick([129, 600, 4_000, 9_000]));
  if (chance(random, 4)) return percentEncoded(oddText(random).slice(0, 300));
  return random.pick(ODD_SEGMENTS);
}

/** Replaces, removes or inserts a segment of the path, or changes a segment's percent-encoding or case. */
export function mutatePath(random: Random, path: string): string {
  const segments = path.split("/");
  const at = random.from(1, segments.length - 1);
  switch (random.below(6)) {
    case 0:
      segments[at] = oddSegment(random);
      break;
    case 1:
      segments.splice(at, 1);
      break;
    case 2:
      segments.splice(at, 0, random.pick(["", "..", ".", "%2e%2e", oddSegment(random)]));
      break;
    case 3:
      segments.push(random.pick(["", "x", "..", "query"]));
      break;
    case 4:
      segments[at] = segments[at]!.replace(
        /./,
        (c) => `%${c.charCodeAt(0).toString(16).padStart(2, "0").slice(-2)}`,
      );
      break;
    default:
      segments[at] = segments[at]!.toUpperCase();
  }
  return `/${segments.slice(1).join("/")}`;
}
