// Filter expressions: every text parses or gives a 400 with a position inside the text, and compiles or gives
// such a 400. A printed filter parses to the same tree and compiles to the same operations.
import type { Random } from "../../../bench/random.js";
import { SkeinError } from "../../../server/ground/errors.js";
import { DEFAULT_LIMITS } from "../../../server/ground/limits.js";
import { compileFilter } from "../../../server/question/filter/filter-compile.js";
import type { FilterLiteral, FilterValue } from "../../../server/question/filter/filter-parts.js";
import { operationsOf } from "../../oracle/filter-operations.js";
import { type FilterNode, printTree, treeOf, withoutPositions } from "../../oracle/filter-tree.js";
import { field, makeRecord, queried } from "../../unit/server/record.js";
import { finding, mutateText, type Target } from "../target.js";

const SCHEMA = [
  field("title", "string", 0),
  field("price", "float", 1),
  field("in stock", "bool", 2),
  field("é", "int64", 3),
  field("a.b", "string[]", 4),
];
const FIELDS = [...SCHEMA.map(({ name }) => name), "id"];
const VALUES = [
  "1",
  "-2.5",
  "red",
  "`a`",
  "`a``b`",
  "`&& )`",
  "[1..2]",
  "[1, `x`, >=3]",
  ">5",
  "<=1e3",
  "tr ue",
  "日本",
];
export const FILTER_PIECES = [
  ..."()[]:=!<>&|`,. \t\n\u00a0\u2028\\\"'%-+*0é😀",
  "&&",
  "||",
  "..",
  ":=",
  ":!=",
  "``",
  "\ud800",
  "\udc00",
  "AND",
  "\u0000",
];

export function filterText(random: Random, fields: readonly string[], depth = 3): string {
  const clause = (): string =>
    `${random.pick(fields)}${random.pick([":", ":=", ":!=", ": "])}${random.pick(VALUES)}`;
  if (depth === 0 || random.below(3) === 0) return clause();
  const parts = Array.from({ length: random.from(1, 3) }, () => filterText(random, fields, depth - 1));
  const joined = parts.join(random.pick([" && ", "||", "&&", " || "]));
  return random.below(2) === 0 ? `(${joined})` : joined;
}

function print(node: FilterNode): string {
  return printTree(
    node,
    ({ field, operator, values }) => `${field}${operator} ${values.map(printValue).join()}`,
  );
}

function printValue(value: FilterValue): string {
  const text = ({ text, quoted }: FilterLiteral): string =>
    quoted ? `\`${text.replaceAll("`", "``")}\`` : text;
  if (value.kind === "literal") return text(value.literal);
  if (value.kind === "range") return `${text(value.low)}..${text(value.high)}`;
  return `${value.comparison} ${text(value.literal)}`;
}

/** Returns the result, or null after a refusal, which must have a position inside the text. */
function unlessRefused<T>(text: string, work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SkeinError) || error.code !== "SK-SE-400") throw error;
    const position = error.details?.position;
    if (typeof position !== "number" || position < 0 || position > text.length)
      finding(`refused without a position in the text: ${error.message}`);
    return null;
  }
}

/** Input: the text in UTF-16, so that unpaired surrogates are possible. */
export function filterTarget(): Target {
  const index = queried(makeRecord({}, SCHEMA));
  const compiled = (text: string) => operationsOf(compileFilter(text, index, DEFAULT_LIMITS));
  const asText = (value: unknown) =>
    JSON.stringify(value, (_, member: unknown) => (typeof member === "bigint" ? `${member}n` : member));
  return {
    name: "filter",
    generate: (random) =>
      Buffer.from(mutateText(random, filterText(random, FIELDS), FILTER_PIECES), "utf16le"),
    check(input) {
      const text = Buffer.from(input).toString("utf16le");
      if (text.trim() === "") return;
      const tree = unlessRefused(text, () => treeOf(text));
      const operations = unlessRefused(text, () => compiled(text));
      if (tree === null && operations !== null) finding("compiled, though it does not parse");
      // `print` writes no brackets, and an unquoted value from inside brackets may have another meaning
      // outside them.
      if (tree === null || /[[\]]/.test(text)) return;
      const printed = print(tree);
      if (asText(withoutPositions(treeOf(printed))) !== asText(withoutPositions(tree)))
        finding(`printed as ${printed}, which reads differently`);
      const again = unlessRefused(printed, () => compiled(printed));
      if (asText(again) !== asText(operations)) finding(`printed as ${printed}, which compiles differently`);
    },
    close: async () => undefined,
  };
}
