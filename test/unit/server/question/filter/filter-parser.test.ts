// The filter language: its meaning, error positions, and that the worst outcome for any text is a 400.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SkeinError } from "../../../../../server/ground/errors.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { parsingOfFilter } from "../../../../../server/question/filter/filter-parser.js";
import type {
  FilterLiteral,
  FilterSink,
  FilterValue,
} from "../../../../../server/question/filter/filter-parts.js";
import {
  type FilterClause,
  type FilterNode,
  printTree,
  treeOf,
  withoutPositions,
} from "../../../../oracle/filter-tree.js";

const literal = (text: string, quoted = false): FilterValue => ({
  kind: "literal",
  literal: { text, quoted, at: 0 },
});

const range = (low: string, high: string): FilterValue => ({
  kind: "range",
  low: { text: low, quoted: false, at: 0 },
  high: { text: high, quoted: false, at: 0 },
});

const DEAF: FilterSink = {
  clause: () => undefined,
  value: () => undefined,
  clauseEnd: () => undefined,
  and: () => undefined,
  or: () => undefined,
};

function pausesOf(text: string): number {
  return [...parsingOfFilter(text, DEFAULT_LIMITS, DEAF)].length;
}

function refusal(text: string): SkeinError {
  try {
    treeOf(text);
  } catch (error) {
    if (error instanceof SkeinError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

const print = (node: FilterNode): string => printTree(node, printClause);

function printClause({ field, operator, values }: FilterClause): string {
  const printed = values.map(printValue);
  const only = values.length === 1 && values[0]?.kind !== "range" ? printed[0] : undefined;
  return `${field}${operator}${only ?? `[${printed.join(", ")}]`}`;
}

function printValue(value: FilterValue): string {
  const text = (one: FilterLiteral): string =>
    one.quoted ? `\`${one.text.replaceAll("`", "``")}\`` : one.text;
  if (value.kind === "literal") return text(value.literal);
  if (value.kind === "range") return `${value.low.text}..${value.high.text}`;
  return `${value.comparison}${text(value.literal)}`;
}

describe("filter parser", () => {
  it.each([
    ["words", "title:lamp"],
    ["ranges", "price:[1..2]"],
    ["lists", "price:[1,2,3]"],
    ["groups", "(title:a && title:b)"],
  ])("pauses in long filters of %s", (_, condition) => {
    const repeated = (connective: string): string =>
      Array.from({ length: 1_000 }, () => condition).join(connective);
    expect(pausesOf(condition)).toBe(0);
    expect(pausesOf(repeated(" || "))).toBeGreaterThanOrEqual(9);
    expect(pausesOf(repeated(" && "))).toBeGreaterThanOrEqual(9);
  });

  it("pauses in a long list", () => {
    const values = Array.from({ length: 1_000 }, (_, i) => i);
    expect(pausesOf(`price:[${values.join()}]`)).toBeGreaterThanOrEqual(9);
  });

  it("binds && tighter than ||, and parentheses tightest", () => {
    const shape = (node: FilterNode): string =>
      node.kind === "clause"
        ? node.field
        : `(${shape(node.left)}${node.kind === "and" ? "&" : "|"}${shape(node.right)})`;
    expect(shape(treeOf("a:1 || b:2 && c:3 || d:4"))).toBe("((a|(b&c))|d)");
    expect(shape(treeOf("a:1 && (b:2 && c:3)"))).toBe("(a&(b&c))");
    expect(shape(treeOf("(a:1 || b:2) && c:3"))).toBe("((a|b)&c)");
    expect(shape(treeOf("((a:1))"))).toBe("a");
  });

  it.each([
    ["brand:Sony", ":", [literal("Sony")]],
    ["brand:= Sony Ericsson ", ":=", [literal("Sony Ericsson")]],
    ["brand:!=`a, b] && c`", ":!=", [literal("a, b] && c", true)]],
    ["brand:[a, `b,c` ,d e]", ":", [literal("a"), literal("b,c", true), literal("d e")]],
    ["brand:!=[a,b]", ":!=", [literal("a"), literal("b")]],
    ["brand:H&M", ":", [literal("H&M")]],
    ["brand:Foo (bar) [x]", ":", [literal("Foo (bar) [x]")]],
    ["brand:=>5", ":=", [literal(">5")]],
    ["brand:=a:b", ":=", [literal("a:b")]],
    ["brand:=``", ":=", [literal("", true)]],
    ["brand:=`a``b`", ":=", [literal("a`b", true)]],
    ["brand:=````", ":=", [literal("`", true)]],
    ["brand:[`a```, b]", ":", [literal("a`", true), literal("b")]],
    ["price:[0.5.. .75]", ":", [range("0.5", ".75")]],
    ["x:10..20", ":", [literal("10..20")]],
  ])("reads %s", (text, operator, values) => {
    expect(withoutPositions(treeOf(text))).toMatchObject({ kind: "clause", operator, values });
  });

  it("mixes ranges, comparisons and values in a list", () => {
    expect(print(treeOf("price : [10.5..20, >= 50 , 7,-3..-1]"))).toBe("price:[10.5..20, >=50, 7, -3..-1]");
  });

  it.each([
    ["", 0],
    ["price", 5],
    ["price:", 6],
    ["price:[1,2", 10],
    ["price:[1,,2]", 9],
    ["price:[1..]", 10],
    ["price:[..2]", 7],
    ["price:[1...3]", 8],
    ["price:[1....3]", 8],
    ["price:10]", 8],
    ["price:10)", 8],
    ["(price:10", 9],
    ["(a:1 b:2", 8],
    ["a:1 &&", 6],
    ["a:1 || || b:2", 7],
    ["a:`x", 4],
    ["a:`x` y", 6],
    ["a:x (y", 4],
    [":5", 0],
    ["a:1 && (b:2 || c)", 16],
    ["a:\ud800", 2],
  ])("points at the error in %j", (text, position) => {
    const error = refusal(text);
    expect(error).toMatchObject({ code: "SK-SE-400", status: 400, details: { position } });
    expect(error.message).toContain(`at position ${position}`);
  });

  it.each([
    ["price", "filter_by: no operator after 'price' at position 5; expected ':', ':=' or ':!='"],
    ["price:[1..]", "filter_by: a range without an upper bound at position 10; expected <low>..<high>"],
    ["a:`x` y", "filter_by: unexpected 'y' at position 6; expected '&&', '||' or the end"],
    [
      `a:\`x\` ${"y".repeat(39)}\u{1f600}`,
      `filter_by: unexpected '${"y".repeat(39)}...' at position 6; expected '&&', '||' or the end`,
    ],
  ])("says what it found and what it expected: %j", (text, sentence) => {
    expect(refusal(text).message).toBe(sentence);
  });
});

describe("filter parser, within its limits", () => {
  it("accepts 10,000 conditions and values, nests 100 levels and no more", () => {
    const many = Array.from({ length: 10_000 }, (_, i) => `a:${i}`);
    expect(treeOf(many.join(" || "))).toMatchObject({ kind: "or" });
    expect(treeOf(`a:[${many.map((_, i) => i).join(",")}]`)).toMatchObject({ kind: "clause" });
    expect(refusal(Array(30_000).fill("a:1").join("&&")).message).toContain("20000");
    expect(treeOf(`${"(".repeat(100)}a:1${")".repeat(100)}`)).toMatchObject({ kind: "clause" });
    expect(refusal(`${"(".repeat(101)}a:1${")".repeat(101)}`).details).toMatchObject({ position: 100 });
    expect(refusal("(".repeat(900_000)).status).toBe(400);
    expect(refusal("a".repeat(2_000_000)).message).toContain("1048576 bytes");
  });
});

describe("filter parser, for any filter and any text", () => {
  it("reads back a printed filter", () => {
    const text = fc.string({ unit: "grapheme", minLength: 0, maxLength: 8 });
    const number = fc
      .integer({ min: -99, max: 99 })
      .map((value): FilterLiteral => ({ text: `${value}`, quoted: false, at: 0 }));
    const value: fc.Arbitrary<FilterValue> = fc.oneof(
      text.map((word) => literal(word, true)),
      fc.record({ kind: fc.constant("range" as const), low: number, high: number }),
    );
    const compared: fc.Arbitrary<FilterValue> = fc.record({
      kind: fc.constant("comparison" as const),
      comparison: fc.constantFrom("<", ">", "<=", ">=" as const),
      literal: number,
    });
    const field = fc.constantFrom("a", "preis", "größe", "a b", "x-y", "名");
    const clause: fc.Arbitrary<FilterNode> = fc.oneof(
      fc.record({
        kind: fc.constant("clause" as const),
        field,
        at: fc.constant(0),
        operator: fc.constantFrom(":", ":=", ":!=" as const),
        values: fc.array(value, { minLength: 1, maxLength: 3 }),
      }),
      fc.record({
        kind: fc.constant("clause" as const),
        field,
        at: fc.constant(0),
        operator: fc.constant(":" as const),
        values: fc.array(compared, { minLength: 1, maxLength: 2 }),
      }),
    );
    const { tree } = fc.letrec<{ tree: FilterNode }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        clause,
        fc.record({
          kind: fc.constantFrom("and", "or" as const),
          left: tie("tree"),
          right: tie("tree"),
        }),
      ),
    }));
    fc.assert(
      fc.property(tree, (node) => {
        expect(withoutPositions(treeOf(print(node)))).toEqual(withoutPositions(node));
      }),
      { numRuns: 300 },
    );
  });

  it("turns any text into a tree or a 400 whose position lies inside the text", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "a",
        ":",
        ":=",
        ":!=",
        "&&",
        "||",
        "(",
        ")",
        "[",
        "]",
        ",",
        "`",
        "..",
        ">",
        "<=",
        " ",
        "5",
        "true",
      ),
      fc.string({ unit: "binary", maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const text = pieces.join("");
        try {
          treeOf(text);
        } catch (error) {
          expect(error).toBeInstanceOf(SkeinError);
          const position = (error as SkeinError).details?.position as number;
          expect(position).toBeGreaterThanOrEqual(0);
          expect(position).toBeLessThanOrEqual(text.length);
        }
      }),
      { numRuns: 300 },
    );
  });
});
