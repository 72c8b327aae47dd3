// Filter expressions: every text parses to a tree or gives a 400 with a position inside the text, and a
// printed tree parses to itself.
import type { Random } from "../../../bench/random.js";
import { SkeinError } from "../../../server/ground/errors.js";
import { DEFAULT_LIMITS } from "../../../server/ground/limits.js";
import type { FilterLiteral, FilterNode, FilterValue } from "../../../server/question/filter/filter-ast.js";
import { parseFilter } from "../../../server/question/filter/filter-parser.js";
import { finding, mutateText, type Target } from "../target.js";

const FIELDS = ["title", "price", "in stock", "é", "a.b", "id"];
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
  if (node.kind === "clause") return `${node.field}${node.operator} ${node.values.map(printValue).join()}`;
  return node.children.map((child) => `(${print(child)})`).join(node.kind === "and" ? " && " : " || ");
}

function printValue(value: FilterValue): string {
  const text = ({ text, quoted }: FilterLiteral): string =>
    quoted ? `\`${text.replaceAll("`", "``")}\`` : text;
  if (value.kind === "literal") return text(value.literal);
  if (value.kind === "range") return `${text(value.low)}..${text(value.high)}`;
  return `${value.comparison} ${text(value.literal)}`;
}

/** The tree as text, without positions. */
function plain(node: FilterNode): string {
  return JSON.stringify(node, (key, value: unknown) => (key === "at" ? 0 : value));
}

/** Input: the text in UTF-16, so that unpaired surrogates are possible. */
export function filterTarget(): Target {
  return {
    name: "filter",
    generate: (random) =>
      Buffer.from(mutateText(random, filterText(random, FIELDS), FILTER_PIECES), "utf16le"),
    check(input) {
      const text = Buffer.from(input).toString("utf16le");
      if (text.trim() === "") return;
      let tree: FilterNode;
      try {
        tree = parseFilter(text, DEFAULT_LIMITS);
      } catch (error) {
        if (!(error instanceof SkeinError) || error.code !== "SK-SE-400") throw error;
        const position = error.details?.position;
        if (typeof position === "number" && position <= text.length && position >= 0) return;
        finding(`refused without a position in the text: ${error.message}`);
      }
      // `print` writes no brackets, and an unquoted value from inside brackets may have another meaning
      // outside them.
      if (/[[\]]/.test(text)) return;
      const again = plain(parseFilter(print(tree), DEFAULT_LIMITS));
      if (again !== plain(tree)) finding(`printed as ${print(tree)}, which reads differently`);
    },
    close: async () => undefined,
  };
}
