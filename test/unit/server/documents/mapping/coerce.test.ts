// Converting a feed's values to each field type, for each row of the table in docs/feeds.md. Even long texts
// are converted quickly.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { coerce } from "../../../../../server/documents/mapping/coerce.js";
import type { FieldType } from "../../../../../server/ground/field-types.js";
import { effort } from "../../../../effort.js";

/**
 * Returns the converted value, with its currency if it has one; "-" for an absent field, "!" for a value that
 * does not fit.
 */
function became(value: unknown, type: FieldType): unknown {
  const coerced = coerce(value, type);
  if (coerced === null) return "-";
  if ("problem" in coerced) return "!";
  const json = JSON.parse(coerced.json) as unknown;
  return coerced.currency === undefined ? json : [json, coerced.currency];
}

describe("a number", () => {
  test.each([
    ["15.00 USD", [15, "USD"]],
    ["USD 15", [15, "USD"]],
    ["usd15", [15, "USD"]],
    ["$15", [15, "USD"]],
    ["$-15", [-15, "USD"]],
    ["US$ 1,299.50", [1299.5, "USD"]],
    ["15,00 €", [15, "EUR"]],
    ["€15", [15, "EUR"]],
    ["1.299,00 EUR", [1299, "EUR"]],
    ["1.299.000,50 EUR", [1299000.5, "EUR"]],
    ["1,299.00", 1299],
    ["1 299,00", 1299],
    ["1\u00a0299,00 zł", [1299, "PLN"]],
    ["1\u202f299,00 €", [1299, "EUR"]],
    ["1'299.00", 1299],
    ["CHF 1’299.00", [1299, "CHF"]],
    ["1,299", 1299],
    ["1,29", 1.29],
    ["1.299", 1.299],
    ["1.299 EUR", [1299, "EUR"]],
    ["1.250 KWD", [1.25, "KWD"]],
    ["1.299.000", 1299000],
    ["0.125 EUR", [0.125, "EUR"]],
    ["1.5 kg", 1.5],
    ["250 g", 250],
    ["10 %", 10],
    ["10%", 10],
    ["199 kr", 199],
    ["007", 7],
    ["+5", 5],
    ["-0", 0],
    [".5", 0.5],
    ["5.", 5],
    ["1e3", 1000],
    ["1.5E-2", 0.015],
    [" 12 ", 12],
    [12.5, 12.5],
    ["", "-"],
    ["  ", "-"],
    [null, "-"],
    [undefined, "-"],
    [[], "-"],
    [
      ["", "15.00 USD", "20.00 USD"],
      [15, "USD"],
    ],
    ["call us", "!"],
    ["15 or 16", "!"],
    ["15 USD or so", "!"],
    ["EUR 15 USD", "!"],
    ["1,2,3", "!"],
    ["12,34.5", "!"],
    ["1.2.3", "!"],
    ["1 29", "!"],
    ["--1", "!"],
    ["1e999", "!"],
    ["NaN", "!"],
    ["Infinity", "!"],
    ["0x10", "!"],
    ["١٢", "!"],
    ["1".repeat(101), "!"],
    [true, "!"],
    [{ amount: 1 }, "!"],
    [[[1]], "!"],
  ])("%j as float", (value, expected) => expect(became(value, "float")).toEqual(expected));

  test.each([
    ["15.00", "int32", 15],
    ["15.00 USD", "int32", [15, "USD"]],
    ["1.299", "int32", "!"],
    ["1,299", "int32", 1299],
    ["15.5", "int32", "!"],
    ["2147483647", "int32", 2147483647],
    ["2147483648", "int32", "!"],
    ["-2147483648", "int32", -2147483648],
    [1e3, "int32", 1000],
    [1.5, "int32", "!"],
    ["1e3", "int32", 1000],
    ["1e30", "int64", "!"],
    ["2026-05-01", "int64", 1777593600],
    ["2026-05-01T10:00-0800", "int64", 1777658400],
    ["2026-05-01T10:00:00+05:30", "int64", 1777609800],
    ["2026-05-01 10:00:00.5Z", "int64", 1777629600],
    ["2026-05-01T10:00", "int32", 1777629600],
    ["Fri, 01 May 2026 10:00:00 GMT", "int64", 1777629600],
    ["1 May 2026 10:00 -0800", "int64", 1777658400],
    ["2026-05-01T10:00-0800/2026-06-01T10:00-0800", "int64", 1777658400],
    ["1969-12-31T23:59:59Z", "int64", -1],
    ["2026-02-30", "int64", "!"],
    ["2026-13-01", "int64", "!"],
    ["2026-05-01T25:00", "int64", "!"],
    ["2026-05-01", "float", "!"],
    ["yesterday", "int64", "!"],
  ] as const)("%j as %s", (value, type, expected) => expect(became(value, type)).toEqual(expected));

  test("keeps every digit of an int64", () => {
    for (const digits of ["9223372036854775807", "-9223372036854775808", "9007199254740993"]) {
      expect(coerce(digits, "int64")).toMatchObject({ json: digits });
      expect(coerce(BigInt(digits), "int64")).toEqual({ json: digits });
    }
    expect(became("9223372036854775808", "int64")).toBe("!");
    expect(became(9007199254740993n, "string")).toBe("9007199254740993");
    expect(became(9007199254740993n, "float")).toBe(9007199254740992);
  });

  test("is read in every country's notation", () => {
    const styles = ["en-US", "de-DE", "fr-FR", "de-CH", "pt-BR", "sv-SE", "pl-PL"].map((locale) =>
      (["USD", "EUR", "PLN"] as const).map((currency) => ({
        currency,
        format: new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
      })),
    );
    const cents = fc.integer({ min: -(10 ** 9), max: 10 ** 11 });
    fc.assert(
      fc.property(cents, fc.constantFrom(...styles.flat()), fc.boolean(), (amount, style, isBehind) => {
        const { format, currency } = style;
        // In Swedish, Intl writes the mathematical minus sign.
        const written = format.format(amount / 100).replace("−", "-");
        const text = isBehind ? `${written} ${currency}` : `${currency} ${written}`;
        expect(became(text, "float")).toEqual([amount / 100, currency]);
      }),
      { numRuns: effort(300, 20_000) },
    );
  });
});

