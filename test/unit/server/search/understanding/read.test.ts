// How a text is interpreted: numbers, negations, sorts, values and fillers, in each language, and what must
// not be interpreted.
import { describe, expect, it } from "vitest";
import { FIXED_LIMITS } from "../../../../../server/ground/limits.js";
import { readText } from "../../../../../server/search/understanding/read.js";
import { rewritten } from "../../../../../server/search/understanding/reading.js";
import { factsOf } from "./shop.js";

const TOKENS_MAX = FIXED_LIMITS.understandingTokensMax;
const FACTS = factsOf();

/** Returns the interpretation as text: filter, sort, remaining text, and unwanted words after a minus. */
function named(text: string): string {
  const read = readText(text, FACTS, TOKENS_MAX);
  if (read === null || read.named.length === 0) return "-";
  const meant = rewritten(read.text, read.tokens, [...read.named, ...read.fillers]);
  const { filterBy, sort, avoided } = meant;
  const left = [meant.text, ...avoided.map((word) => `-${word}`)].join(" ");
  const order = sort === null ? [] : [`${sort.field?.name}:${sort.descending ? "desc" : "asc"}`];
  return [...(filterBy === null ? [] : [filterBy]), ...order, left].join(" | ");
}

/** Returns the values recognised in a text that does not name their field. */
function values(text: string): string[] {
  return readText(text, FACTS, TOKENS_MAX)?.values.flatMap(({ filter }) => filter ?? []) ?? [];
}

describe("numbers", () => {
  it.each([
    ["shoes under 50", "price:<50 | shoes"],
    ["shoes under $50", "price:<50 | shoes"],
    ["shoes below 49.99 dollars", "price:<49.99 | shoes"],
    ["shoes for less than 1,299 usd", "price:<1299 | shoes"],
    ["shoes up to 50€", "price:<=50 | shoes"],
    ["shoes at most 50 euro", "price:<=50 | shoes"],
    ["shoes over 50", "price:>50 | shoes"],
    ["shoes from 50 dollars", "price:>=50 | shoes"],
    ["shoes < 50", "price:<50 | shoes"],
    ["shoes >= 50", "price:>=50 | shoes"],
    ["price under 50 shoes", "price:<50 | shoes"],
    ["shoes between 20 and 40 euro", "price:[20..40] | shoes"],
    ["shoes $20-$40", "price:[20..40] | shoes"],
    ["shoes 20 to 40 dollars", "price:[20..40] | shoes"],
    ["shoes around 50 dollars", "price:[40..60] | shoes"],
    ["50 dollars or less shoes", "price:<=50 | shoes"],
    ["shoes with at least 4 stars", "rating:>=4 | shoes"],
    ["shoes 4+ stars", "rating:>=4 | shoes"],
    ["shoes rated 4 stars and up", "rating:>=4 | shoes"],
    ["4k 55 inch", "screen_inch:=55 | 4k"],
    ['55" tv', "screen_inch:=55 | tv"],
    ["tv over 50 inches", "screen_inch:>50 | tv"],
    ["cable 2 m", "cable_length_cm:=200 | cable"],
    ["cable longer than 1.5 meters", "cable_length_cm:>150 | cable"],
    ["shoes size 42", "size:=42 | shoes"],
    ["Schuhe unter 50 Euro", "price:<50 | Schuhe"],
    ["Schuhe zwischen 20 und 40 €", "price:[20..40] | Schuhe"],
    ["Schuhe bis zu 1.299,50 €", "price:<=1299.5 | Schuhe"],
    ["Fernseher ab 50 Zoll", "screen_inch:>=50 | Fernseher"],
    ["Schuhe Größe 42", "size:=42 | Schuhe"],
    ["chaussures moins de 50 euros", "price:<50 | chaussures"],
    ["chaussures entre 20 et 40 €", "price:[20..40] | chaussures"],
    ["chaussures à partir de 30 euros", "price:>=30 | chaussures"],
    ["chaussures taille 42", "size:=42 | chaussures"],
    ["télé 55 pouces", "screen_inch:=55 | télé"],
    ["zapatos por menos de 50 euros", "price:<50 | zapatos"],
    ["zapatos entre 20 y 40 euros", "price:[20..40] | zapatos"],
    ["zapatos hasta 50", "price:<=50 | zapatos"],
    ["zapatos talla 42", "size:=42 | zapatos"],
  ])("%s", (text, expected) => {
    expect(named(text)).toBe(expected);
  });

  it.each([
    ["iphone 11 pro max 256"],
    ["under armour shoes"],
    ["up to 10 devices router"],
    ["hub 4 port"],
    ["tn-2110 toner"],
    ["1/2 inch binder"],
    ["between 40 and 20"],
    ["under 50 and under 60"],
    ["tv 16gb"],
    ["usb 2.0"],
    ["shoes under 5 pounds"],
    ["cable 2 hz"],
    ['"under 50" shoes'],
    ["shoes -under 50"],
    ["under 99999999999999999999"],
    ["size 42.5 m2"],
  ])("not %s", (text) => {
    expect(named(text)).toBe("-");
  });
});

