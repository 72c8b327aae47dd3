// The JSON scanner agrees with JSON.parse on which texts are valid and on the values of strings and numbers,
// and stops at the right position.
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import {
  DOC_BAD_JSON,
  DOC_BAD_UTF8,
  DOC_LONE_SURROGATE,
  DOC_NOT_OBJECT,
  DOC_OK,
  DOC_TOO_DEEP,
  JSON_DEPTH_MAX,
} from "../../../../engine-wasm/assembly/layout.js";
import { compileParts, type Parts } from "./compile-parts.js";

const SOURCE = `
import { scratchReset, scratch } from "./memory/arena";
import { Scan, skipSpace } from "./json/json";
import { Decimal } from "./json/json-values";
import { ArrayElements, Members } from "./json/json-walk";
export { scratchReset, scratch } from "./memory/arena";
export { unescape } from "./json/json-values";
const decimal = changetype<Decimal>(memory.data(offsetof<Decimal>(), 16));
const scanner = changetype<Scan>(memory.data(offsetof<Scan>(), 16));
const members = changetype<Members>(memory.data(offsetof<Members>(), 16));
const elements = changetype<ArrayElements>(memory.data(offsetof<ArrayElements>(), 16));
members.scan = scanner;
elements.scan = scanner;
export function parseInteger(start: usize, end: usize): i32 { return decimal.readInteger(start, end); }
export function parseFloat64(start: usize, end: usize): f64 { return decimal.readFloat64(start, end); }
export function integer(): i64 { return decimal.integer; }
export function scan(p: usize, end: usize): i32 {
  scanner.clearFault();
  const after = scanner.value(skipSpace(p, end), end, 0);
  if (after == 0) return -<i32>(scanner.failedAt - p) - 1;
  const rest = skipSpace(after, end);
  if (rest != end) return -<i32>(rest - p) - 1;
  return scanner.fault;
}
export function faultAt(): usize { return scanner.faultAt; }
export function membersStart(p: usize, end: usize): i32 { return members.begin(p, end); }
export function membersNext(): bool { return members.next(); }
export function elementsStart(start: usize, end: usize): void { elements.begin(start, end); }
export function elementsNext(): bool { return elements.next(); }
export function status(): i32 { return members.status; }
export function statusAt(): usize { return members.stoppedAt; }
export function nameAt(): usize { return members.nameAt; }
export function nameBytes(): u32 { return members.nameBytes; }
export function valueKind(): i32 { return members.kind; }
export function valueStart(): usize { return members.start; }
export function valueEnd(): usize { return members.end; }
export function valueEscaped(): bool { return members.escaped; }
export function itemKind(): i32 { return elements.kind; }
export function itemStart(): usize { return elements.start; }
export function itemEnd(): usize { return elements.end; }
`;

const SURROGATE = /\p{Surrogate}/u;

let parts: Parts;
beforeAll(async () => {
  parts = await compileParts(SOURCE);
});

/** Writes a text to the start of scratch. */
function put(text: string | Uint8Array): { p: number; end: number } {
  const bytes = Buffer.from(text);
  const p = parts.exports.scratchReset!(bytes.length);
  Buffer.from(parts.memory.buffer).set(bytes, p);
  return { p, end: p + bytes.length };
}

const textAt = (start: number, end: number): string =>
  Buffer.from(parts.memory.buffer).toString("utf8", start, end);

/** Returns a fault (0 for none), or -1 minus the position of the syntax error. */
function scan(text: string | Uint8Array): number {
  const { p, end } = put(text);
  return parts.exports.scan!(p, end);
}

