// Splitting a query into tokens: their positions, which numbers stand alone, and which parts of the query are
// left unchanged.
import { expect, it } from "vitest";
import { keysOf, tokensOf, valueKeys } from "../../../../../server/search/understanding/tokens.js";

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
