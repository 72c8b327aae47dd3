// Splitting a query into tokens: their positions, which numbers stand alone, and which parts of the query are
// left unchanged.
import fc from "fast-check";
import { expect, it } from "vitest";
import { queryParts } from "../../../../../server/question/words/query-parts.js";
import {
  keysOf,
  type TextPiece,
  tokensOf,
  valueKeys,
} from "../../../../../server/search/understanding/tokens.js";

const shown = (text: string): string =>
  tokensOf(text)
    .map(({ kind, key, value }) => (kind === "sealed" ? "*" : value === null ? key : `${key}=${value}`))
    .join(" ");

it.each([
  ["Under $50", "under $ 50=50"],
  ["55inch 4k", "55=55 inch 4=4 k"],
  [
    "1,299.99 1.299,99 1,299 12,5 0.125",
    "1,299.99=1299.99 1.299,99=1299.99 1,299=1299 12,5=12.5 0.125=0.125",
  ],
  ["tn-2110 1/2 s7 2.0.1", "tn - 2110 1 2 s7 2.0 1"],
  ["20-40€ 20–40", "20=20 - 40=40 € 20=20 - 40=40"],
  ["Größe Café Straße l’eau women's", "grosse cafe strasse leau womens"],
  ['red "under 50" -strap -"a b" 15" x', '* red * * * 15=15 " x'.slice(2)],
  ["99999999999999999999", "99999999999999999999"],
])("%s", (text, expected) => {
  expect(shown(text)).toBe(expected);
});

it("a token's position is that of its text", () => {
  const text = "  Crème brûlée, under 50€ ";
  for (const { start, end, key } of tokensOf(text)) expect(keysOf(text.slice(start, end))).toEqual([key]);
});

it.each([
  ["StarTech.com", "startech com"],
  ["Ben & Jerry's", "ben jerrys"],
  ["Black/White", "black white"],
  ["4K", "4 k"],
  ["Insignia™", "insignia"],
])("the value %s has the keys %s", (value, keys) => {
  expect(valueKeys(value).join(" ")).toBe(keys);
});

/** Splits a part by one regular expression. The quick way through the text must find the same. */
function plainTokens(text: string, from: number, to: number): TextPiece[] {
  const PIECE =
    /(?<number>(?<![\p{L}\p{M}\p{N}])\d{1,3}(?:[.,]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,]\d+)?)|(?<word>[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*)|(?<symbol>[$€£¥<>=+"″&,–—-])/gu;
  const part = text.slice(from, to);
  let last = -1;
  return [...part.matchAll(PIECE)].map(({ 0: piece, index: at, groups }) => {
    const kind = (["number", "word", "symbol"] as const).find((one) => groups?.[one] !== undefined)!;
    const [before, rest] = [part.slice(0, at), part.slice(at + piece.length)];
    const isAlone =
      !/[\p{L}\p{M}\p{N}/:.#*_]$|[\p{L}\p{M}]\S*[-–—]$/u.test(before) &&
      !before.slice(-2).includes("/") &&
      !/^(?:[/:#*_]|\.\d|[\p{L}\p{M}]+[\p{N}-])/u.test(rest);
    const touches = at > 0 && last === at;
    last = at + piece.length;
    return {
      kind,
      key: plainKey(piece),
      value: kind === "number" && isAlone ? plainNumber(piece) : null,
      start: from + at,
      end: from + last,
      touches,
      opens: at === 0 || /[\s,;:(!?]$/.test(before),
      closes: /^(?:[,;:)!?.'’"]*$|[,;])/.test(rest),
    };
  });
}

function plainKey(piece: string): string {
  const letters: Record<string, string> = { "–": "-", "—": "-", "″": '"', ß: "ss", æ: "ae", œ: "oe", ø: "o" };
  if (letters[piece] !== undefined) return letters[piece];
  return piece
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/['’]/g, "")
    .replace(/[ßæœø]/g, (letter) => letters[letter]!);
}

function plainNumber(piece: string): number | null {
  const isThousands = /^[1-9]\d*(?:([.,])\d{3})(?:\1\d{3})*$/.test(piece);
  const digits = piece.replace(/[.,]/g, (separator, at) =>
    isThousands || /[.,]/.test(piece.slice(at + 1)) ? "" : separator && ".",
  );
  const value = Number(digits);
  return value < 1e15 ? value : null;
}

it("any text has the tokens that one regular expression finds", () => {
  const pieces =
    "a Bc x7 ß É e\u0301 l’eau women's 'a' 5 55inch 1,299.99 1.299,99 1,2,3 12,345,6 0.125 1/2 tn-2110 / -";
  const piece = fc.oneof(
    fc.constantFrom(...pieces.split(" "), ..." \u00a0\n$€″–—\"'’,.;:()!?#*_&+<>=-™½٥５😀\ud800\udc00"),
    fc.string({ unit: "binary", maxLength: 2 }),
  );
  const text = fc.array(piece, { maxLength: 16 }).map((all) => all.join(""));
  fc.assert(
    fc.property(text, (some) => {
      const expected = queryParts(some).flatMap(({ quoted, excluded, start, end }): TextPiece[] => {
        if (!quoted && !excluded) return plainTokens(some, start, end);
        const isWhole = { touches: false, opens: true, closes: true };
        return [{ kind: "sealed", key: "", value: null, start, end, ...isWhole }];
      });
      expect(tokensOf(some)).toEqual(expected);
      expect(keysOf(some)).toEqual(plainTokens(some, 0, some.length).map(({ key }) => key));
    }),
    { numRuns: 2_000 },
  );
});
