// The torture test's documents, writes and settings. There are so few ids that writes collide constantly, and
// each write depends only on the seed and the model.
import type { Random } from "../../bench/random.js";

export interface Document {
  readonly id: string;
  readonly title?: string;
  readonly tags?: readonly string[];
  readonly stock?: number;
  readonly rank?: number;
  readonly on?: boolean;
}

export type Table = ReadonlyMap<string, Document>;

export const WORDS = ["red", "blue", "shirt", "skirt", "shoe", "boot", "wool", "silk", "東", "x42"];
export const IDS = 160;

export const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "tags", type: "string[]", facet: true },
    { name: "stock", type: "int32", facet: true },
    { name: "rank", type: "int32" },
    { name: "on", type: "bool" },
  ],
};

function words(random: Random, most: number): string[] {
  return Array.from({ length: random.from(0, most) }, () => random.pick(WORDS));
}

export function anyId(random: Random): string {
  return `d${random.below(IDS)}`;
}

/** At most `count` different ids. */
export function anyIds(random: Random, count: number): string[] {
  return [...new Set(Array.from({ length: count }, () => anyId(random)))];
}

/** A random selection of a document's members; each is included with probability `share`. */
export function anyMembers(random: Random, share: number): Omit<Document, "id"> {
  const members: Omit<Document, "id"> = {
    title: words(random, 5).join(" "),
    tags: words(random, 3),
    stock: random.from(-3, 12),
    rank: random.below(1_000_000),
    on: random.below(2) === 0,
  };
  return Object.fromEntries(Object.entries(members).filter(() => random.next() < share));
}

/** A filter expression for the server, and the same filter as a function. */
export interface Filter {
  readonly text: string;
  readonly passes: (document: Document) => boolean;
}

export function anyFilter(random: Random): Filter {
  const stock = random.from(-4, 13);
  const tag = random.pick(WORDS);
  switch (random.below(5)) {
    case 0:
      return { text: `stock:<${stock}`, passes: (d) => d.stock !== undefined && d.stock < stock };
    case 1:
      return { text: `stock:=${stock}`, passes: (d) => d.stock === stock };
    case 2:
      return { text: `tags:=${tag}`, passes: (d) => d.tags?.includes(tag) ?? false };
    case 3:
      return {
        text: `on:=true && stock:>=${stock}`,
        passes: (d) => d.on === true && d.stock !== undefined && d.stock >= stock,
      };
    default:
      return { text: `title:${tag}`, passes: (d) => d.title?.split(" ").includes(tag) ?? false };
  }
}
