// When an interpretation is used: it is tried on an index, here a list of titles, and dropped if the index
// contradicts it.

import { describe, expect, it } from "vitest";
import type { FilterProgram } from "../../../../../engine-wasm/host/programs/filter-program.js";
import { run, settled } from "../../../../../server/ground/jobs/work.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { compileFilter } from "../../../../../server/question/filter/filter-compile.js";
import { type QueryRequest, readQueryRequest } from "../../../../../server/question/request/query-request.js";
import type { IndexFacts } from "../../../../../server/search/understanding/facts.js";
import { Meaning } from "../../../../../server/search/understanding/meaning.js";
import { valueKeys } from "../../../../../server/search/understanding/tokens.js";
import { type FilterOp, operationsOf } from "../../../../oracle/filter-operations.js";
import { queried } from "../../record.js";
import { factsOf, RECORD, SHOP_FIELDS } from "./shop.js";

interface Product {
  readonly title: string;
  readonly cable_length_cm?: number;
  readonly brand?: string;
  readonly color?: string;
  readonly category?: string;
  readonly price?: number;
}

const FACTS = factsOf();
const INDEX = queried(RECORD);
const compiled = (filterBy: string): FilterProgram => compileFilter(filterBy, INDEX, DEFAULT_LIMITS);

/** A product list: words match whole words in any member, and a phrase matches consecutive words. */
class Shop {
  asked: string[] = [];
  constructor(private readonly products: readonly Product[]) {}

  meaning(limits = DEFAULT_LIMITS): Meaning<QueryRequest> {
    return new Meaning<QueryRequest>(
      {
        attempt: (request) => {
          this.asked.push(request.q);
          return settled(request);
        },
        found: (request) => settled(this.matching(request, "some")),
        full: (request) => this.matching(request, "every"),
        count: (request, phrases) => settled(this.having(phrases).matching(request, "every")),
        filter: compiled,
      },
      limits,
    );
  }

  private having(phrases?: readonly string[]): Shop {
    const isSaying = (product: Product): boolean =>
      phrases === undefined || phrases.some((text) => says(product, text));
    return new Shop(this.products.filter(isSaying));
  }