function accepts(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const PIECES = [
  ...'{}[]:,"\\ \n\t0123456789-+.eEtrufalsn/xé\u0001\u007f😀',
  "true",
  "null",
  "false",
  '"a"',
  "\\u00e9",
  "1.5e3",
  '{"a":',
  "[1,",
];

describe("scanValue", () => {
  test("accepts what JSON.parse accepts: random pieces", () => {
    const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((list) => list.join(""));
    fc.assert(
      fc.property(text, (input) => {
        expect(scan(input) >= 0, input).toBe(accepts(input));
      }),
      { numRuns: 2000 },
    );
  });

  test("accepts what JSON.parse accepts: documents with one character changed", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.nat(),
        fc.constantFrom(...PIECES, ""),
        (value, at, piece) => {
          const text = JSON.stringify(value, null, at % 3);
          expect(scan(text), text).toBe(DOC_OK);
          const points = [...text];
          points.splice(at % points.length, 1, piece);
          const broken = points.join("");
          expect(scan(broken) >= 0, broken).toBe(accepts(broken));
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each([
    ['{"a":1,}', 7],
    ["[1 2]", 3],
    ["01", 1],
    ["[1,]", 3],
    ['"a\nb"', 2],
    ['"\\x"', 1],
    ['"\\u12g4"', 1],
    ["", 0],
    ["[", 1],
    ['{"a"', 4],
    ["1.", 2],
    ["nul", 0],
    ["1 x", 2],
    ["'a'", 0],
    [`"${"long text ".repeat(10)}`, 101],
  ])("reports where %s breaks", (text, at) => {
    expect(scan(text)).toBe(-1 - at);
  });

  test("distinguishes faults from broken syntax", () => {
    expect(scan('["\\ud800"]')).toBe(DOC_LONE_SURROGATE);
    expect(scan('["\\ud800\\u0041"]')).toBe(DOC_LONE_SURROGATE);
    expect(scan('["\\udc00"]')).toBe(DOC_LONE_SURROGATE);
    expect(scan('["\\ud83d\\ude00"]')).toBe(DOC_OK);
    for (const bytes of [
      [0xff],
      [0xc0, 0x80],
      [0xe0, 0x80, 0x80],
      [0xed, 0xa0, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
      [0xc3],
    ]) {
      expect(scan(Uint8Array.of(0x22, 0x61, ...bytes, 0x22)), String(bytes)).toBe(DOC_BAD_UTF8);
    }
    expect(scan("[".repeat(JSON_DEPTH_MAX) + "]".repeat(JSON_DEPTH_MAX))).toBe(DOC_OK);
    expect(scan("[".repeat(JSON_DEPTH_MAX + 1) + "]".repeat(JSON_DEPTH_MAX + 1))).toBe(DOC_TOO_DEEP);
    expect(scan(`${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`)).toBe(DOC_TOO_DEEP);
    for (const depth of [8191, 8192, 8193, 10_000, 100_000]) {
      const nested = `${'{"a":'.repeat(depth - 1)}["]\\"}"]${"}".repeat(depth - 1)}`;
      expect(scan(nested)).toBe(DOC_TOO_DEEP);
      expect(scan(`[${nested},1]`)).toBe(DOC_TOO_DEEP);
      expect(scan(`[${nested},]`)).toBe(-1 - (nested.length + 2));
      expect(scan(nested.slice(0, -1))).toBeLessThan(0);
    }
    expect(scan("[".repeat(100_000))).toBeLessThan(0);
  });

  test("finds bad UTF-8 exactly where TextDecoder does", () => {
    const strict = new TextDecoder("utf-8", { fatal: true });
    const bytes = fc.array(
      fc.constantFrom(0x41, 0x80, 0xbf, 0xc2, 0xe0, 0xa0, 0xed, 0x9f, 0xef, 0xf0, 0x90, 0xf4, 0x8f, 0xff),
      {
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(bytes, (list) => {
        let wellFormed = true;
        try {
          strict.decode(Uint8Array.from(list));
        } catch {
          wellFormed = false;
        }
        expect(scan(Uint8Array.of(0x22, ...list, 0x22))).toBe(wellFormed ? DOC_OK : DOC_BAD_UTF8);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("strings", () => {
  test("unescape like JSON.parse", () => {
    const piece = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 5 }),
      fc.constantFrom(
        "\\n",
        "\\\\",
        '\\"',
        "\\/",
        "\\b",
        "\\f",
        "\\r",
        "\\t",
        "\\u0000",
        "\\u00E9",
        "\\u20aC",
        "\\uD83D\\uDE00",
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (list) => {
        const body = list
          .map((part) => (/^\\./.test(part) ? part : JSON.stringify(part).slice(1, -1)))
          .join("");
        if (SURROGATE.test(body) || scan(`"${body}"`) !== DOC_OK) return;
        const { p, end } = put(`"${body}"`);
        const length = parts.exports.unescape!(p, end, p + 1); // unescapes in place
        expect(textAt(p + 1, p + 1 + length)).toBe(JSON.parse(`"${body}"`));
      }),
      { numRuns: 300 },
    );
  });
});

describe("numbers", () => {
  const float = (text: string): number => {
    const { p, end } = put(text);
    return parts.exports.parseFloat64!(p, end);
  };
  const integer = (text: string): bigint | "fraction" | "overflow" => {
    const { p, end } = put(text);
    const status: number = parts.exports.parseInteger!(p, end);
    return status === 1 ? "fraction" : status === 2 ? "overflow" : parts.exports.integer!();
  };

  test("parse to the same doubles as in JavaScript", () => {
    const special = [
      "0",
      "-0",
      "0.0e5",
      "1e22",
      "1e23",
      "123456789012345678",
      "9007199254740993",
      "0.1",
      "5e-324",
      "1e400",
      "-1e400",
    ];
    special.push(
      "1.7976931348623157e308",
      "0.00000000000000000000000001",
      "100000000000000000000000",
      `1${"0".repeat(400)}`,
      "1e-99999999999999999999",
    );
    for (const text of special) expect(float(text), text).toBe(Number(text));
    const digits = fc.stringMatching(/^-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?$/);
    fc.assert(
      fc.property(
        fc.oneof(
          digits,
          fc.double({ noDefaultInfinity: true, noNaN: true }).map((x) => JSON.stringify(x)),
        ),
        (text) => {
          expect(float(text), text).toBe(Number(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  test("that are integers are exact over the whole int64 range", () => {
    expect(integer("9223372036854775807")).toBe(9223372036854775807n);
    expect(integer("-9223372036854775808")).toBe(-9223372036854775808n);
    expect(integer("9223372036854775808")).toBe("overflow");
    expect(integer("-9223372036854775809")).toBe("overflow");
    expect(integer("18446744073709551617")).toBe("overflow");
    expect(integer("9007199254740993")).toBe(9007199254740993n);
    expect(integer("-0")).toBe(0n);
    expect(integer("2.0")).toBe(2n);
    expect(integer("1.50e1")).toBe(15n);
    expect(integer("1e18")).toBe(10n ** 18n);
    expect(integer("1e19")).toBe("overflow");
    expect(integer("1e-400")).toBe("fraction");
    expect(integer("0e999999999999999")).toBe(0n);
    expect(integer("1e999999999999999")).toBe("overflow");
    expect(integer("1.5")).toBe("fraction");
    expect(integer("123456789012345678901234.5")).toBe("fraction");
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }), (value) => {
        expect(integer(String(value))).toBe(BigInt.asIntN(64, value) === value ? value : "overflow");
      }),
      { numRuns: 300 },
    );
  });
});

describe("walking", () => {
  test("visits the members and elements of any object", () => {
    const { exports } = parts;
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: "grapheme", maxLength: 5 }), fc.jsonValue({ maxDepth: 3 })),
        (object) => {
          const escaped = JSON.stringify(object).replace(
            /[é-\uffff]/g,
            (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
          );
          if (SURROGATE.test(JSON.stringify(object)) || scan(escaped) !== DOC_OK) return;
          for (const text of [JSON.stringify(object, null, 1), escaped]) {
            const { p, end } = put(text);
            const seen = new Map<string, unknown>();
            expect(exports.membersStart!(p, end)).toBe(DOC_OK);
            while (exports.membersNext!()) {
              const name = textAt(exports.nameAt!(), exports.nameAt!() + exports.nameBytes!());
              const value: unknown = JSON.parse(textAt(exports.valueStart!(), exports.valueEnd!()));
              if (Array.isArray(value)) {
                const items: unknown[] = [];
                exports.elementsStart!(exports.valueStart!(), exports.valueEnd!());
                while (exports.elementsNext!())
                  items.push(JSON.parse(textAt(exports.itemStart!(), exports.itemEnd!())));
                expect(items).toEqual(value);
              }
              seen.set(name, value);
            }
            expect(exports.status!()).toBe(DOC_OK);
            expect(seen).toEqual(new Map(Object.entries(JSON.parse(text))));
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  test("reports a value that is not an object, and where it breaks", () => {
    const { exports } = parts;
    const walk = (text: string): [number, number] => {
      const { p, end } = put(text);
      if (exports.membersStart!(p, end) === DOC_OK) while (exports.membersNext!());
      return [exports.status!(), exports.status!() === DOC_OK ? 0 : exports.statusAt!() - p];
    };
    expect(walk(" {} ")).toEqual([DOC_OK, 0]);
    expect(walk(' {"a":[]} ')).toEqual([DOC_OK, 0]);
    expect(walk(" [1]")).toEqual([DOC_NOT_OBJECT, 1]);
    expect(walk("[1")).toEqual([DOC_BAD_JSON, 2]);
    expect(walk('{"a":1} x')).toEqual([DOC_BAD_JSON, 8]);
    expect(walk('{"a":1 "b":2}')).toEqual([DOC_BAD_JSON, 7]);
    expect(walk("{,}")).toEqual([DOC_BAD_JSON, 1]);
    expect(walk('{"a":1,')).toEqual([DOC_BAD_JSON, 7]);
    expect(walk('{"a":"\\ud800"}')).toEqual([DOC_LONE_SURROGATE, 6]);
  });
});