describe("negations", () => {
  it.each([
    ["belt without buckle", "belt -buckle"],
    ["belt without a buckle", "belt -buckle"],
    ["nail kit without led lamp", "nail kit -led lamp"],
    ["bag without handles or zipper", "bag -handles -zipper"],
    ["bag without handles under 50", "price:<50 | bag -handles"],
    ['belt without buckle" " red led "', 'belt " red led " -buckle'],
    ["iphone case no leather", "iphone case -leather"],
    ["Gürtel ohne Schnalle", "Gürtel -Schnalle"],
    ["ceinture sans boucle", "ceinture -boucle"],
    ["cinturón sin hebilla", "cinturón -hebilla"],
  ])("%s", (text, expected) => {
    expect(named(text)).toBe(expected);
  });

  it.each([
    ["no show socks"],
    ["without buckle"],
    ["casque sans fil"],
    ["bag without this and that and those"],
    ["kit without red green blue lamp"],
    ["watch the game not your phone"],
    ["belt without"],
    ["belt without 5"],
  ])("not %s", (text) => {
    expect(named(text)).toBe("-");
  });
});

describe("sorts", () => {
  it.each([
    ["cheapest shoes", "price:asc | shoes"],
    ["the cheapest shoes", "price:asc | shoes"],
    ["shoes cheapest first", "price:asc | shoes"],
    ["most expensive shoes", "price:desc | shoes"],
    ["newest shoes under 50", "price:<50 | created_at:desc | shoes"],
    ["best rated shoes", "rating:desc | shoes"],
    ["best selling shoes", "sales:desc | shoes"],
    ["günstigste Schuhe", "price:asc | Schuhe"],
    ["die neuesten Schuhe", "created_at:desc | Schuhe"],
    ["Schuhe am besten bewertet", "rating:desc | Schuhe"],
    ["chaussures les moins chères", "price:asc | chaussures"],
    ["chaussures les mieux notées", "rating:desc | chaussures"],
    ["zapatos más baratos", "price:asc | zapatos"],
    ["zapatos mejor valorados", "rating:desc | zapatos"],
  ])("%s", (text, expected) => {
    expect(named(text)).toBe(expected);
  });

  it.each([
    ["cheap shoes"],
    ["new shoes"],
    ["cheapest newest shoes"],
    ["the tale of the cheapest shoes ever"],
  ])("not %s", (text) => {
    expect(named(text)).toBe("-");
  });
});

describe("values", () => {
  it.each([
    ["adidas shirt", ["brand:=`Adidas`"]],
    ["red shirt", ["color:`Red`"]],
    ["hp laptop", ["brand:=`HP`"]],
    ["otterbox case", ["brand:=[`Otterbox`,`OtterBox`]"]],
    ["new balance shirt", ["brand:=`New Balance`"]],
    ["red shoe", ["color:`Red`", "category:=`Shoes`"]],
    ["red running shoes", ["color:`Red`", "category:=`Running Shoes`"]],
    ["4k tv", ["resolution:=`4K`", "category:=`TVs`"]],
    ["adidsa shirt", ["brand:=`Adidas`"]],
    ["schwarze Jacke unter 50", ["color:`Black`"]],
    ["veste noire moins de 50 €", ["color:`Black`"]],
    ["chaqueta negra por menos de 50 €", ["color:`Black`"]],
  ])("%s", (text, expected) => {
    expect(values(text)).toEqual(expected);
  });

  it.each([
    ["shoe rack"],
    ["MH01-XS-Black"],
    ["black.example/shoes"],
    ["case for otterbox"],
    ["orange jacket"],
    ["adidas or hp"],
    ["shirt"],
    ["adidases"],
    ["balance"],
    ['"adidas" shirt'],
  ])("not %s", (text) => {
    expect(values(text)).toEqual([]);
  });

  it.each([
    ["brand adidas shirt", "brand:=`Adidas` | shirt"],
    ["shirt color: red", "color:`Red` | shirt"],
    ["brand orange phone", "brand:=`Orange` | phone"],
    ["Hemd Farbe black", "color:`Black` | Hemd"],
    ["chemise marque adidas", "brand:=`Adidas` | chemise"],
  ])("with their field's name: %s", (text, expected) => {
    expect(named(text)).toBe(expected);
  });
});

describe("fillers", () => {
  it.each([
    ["show me red shoes under 50", "price:<50 | red shoes"],
    ["i am looking for a belt without buckle please", "belt -buckle"],
    ["ich suche Schuhe unter 50 Euro bitte", "price:<50 | Schuhe"],
    ["je cherche des chaussures moins de 50 €", "price:<50 | chaussures"],
    ["busco unos zapatos por menos de 50 €", "price:<50 | zapatos"],
  ])("%s", (text, expected) => {
    expect(named(text)).toBe(expected);
  });

  it("are the query if nothing else is left", () => {
    expect(readText("show me", FACTS, TOKENS_MAX)?.fillers).toEqual([]);
  });
});

describe("an index without such fields", () => {
  const bare = factsOf({});
  it.each([["red shoes"], ["adidas shoes"]])("has no values: %s", (text) => {
    expect(readText(text, bare, TOKENS_MAX)?.values).toEqual([]);
  });
});

it("a text of very many words is not read as a query", () => {
  expect(readText("word ".repeat(TOKENS_MAX + 1), FACTS, TOKENS_MAX)).toBeNull();
  expect(readText("", FACTS, TOKENS_MAX)).toBeNull();
});