  private matching({ q, filter, browse }: QueryRequest, how: "every" | "some"): number {
    const parts = browse ? [] : [...q.matchAll(/(-?)(?:"([^"]*)"|(\S+))/g)];
    return this.products.filter((product) => {
      const has = ([, , phrase, word]: readonly string[]) => says(product, phrase ?? word ?? "");
      const words = parts.filter(([, minus]) => minus === "");
      const denied = parts.filter(([, minus]) => minus === "-");
      return (words.length === 0 || words[how](has)) && !denied.some(has) && passes(product, filter);
    }).length;
  }
}

function says(product: Product, phrase: string): boolean {
  const text = ` ${Object.values(product).map(String).flatMap(valueKeys).join(" ")} `;
  return text.includes(` ${valueKeys(phrase).join(" ")} `);
}

function passes(product: Product, filter: FilterProgram): boolean {
  const stack: boolean[] = [];
  for (const operation of operationsOf(filter)) {
    if (operation.op === "and" || operation.op === "or") {
      const [b, a] = [stack.pop()!, stack.pop()!];
      stack.push(operation.op === "and" ? a && b : a || b);
    } else stack.push(passesLeaf(product, operation));
  }
  return stack[0] ?? true;
}

function passesLeaf(product: Product, operation: FilterOp): boolean {
  const memberOf = (slot: number) => {
    const { name } = SHOP_FIELDS.find((field) => field.slot === slot)!;
    return product[name as keyof Product];
  };
  if (operation.op === "equals")
    return String(memberOf(operation.slot)).toLowerCase() === Buffer.from(operation.folded).toString();
  if (operation.op === "tokens")
    return operation.terms.every((term) => valueKeys(String(memberOf(operation.slot))).includes(term));
  if (operation.op !== "floatRange" && operation.op !== "intRange") throw new Error(operation.op);
  const value = Number(memberOf(operation.slot));
  if (operation.op === "intRange") return value >= Number(operation.low) && value <= Number(operation.high);
  const { low, high, lowExclusive, highExclusive } = operation;
  return (lowExclusive ? value > low : value >= low) && (highExclusive ? value < high : value <= high);
}

const ask = (q: string, more: object = {}): QueryRequest =>
  readQueryRequest({ q, ...more }, INDEX, DEFAULT_LIMITS);
const named = async (shop: Shop, q: string, more: object = {}, facts: IndexFacts = FACTS) =>
  (await run(shop.meaning().named(ask(q, more), facts)))?.context ?? null;

const SHOES: readonly Product[] = [
  { title: "runner", brand: "Adidas", color: "Red", category: "Shoes", price: 40 },
  { title: "walker", brand: "Adidas", color: "Red", category: "Shoes", price: 90 },
  { title: "jumper", brand: "HP", color: "Black", category: "Shoes", price: 30 },
];

describe("a query that names a filter", () => {
  it("becomes that filter, and says so", async () => {
    expect(await named(new Shop(SHOES), "red shoes under 50")).toEqual({
      original_query: "red shoes under 50",
      rewritten_query: "*",
      intent: "browse",
      user_message: "All results · price below 50 · color: Red · category: Shoes",
      alternative_queries: ["red shoes", '"red shoes under 50"'],
      confidence: "medium",
      applied_filters: {
        filter_by: "price:<50 && color:`Red` && category:=`Shoes`",
        sort_by: null,
        avoided: [],
      },
    });
  });

  it("is explained in its own language", async () => {
    const shop = new Shop([
      { title: "Gürtel Leder", price: 20 },
      { title: "Gürtel Schnalle", price: 30 },
      { title: "Gürtel", price: 90 },
    ]);
    const context = await named(shop, "Gürtel ohne Schnalle unter 50 Euro");
    expect(context?.user_message).toBe(
      "Ergebnisse für „Gürtel“ · mit „Schnalle“ weiter hinten · price unter 50",
    );
    expect(context?.rewritten_query).toBe("Gürtel");
    expect(context?.applied_filters.avoided).toEqual(["Schnalle"]);
    expect(context?.intent).toBe("filter");
  });

  it("is left unchanged if nothing would be found", async () => {
    const shop = new Shop(SHOES);
    expect(await named(shop, "boots under 50")).toBeNull();
    expect(await named(shop, "shoes under 10")).toBeNull();
  });

  it("keeps its words if documents contain them literally", async () => {
    const belts = [{ title: "belt without buckle" }, { title: "belt buckle" }, { title: "belt" }];
    expect(await named(new Shop(belts), "belt without buckle")).toBeNull();
    expect((await named(new Shop(belts.slice(1)), "belt without buckle"))?.applied_filters.avoided).toEqual([
      "buckle",
    ]);
    const vitamins = [{ title: "vitamins for women over 50" }, { title: "vitamins women", price: 60 }];
    expect(await named(new Shop(vitamins), "vitamins women over 50")).toBeNull();
    expect((await named(new Shop(vitamins), "vitamins women over $50"))?.applied_filters.filter_by).toBe(
      "price:>50",
    );
  });

  it("takes no value that most documents with its words lack", async () => {
    const cases = [
      { title: "case for HP", brand: "Adidas", price: 10 },
      { title: "HP case sleeve", brand: "Adidas", price: 10 },
      { title: "case large for HP", brand: "Adidas", price: 10 },
      { title: "case", brand: "HP", price: 10 },
    ];
    expect((await named(new Shop(cases), "hp case under 50"))?.applied_filters.filter_by).toBe("price:<50");
    expect((await named(new Shop(cases.slice(2)), "hp case under 50"))?.applied_filters.filter_by).toBe(
      "price:<50 && brand:=`HP`",
    );
  });

  it("corrects a value only if no document has the word as typed", async () => {
    const facts = FACTS;
    const wrong = await named(new Shop(SHOES), "adidsa runner under 50", {}, facts);
    expect(wrong?.applied_filters.filter_by).toBe("price:<50 && brand:=`Adidas`");
    expect(wrong?.confidence).toBe("low");
    const other = new Shop([...SHOES, { title: "adidsa runner", price: 20 }]);
    expect((await named(other, "adidsa runner under 50"))?.applied_filters.filter_by).toBe("price:<50");
  });

  it("keeps the request's filter and sort", async () => {
    const shop = new Shop(SHOES);
    const request = ask("cheapest adidas", { filter_by: "price:>50", sort: "rating:desc" });
    const meant = await run(shop.meaning().named(request, FACTS));
    expect(meant?.attempt.shape.sort?.map(({ field }) => field?.name)).toEqual(["rating"]);
    expect(meant?.context?.applied_filters.sort_by).toBeNull();
    expect(operationsOf(meant!.attempt.filter).map(({ op }) => op)).toEqual(["floatRange", "equals", "and"]);
    expect(meant?.attempt.typed).toBe("cheapest adidas");
  });

  it("sorts only if documents match all words", async () => {
    const shop = new Shop([
      { title: "red lamp", price: 5 },
      { title: "blue sofa", price: 50 },
    ]);
    expect(await named(shop, "cheapest sofa")).not.toBeNull();
    expect(await named(shop, "cheapest red sofa")).toBeNull();
  });

  it("is tried a limited number of times", async () => {
    let counted = 0;
    const meaning = new Meaning<QueryRequest>(
      {
        attempt: (request) => settled(request),
        found: () => settled(1),
        full: () => 1,
        count: () => settled(++counted),
        filter: compiled,
      },
      { ...DEFAULT_LIMITS, understandingTrialsMax: 2 },
    );
    await run(meaning.named(ask("red adidas 4k shoes under 50"), FACTS));
    expect(counted).toBeLessThanOrEqual(2);
  });
});

describe("a negation", () => {
  const belts = [{ title: "belt buckle" }, { title: "belt leather" }, { title: "dress" }];
  const avoided = async (products: readonly Product[], q: string) =>
    (await named(new Shop(products), q))?.applied_filters.avoided ?? null;

  it("avoids what such products often have", async () => {
    expect(await avoided(belts, "belt without buckle")).toEqual(["buckle"]);
  });

  it.each([
    ["dog food without grain", "dog food grain-free"],
    ["dog food without grains", "dog food, free of grains"],
    ["dog food without grains", "grain free dog food"],
    ["dog food without grain", "dog food, no grain"],
    ["Tee ohne Zucker", "Tee, zuckerfreier Genuss"],
    ["Tee ohne Zucker", "Tee frei von Zucker"],
    ["yaourt sans gluten", "yaourt exempt de gluten"],
    ["pan sin gluten", "pan libre de gluten"],
  ])("%s stays as typed if a document says %j", async (q, title) => {
    const [kind, thing] = q.split(/ (?:without|ohne|sans|sin) /) as [string, string];
    const others = [{ title: `${kind} ${thing}` }, { title: `${kind} rice` }];
    expect(await avoided(others, q)).toEqual([thing]);
    expect(await avoided([...others, { title }], q)).toBeNull();
  });

  it("stays as typed if other products are often free of it", async () => {
    const foods = [{ title: "dog food grain" }, { title: "cat food grain free" }];
    expect(await avoided(foods, "dog food without grain")).toBeNull();
    const many = Array.from({ length: 9 }, () => ({ title: "bread grain" }));
    expect(await avoided([...foods, ...many], "dog food without grain")).toEqual(["grain"]);
  });

  it.each([
    ["life without limits", [{ title: "life jacket" }, { title: "limits" }]],
    ["belt without drama", belts],
    ["the belt without buckle", belts],
    ["red without black", [{ title: "shirt", color: "Red" }, { title: "red black shirt" }]],
    ["up to without buckle", [{ title: "up to buckle" }]],
  ])("%s stays as typed", async (q, products) => {
    expect(await avoided(products, q)).toBeNull();
  });

  it("that stays as typed does not keep the rest from being understood", async () => {
    const foods = [
      { title: "dog food grain free", price: 20 },
      { title: "dog food grain", price: 90 },
    ];
    expect(await named(new Shop(foods), "dog food without grain under 50")).toMatchObject({
      rewritten_query: "dog food without grain",
      applied_filters: { filter_by: "price:<50", avoided: [] },
    });
  });
});

describe("a number with a unit", () => {
  const cable = (length: number, title = "cable") => ({ title, cable_length_cm: length });
  const filter = async (products: readonly Product[], q: string, facts = FACTS) =>
    (await named(new Shop(products), q, {}, facts))?.applied_filters.filter_by ?? null;

  it("is a filter if documents have such a value", async () => {
    expect(await filter([cable(300)], "cable 3 m")).toBe("cable_length_cm:=300");
    expect(await filter([cable(200)], "cable 3 m")).toBeNull();
  });

  it("stays words if it is a facet value of documents with the other words", async () => {
    const facts = factsOf({ brand: ["3M"] });
    const products = [cable(300), { title: "tape", brand: "3M" }, cable(300, "tape measure")];
    expect(await filter(products, "3m tape", facts)).toBeNull();
    expect(await filter(products, "3m", facts)).toBeNull();
    expect(await filter(products, "3m cable", facts)).toBe("cable_length_cm:=300");
  });

  it("stays words if most documents with these words lack the value", async () => {
    const cables = Array.from({ length: 9 }, () => cable(300, "hose"));
    const tapes = Array.from({ length: 3 }, () => ({ title: "hose clamp 3 m" }));
    expect(await filter([...cables, ...tapes], "hose 3 m")).toBeNull();
    expect(await filter([...cables, ...tapes.slice(1)], "hose 3 m")).toBe("cable_length_cm:=300");
    expect(await filter([cable(300, "hose"), tapes[0]!], "hose 3 m")).toBeNull();
  });

  it("alone is a filter only if documents say it", async () => {
    expect(await filter([cable(300)], "3 m")).toBeNull();
    expect(await filter([cable(300, "cable 3 m")], "3 m")).toBe("cable_length_cm:=300");
  });
});

describe("a title", () => {
  const products = [
    { title: "girl dress", brand: "Adidas", color: "Red", price: 15 },
    { title: "craze puzzle", price: 9 },
    { title: "the cheapest craze", price: 9 },
  ];
  it.each([
    ["under 21"],
    ["from 0 to 20"],
    ["unter 18"],
    ["von 20 bis 9"],
    ["the color red"],
    ["the newest craze"],
    ["newest girl in the world"],
    ["the cheapest craze"],
  ])("%s stays as typed", async (q) => {
    expect(await named(new Shop(products), q)).toBeNull();
  });

  it.each([
    ["under 21 dollars", "price:<21"],
    ["dress under 21", "price:<21"],
    ["color red", "color:`Red`"],
  ])("%s is not one", async (q, filterBy) => {
    expect((await named(new Shop(products), q))?.applied_filters.filter_by).toBe(filterBy);
  });
});

describe("a query with few full matches", () => {
  const guess = async (shop: Shop, q: string) => {
    const meaning = shop.meaning();
    const request = ask(q);
    return (await run(meaning.guessed(request, FACTS, request)))?.context ?? null;
  };

  it("loses the words that merely ask", async () => {
    const context = await guess(
      new Shop([{ title: "wireless charger" }]),
      "i am looking for a wireless charger",
    );
    expect(context).toMatchObject({
      rewritten_query: "wireless charger",
      intent: "search",
      confidence: "low",
    });
  });

  it("takes a value if more documents have it than match its words", async () => {
    const shop = new Shop([{ title: "runner", category: "Shoes" }]);
    expect((await guess(shop, "runner shoe"))?.applied_filters.filter_by).toBe("category:=`Shoes`");
    expect(await guess(shop, "runner shoes")).toBeNull();
  });

  it.each([
    ["looking for alaska", "alaska crab"],
    ["thanks for sharing", "for sharing"],
    ["i want to hold", "to hold"],
    ["find me", "me"],
    ["search and destroy", "and destroy"],
    ["show me the money back", "show me the money back guarantee"],
  ])("%s stays as typed", async (q, title) => {
    const others = [{ title: "show money back me the" }, { title: "money back" }, { title: "money back" }];
    expect(await guess(new Shop([{ title }, ...others]), q)).toBeNull();
  });

  it("is otherwise unchanged", async () => {
    expect(await guess(new Shop([]), "i am looking for a wireless charger")).toBeNull();
    expect(await guess(new Shop([{ title: "show me the money" }]), "show me the money")).toBeNull();
  });
});