describe("a bool", () => {
  const YES = ["true", "yes", "y", "on", "1", "in stock", "in_stock", "available", "limited availability"];
  const NO = ["false", "no", "n", "off", "0", "out of stock", "sold out", "unavailable", "discontinued"];
  const NOT_YET = ["preorder", "backorder", "available for order"];

  test.each([...YES, " In Stock ", true, 1])("%j is true", (value) =>
    expect(became(value, "bool")).toBe(true),
  );
  test.each([...NO, ...NOT_YET, "OUT_OF_STOCK", false, 0])("%j is false", (value) =>
    expect(became(value, "bool")).toBe(false),
  );
  test.each(["maybe", "2", 2, {}])("%j is refused", (value) => expect(became(value, "bool")).toBe("!"));
  test("an empty value is absent", () => expect(became("", "bool")).toBe("-"));
});

describe("a string", () => {
  test.each([
    [" as it is ", " as it is "],
    [12.5, "12.5"],
    [true, "true"],
    [["first", "second"], "first"],
    ["", "-"],
    [{ a: 1 }, "!"],
  ])("from %j", (value, expected) => expect(became(value, "string")).toBe(expected));
});

describe("a list", () => {
  test.each([
    [
      ["a", "b"],
      ["a", "b"],
    ],
    [
      ["a", ["b", "c"]],
      ["a", "b", "c"],
    ],
    ["a|b,c", ["a", "b,c"]],
    ["a; b, c", ["a", "b, c"]],
    ["a, b", ["a", "b"]],
    ["a,,b,", ["a", "b"]],
    ["Shoes > Men, wide", ["Shoes > Men, wide"]],
    ["Shoes > Men|Shoes > Sale", ["Shoes > Men", "Shoes > Sale"]],
    ['["a", "b,c"]', ["a", "b,c"]],
    ["[a, b]", ["[a", "b]"]],
    ["one", ["one"]],
    [7, ["7"]],
    ["|||", "-"],
    [[], "-"],
    [["", null], "-"],
    [{ a: 1 }, "!"],
    [[["a", { b: 1 }]], "!"],
  ])("of strings from %j", (value, expected) => expect(became(value, "string[]")).toEqual(expected));

  test.each([
    ["1|2.5", "float[]", [1, 2.5]],
    ["1,2", "int32[]", [1, 2]],
    [["1", 2], "int32[]", [1, 2]],
    ["1|x", "int32[]", "!"],
    ["[1, 2]", "float[]", [1, 2]],
  ] as const)("%j as %s", (value, type, expected) => expect(became(value, type)).toEqual(expected));
});

test("a value that does not fit is quoted from its start", () => {
  expect(coerce("call us", "float")).toEqual({ problem: 'must be a finite number, not "call us"' });
  const { problem } = coerce("x".repeat(1_000_000), "int32") as { problem: string };
  expect(problem.length).toBeLessThan(150);
});

// A quadratic pattern would take many minutes for each of these, so this test would not end.
test("texts of a megabyte are read in linear time", () => {
  const long = 1_000_000;
  const texts = [
    `a${" ".repeat(long)}b`,
    `1${" ".repeat(long)}x\nx`,
    `${"0".repeat(long)}x`,
    `1${" 111".repeat(long / 4)}x\ny`,
    `2026-05-01T10:00${" ".repeat(long)}x`,
    `Fri,${" ".repeat(long)}x`,
    "/".repeat(long),
  ];
  for (const text of texts) {
    for (const type of ["float", "int64", "bool"] as const) expect(became(text, type)).toBe("!");
  }
});
