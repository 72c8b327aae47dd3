// A set of number pairs behaves like a set of strings, for small and large numbers and many pairs.
import fc from "fast-check";
import { expect, test } from "vitest";
import { NumberPairs } from "../../../../server/coach/number-pairs.js";

test("any pairs are counted, including repeated ones", () => {
  const first = fc.oneof(fc.nat(5), fc.nat(2 ** 27 - 2));
  const second = fc.oneof(fc.nat(5), fc.nat(2 ** 26 - 1));
  fc.assert(
    fc.property(fc.array(fc.tuple(first, second)), (pairs) => {
      const some = new NumberPairs();
      const known = new Set<string>();
      for (const [a, b] of pairs) {
        expect(some.add(a, b)).toBe(!known.has(`${a} ${b}`));
        known.add(`${a} ${b}`);
      }
    }),
  );
});

test("many pairs are counted in rows and columns", () => {
  const some = new NumberPairs();
  for (let a = 0; a < 300; a++) for (let b = 0; b < 300; b++) if (!some.add(a, b)) expect([a, b]).toBe("new");
  for (let a = 0; a < 300; a++) expect(some.add(a, 299 - a)).toBe(false);
});

test("oversized numbers are refused", () => {
  expect(() => new NumberPairs().add(2 ** 27 - 1, 0)).toThrow(RangeError);
  expect(() => new NumberPairs().add(0, 2 ** 26)).toThrow(RangeError);
});
