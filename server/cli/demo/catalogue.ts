// Generates the demo catalogue from the word lists: a few hundred products, the same ones every time. Pure
// functions.

import type { InferredSchema } from "../../documents/formats/infer.js";
import { BRANDS, COLOURS, type Kind, MODELS, OPENINGS, PRODUCT_KINDS } from "./words.js";

export interface Product {
  readonly id: string;
  readonly sku: string;
  readonly name: string;
  readonly brand: string;
  readonly category: string;
  readonly department: string;
  readonly color: string;
  readonly sizes: readonly string[];
  readonly material: string;
  readonly tags: readonly string[];
  readonly price: number;
  readonly list_price?: number;
  readonly rating?: number;
  readonly rating_count: number;
  readonly stock: number;
  readonly in_stock: boolean;
  readonly weight_grams: number;
  /** Seconds since 1970-01-01. */
  readonly released: number;
  readonly description: string;
}

export const DEMO_SCHEMA: InferredSchema = {
  fields: [
    { name: "name", type: "string" },
    { name: "brand", type: "string", facet: true },
    { name: "sku", type: "string" },
    { name: "category", type: "string", facet: true },
    { name: "department", type: "string", facet: true },
    { name: "color", type: "string", facet: true },
    { name: "sizes", type: "string[]", facet: true },
    { name: "material", type: "string", facet: true },
    { name: "tags", type: "string[]", facet: true },
    { name: "description", type: "string" },
    { name: "price", type: "float" },
    { name: "list_price", type: "float" },
    { name: "rating", type: "float" },
    { name: "rating_count", type: "int32" },
    { name: "stock", type: "int32" },
    { name: "in_stock", type: "bool", facet: true },
    { name: "weight_grams", type: "int32" },
    { name: "released", type: "int64" },
  ],
  default_sorting_field: "rating_count",
};

const PRODUCTS_PER_KIND = 28;
const FIRST_RELEASE = Date.UTC(2019, 0, 7) / 1000;
const RELEASE_DAYS = 2400;
const DAY_SECONDS = 86_400;

/** Returns the catalogue's 448 products. */
export function demoCatalogue(): Product[] {
  const dice = new Dice(20_260_217);
  return PRODUCT_KINDS.flatMap((kind, k) =>
    Array.from({ length: PRODUCTS_PER_KIND }, (_, i) => product(kind, k * PRODUCTS_PER_KIND + i + 1, dice)),
  );
}

function product(kind: Kind, number: number, dice: Dice): Product {
  const brand = dice.pick(BRANDS);
  const noun = dice.favour(kind.nouns);
  const adjective = dice.pick(kind.adjectives);
  const color = dice.pick(COLOURS);
  const material = dice.pick(kind.materials);
  const listPrice = Math.round(dice.between(...kind.price)) + (dice.chance(0.6) ? 0.9 : 0);
  const reduced = dice.chance(0.25);
  const stock = dice.chance(0.15) ? 0 : Math.round(dice.between(1, 240));
  const ratings = dice.chance(0.1) ? 0 : Math.round(Math.exp(dice.between(0.5, 7.5)));
  const features = dice.some(kind.features, 2);
  return {
    id: `p-${String(number).padStart(4, "0")}`,
    sku: `${kind.code}-${100 + ((number * 37) % 900)}/${(number % 9) + 1}`,
    name: `${brand} ${dice.pick(MODELS)} ${adjective} ${noun}`,
    brand,
    category: kind.category,
    department: kind.department,
    color,
    sizes: kind.sizes.length === 1 ? kind.sizes : dice.some(kind.sizes, Math.ceil(kind.sizes.length / 2)),
    material,
    tags: dice.some(kind.tags, 2),
    price: reduced ? Math.round(listPrice * 80) / 100 : listPrice,
    ...(reduced ? { list_price: listPrice } : {}),
    ...(ratings > 0 ? { rating: Math.round(dice.between(30, 50)) / 10 } : {}),
    rating_count: ratings,
    stock,
    in_stock: stock > 0,
    weight_grams: Math.round(dice.between(...kind.grams)),
    released: FIRST_RELEASE + Math.floor(dice.between(0, RELEASE_DAYS)) * DAY_SECONDS,
    description: `${dice.pick(OPENINGS)} ${features.join(" ")} Made of ${material}, in ${color}.`,
  };
}

/** A reproducible random number generator (mulberry32). */
class Dice {
  constructor(private state: number) {}

  /** Returns a number in [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!;
  }

  /** Picks an entry of the list, preferring earlier entries. */
  favour<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() ** 2 * list.length)]!;
  }

  /** Picks `count` distinct entries, in list order. */
  some<T>(list: readonly T[], count: number): T[] {
    const left = list.map((_, i) => i);
    while (left.length > count) left.splice(Math.floor(this.next() * left.length), 1);
    return left.map((i) => list[i]!);
  }
}
