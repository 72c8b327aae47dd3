// Two texts are the same document if they are the same JSON value, to the last digit.
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import type { Workbench } from "../../../../engine-wasm/host/instance/workbench.js";
import { sameDocument } from "../../../../shards/index/write/same-json.js";
import { engineModule } from "../harness.js";

let workbench: Workbench;
beforeAll(async () => {
  workbench = (await engineModule()).workbench();
});

const same = (a: string, b: string): boolean => sameDocument(Buffer.from(a), Buffer.from(b), workbench);

test.each([
  ['{"id":"a","x":1}', ' { "x" : 1,\n"id":"a" } '],
  ['{"id":"a","x":{"b":[1, 2],"c":null}}', '{"id":"a","x":{"c":null,"b":[1,2]}}'],
  ['{"id":"a","x":"\\u00e4\\/"}', '{"id":"a","x":"ä/"}'],
  ['{"id":"a","x":9007199254740993}', '{"x":9007199254740993 ,"id":"a"}'],
  ['{"id":"a","__proto__":{"x": 1}}', '{"id":"a","__proto__":{"x":1}}'],
  ['{"id":"a","x":{"__proto__":{"y": 1}}}', '{"id":"a","x":{"__proto__":{"y":1}}}'],
])("%s is %s", (a, b) => {
  expect(same(a, b)).toBe(true);
  expect(same(b, a)).toBe(true);
});

test.each([
  ['{"id":"a","x":9007199254740993}', '{"id":"a","x":9007199254740992}'],
  ['{"id":"a","x":[9007199254740993]}', '{"id":"a","x":[9007199254740992]}'],
  ['{"id":"a","x":0.1000000000000000055}', '{"id":"a","x":0.1}'],
  ['{"id":"a","x":[1,2]}', '{"id":"a","x":[2,1]}'],
  ['{"id":"a","x":[1]}', '{"id":"a","x":["1"]}'],
  ['{"id":"a","x":["n1"]}', '{"id":"a","x":[1]}'],
  ['{"id":"a","x":["s1"]}', '{"id":"a","x":["1"]}'],
  ['{"id":"a","x":null}', '{"id":"a"}'],
  ['{"id":"a","x":null}', '{"id":"a","y":null}'],
  ['{"id":"a","x":{"__proto__":{"y":1}}}', '{"id":"a","x":{"__proto__":{"y":2}}}'],
  ['{"id":"a","x":{"__proto__":null}}', '{"id":"a","x":{}}'],
  ['{"id":"a"}', '{"id":"a"'],
  ['{"id":"a","x":[1 ]}', '{"id":"a","x":[1}'],
  ['{"id":"a","x":[1 ]}', '{"id":"a","x":[1,]}'],
  ['{"id":"a"}', "null"],
])("%s is not %s", (a, b) => {
  expect(same(a, b)).toBe(false);
});

test("a byte that is not UTF-8 equals no character", () => {
  const good = Buffer.from('{"id":"a","x":"\ufffd"}');
  const bad = Buffer.from('{"id":"a","x":"?"}');
  bad[bad.indexOf("?")] = 0xff;
  expect(sameDocument(good, bad, workbench)).toBe(false);
});

test("long strings full of escapes and deeply nested values can be compared", () => {
  const long = "\\n".repeat(1_000_000);
  expect(same(`{"id":"a","x":["${long}"]}`, `{"id":"a","x":[ "${long}"]}`)).toBe(true);
  const deep = (left: number): string => (left === 0 ? "1" : `[${deep(left - 1)}]`);
  expect(same(`{"id":"a","x":${deep(50)}}`, `{"id":"a","x":[ ${deep(49)}]}`)).toBe(true);
  const hostile = "[".repeat(500_000);
  expect(same('{"id":"a","x":[ ]}', `{"id":"a","x":${hostile}${"]".repeat(500_000)}}`)).toBe(false);
});

test("any value equals itself however it is printed, and differs from any other", () => {
  const value = fc.jsonValue({ maxDepth: 4 });
  fc.assert(
    fc.property(value, value, (x, y) => {
      const spaced = JSON.stringify({ x, id: "a" }, null, 1);
      const text = JSON.stringify({ id: "a", x });
      expect(same(text, spaced)).toBe(true);
      const other = JSON.stringify({ id: "a", x: y });
      expect(same(other, spaced)).toBe(JSON.stringify(sorted(x)) === JSON.stringify(sorted(y)));
    }),
    { numRuns: 300 },
  );
});

/**
 * Returns the value with its objects' members sorted. Wraps each object, so that it differs from any array.
 */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => ({ name, member: sorted(member) }));
  return { members };
}
