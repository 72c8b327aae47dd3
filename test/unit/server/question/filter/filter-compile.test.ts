// Compiling filters for a schema's field types: the resulting engine operations, and refusals.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { finished } from "../../../../../engine-wasm/host/runtime/steps.js";
import { DEFAULT_LIMITS, FIXED_LIMITS } from "../../../../../server/ground/limits.js";
import {
  both,
  compileFilter,
  compilingOfNativeFilter,
} from "../../../../../server/question/filter/filter-compile.js";
import { readBounds, readDouble, readInteger } from "../../../../../server/question/filter/numbers.js";
import { type FilterOp, filterOf, operationsOf } from "../../../../oracle/filter-operations.js";
import { analyser, field, makeRecord, queried, schema } from "../../record.js";

const INDEX = { schema, analyser };
const compile = (text: string): FilterOp[] => operationsOf(compileFilter(text, INDEX, DEFAULT_LIMITS));
const native = (filters: object, index = INDEX): FilterOp[] =>
  operationsOf(finished(compilingOfNativeFilter(filters, index, DEFAULT_LIMITS)));
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
    ["nope:1 && (", "unknown field 'nope'", 0],
    ["( && nope:1", "no field name", 2],
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
    const long = queried(makeRecord({}, [field("b".repeat(50), "string", 0)]));
    expect(() => native({ ["b".repeat(50)]: null }, long)).toThrow(
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

describe("a long filter", () => {
  it("yields while a native one is read", () => {
    const steps = (filters: object) => [...compilingOfNativeFilter(filters, INDEX, DEFAULT_LIMITS)].length;
    expect(steps({ stock: 1, sale: true })).toBe(0);
    expect(steps({ stock: Array.from({ length: 1_000 }, (_, i) => i) })).toBeGreaterThanOrEqual(9);
  });

  it("is refused if it has too many conditions or operations", () => {
    const stock = (count: number) => Array.from({ length: count }, () => 1);
    expect(native({ stock: stock(19_999) })).toHaveLength(2 * 19_999 - 1);
    expect(() => native({ stock: stock(20_000) })).toThrow("filters has more than 20000 keys and values");
    // No document meets `:=1e30`, which takes two operations; its complement is a third, `or` a fourth.
    const text = (clauses: number) => Array(clauses).fill("stock:!=1e30").join("||");
    expect(compile(text(16_384))).toHaveLength(FIXED_LIMITS.filterOperationsMax);
    expect(() => compile(text(16_385))).toThrow(
      "the filter needs 65539 operations; at most 65535 are allowed",
    );
  });

  it("leaves nothing on the heap but a buffer of the program's size", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const text = Array.from({ length: 19_990 }, (_, i) => `stock:${i % 10}`).join("||");
    const compiled = () => compileFilter(text, INDEX, DEFAULT_LIMITS);
    const program = compiled();
    expect(program.length).toBe(2 + 19_990 * 19 + 19_989);
    expect(program.buffer.byteLength).toBe(program.length);
    collect();
    const before = process.memoryUsage().heapUsed;
    const kept = Array.from({ length: 10 }, compiled);
    collect();
    expect((process.memoryUsage().heapUsed - before) / kept.length).toBeLessThan(text.length);
  });

  it("may be joined to another within the same limit", () => {
    const [a, b] = [filterOf({ op: "all" }), filterOf({ op: "ids", hashes: [5n, 7n] }, { op: "not" })];
    expect(operationsOf(both(a, b))).toEqual([...operationsOf(a), ...operationsOf(b), { op: "and" }]);
    expect(both(filterOf(), b)).toEqual(b);
    expect(both(a, filterOf())).toEqual(a);
    const large = filterOf({ op: "all" }, ...Array.from({ length: 40_000 }, () => ({ op: "not" as const })));
    expect(() => both(large, large)).toThrow("the filter needs 80003 operations; at most 65535 are allowed");
  });
});
