// Number and text columns round-trip; a truncated column gives an error rather than wrong values.
import fc from "fast-check";
import { expect, test } from "vitest";
import { ColumnReader, ColumnWriter } from "../../../../server/query-log/rows/columns.js";

const whole = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.integer({ min: 0, max: 2 ** 32 }),
  fc.maxSafeInteger().map(Math.abs),
);
const numbers = fc.array(whole, { maxLength: 50 });
const near = fc.array(fc.integer({ min: 0, max: 2 ** 51 }), { maxLength: 50 });
const text = fc.string({ unit: "binary" });

test("any columns round-trip", () => {
  fc.assert(
    fc.property(numbers, numbers, near, fc.array(text), (plain, some, apart, texts) => {
      const rising = [...some].sort((a, b) => a - b);
      const writer = new ColumnWriter();
      writer.putAll(plain);
      for (const one of texts) writer.putText(one);
      writer.putRising(rising);
      writer.putNear(apart);
      const bytes = writer.finish();
      const reader = new ColumnReader(bytes);
      expect([...reader.into(new Float64Array(plain.length))]).toEqual(plain);
      expect(texts.map(() => reader.text())).toEqual(texts);
      expect([...reader.risingInto(new Float64Array(rising.length))]).toEqual(rising);
      expect([...reader.nearInto(new Float64Array(apart.length))]).toEqual(apart);
      expect(() => reader.next()).toThrow(RangeError);
    }),
  );
});

test("a truncated number is refused", () => {
  const writer = new ColumnWriter();
  writer.put(2 ** 53 - 1);
  const bytes = Buffer.from(writer.finish());
  for (let length = 0; length < bytes.length; length++)
    expect(() => new ColumnReader(bytes.subarray(0, length)).next()).toThrow(RangeError);
});
