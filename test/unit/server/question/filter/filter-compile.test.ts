// Compiling filters for a schema's field types: the resulting engine operations, and refusals.
import { describe, expect, it } from "vitest";
import type { FilterOp } from "../../../../../engine-wasm/host/programs/filter-program.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { compileFilter } from "../../../../../server/question/filter/filter-compile.js";
import { nativeFilter } from "../../../../../server/question/filter/filter-native.js";
import { parseFilter } from "../../../../../server/question/filter/filter-parser.js";
import { readBounds, readDouble, readInteger } from "../../../../../server/question/filter/numbers.js";
import { analyser, schema } from "../../record.js";

const compile = (text: string): FilterOp[] =>
  compileFilter(parseFilter(text, DEFAULT_LIMITS), schema, analyser);
const native = (filters: object): FilterOp[] =>
  compileFilter(nativeFilter(filters, DEFAULT_LIMITS), schema, analyser);
const int = (slot: number, low: bigint, high: bigint): FilterOp => ({ op: "intRange", slot, low, high });
const MAX = 2n ** 63n - 1n;
const MIN = -(2n ** 63n);
const NOTHING = [{ op: "all" }, { op: "not" }];

describe("filter compiler", () => {
  it("matches strings by words, and equality by folded value", () => {
    expect(compile("title:Red Shoes")).toEqual([{ op: "tokens", slot: 0, terms: ["red", "shoes"] }]);
    expect(compile("title:=Red Shoes")).toEqual([
      { op: "equals", slot: 0, folded: Buffer.from("red shoes") },
    ]);
    expect(compile("tags:!=New")).toEqual([
      { op: "equals", slot: 2, folded: Buffer.from("new") },
      { op: "not" },
    ]);
    expect(compile("title:--")).toEqual([{ op: "equals", slot: 0, folded: Buffer.from("--") }]);
  });

  it("writes groups in postfix notation", () => {
    const ops = compile("(stock:1 || sale:true && stock:2) && sale:false").map((op) => op.op);
    expect(ops).toEqual(["intRange", "intRange", "intRange", "and", "or", "intRange", "and"]);
    expect(compile("stock:[1,2,3]").map((op) => op.op)).toEqual([
      "intRange",
      "intRange",
      "or",
      "intRange",
      "or",
    ]);
    expect(compile("stock:!=[1,2]").at(-1)).toEqual({ op: "not" });
  });

  it("rounds decimals inwards for integer fields", () => {
    expect(compile("stock:>2.5")).toEqual([int(4, 3n, MAX)]);
    expect(compile("stock:>=2.5")).toEqual([int(4, 3n, MAX)]);
    expect(compile("stock:>2")).toEqual([int(4, 3n, MAX)]);
    expect(compile("stock:<2.5")).toEqual([int(4, MIN, 2n)]);
    expect(compile("stock:<=-2.5")).toEqual([int(4, MIN, -3n)]);
    expect(compile("stock:<2")).toEqual([int(4, MIN, 1n)]);
    expect(compile("stock:[1.5..3.5]")).toEqual([int(4, 2n, 3n)]);
    expect(compile("stock:[3..1]")).toEqual(NOTHING);
  });

  it("keeps int64 exact and clips values beyond it", () => {
    expect(compile("views:=9007199254740993")).toEqual([int(5, 9007199254740993n, 9007199254740993n)]);
    expect(compile("views:<=9223372036854775808")).toEqual([int(5, MIN, MAX)]);
    expect(compile("views:=9223372036854775808")).toEqual(NOTHING);
    expect(compile("views:>1e30")).toEqual(NOTHING);
    expect(compile("views:=1e30")).toEqual(NOTHING);
    expect(compile("views:=9007199254740993.0")).toEqual([int(5, 9007199254740993n, 9007199254740993n)]);
    expect(compile("stock:[1.0, 1e3]")).toEqual([int(4, 1n, 1n), int(4, 1000n, 1000n), { op: "or" }]);
  });

  it("compares floats with open and closed bounds", () => {
    const float = {
      op: "floatRange",
      slot: 3,
      low: -Infinity,
      high: Infinity,
      lowExclusive: false,
      highExclusive: false,
    };
    expect(compile("price:>1.5")).toEqual([{ ...float, low: 1.5, lowExclusive: true }]);
    expect(compile("price:<=1")).toEqual([{ ...float, high: 1 }]);
    expect(compile("price:1e1")).toEqual([{ ...float, low: 10, high: 10 }]);
    expect(compile("price:[1..2]")).toEqual([{ ...float, low: 1, high: 2 }]);
  });

  it("turns ids into hashes", () => {
    const hashes = [analyser.hash("a b"), analyser.hash("c")];
    expect(compile("id:[`a b`, c]")).toEqual([{ op: "ids", hashes }]);
    expect(compile("id:!=c")).toEqual([{ op: "ids", hashes: [analyser.hash("c")] }, { op: "not" }]);
  });

  it.each([
    ["nope:1", "unknown field 'nope'", 0],
    ["notes:x", "index: false", 0],
    ["stock:=1.5", "an integer", 7],
    ["stock:x", "an integer", 6],
    ["stock:1..2", "[low..high]", 6],
    ["stock:>x", "a number", 7],
    ["price:=abc", "a finite number", 7],
    ["price:1e999", "a finite number", 6],
    [
      "sale:1",
      "'1' is not a value of field 'sale' at position 5; expected true or false ('sale' is bool)",
      5,
    ],
    ["sale:>true", "need a numeric field, but 'sale' is bool at position 6; expected true or false", 6],
    ["title:>5", "numeric field", 7],
    ["title:[a..b]", "numeric field", 7],
    ["id:>5", "no order", 4],
    ["sale:true && stock:`1`x", "'&&', '||' or the end", 22],
  ])("refuses %s", (text, sentence, position) => {
    const attempt = (): FilterOp[] => compile(text);
    expect(attempt).toThrow(sentence);
    expect(attempt).toThrow(
      expect.objectContaining({ code: "SK-SE-400", details: expect.objectContaining({ position }) }),
    );
  });

  it("accepts native filters as equality and any-of, never as operators", () => {
    expect(native({ brand: "A && B", sale: true })).toEqual([
      { op: "equals", slot: 1, folded: Buffer.from("a && b") },
      int(6, 1n, 1n),
      { op: "and" },
    ]);
    expect(native({ stock: [1, 2] }).map((op) => op.op)).toEqual(["intRange", "intRange", "or"]);
    expect(native({ views: 2n ** 60n })).toEqual([int(5, 2n ** 60n, 2n ** 60n)]);
    expect(native({ title: ">5" })).toEqual([{ op: "equals", slot: 0, folded: Buffer.from(">5") }]);
    expect(native({ brand: [] })).toEqual(NOTHING);
    expect(native({})).toEqual([]);
    expect(() => native({ brand: null })).toThrow("filters.brand must be a string");
    expect(() => native({ brand: [{}] })).toThrow("filters.brand must be a string");
    expect(() => native({ brand: ["\ud800"] })).toThrow("filters.brand must be well-formed Unicode");
    expect(() => native({ ["b".repeat(50)]: null })).toThrow(
      `filters.${"b".repeat(40)}... must be a string, a number, a boolean or an array of these, not null`,
    );
    expect(() => native({ nope: 1 })).toThrow("filters: unknown field 'nope'");
    expect(() => native({ views: 2 ** 60 })).toThrow("expected an integer");
    expect(native({ price: [1e21, 1e308] })).toEqual(compile("price:[1e21, 1e308]"));
    expect(() => native(JSON.parse('{"__proto__": 1}') as object)).toThrow("unknown field '__proto__'");
  });

  it("reads numbers exactly", () => {
    expect(readInteger("+12")).toBe(12n);
    for (const text of ["10", "10.0", "1e1", "1E+01", "100e-1", "0.01e3"])
      expect(readInteger(text)).toBe(10n);
    expect(readInteger("9007199254740993.0")).toBe(9007199254740993n);
    expect(readInteger("9.223372036854775807e18")).toBe(2n ** 63n - 1n);
    expect(readInteger("-0.0e9999999")).toBe(0n);
    expect(readInteger("1.5")).toBeNull();
    expect(readInteger("5e-1")).toBeNull();
    expect(readInteger(`0.${"0".repeat(390)}1e9999`)).toBeGreaterThan(2n ** 63n);
    expect(readInteger("9".repeat(500))).toBeNull();
    expect(readDouble(".5")).toBe(0.5);
    expect(readDouble(".")).toBeNull();
    expect(readBounds("-0.5")).toEqual({ floor: -1n, ceil: 0n });
    expect(readBounds("9007199254740993.5")).toEqual({ floor: 9007199254740993n, ceil: 9007199254740994n });
    expect(readBounds("12e2")).toEqual({ floor: 1200n, ceil: 1200n });
    expect(readBounds("1e-300")).toEqual({ floor: 0n, ceil: 1n });
    expect(readBounds("e5")).toBeNull();
  });
});
