// The searches shown by the demo, each with its purpose.

import type { Product } from "./catalogue.js";

export interface Sample {
  readonly shows: string;
  readonly query: Readonly<Record<string, unknown>> & { readonly q: string };
}

export function sampleSearches(products: readonly Product[]): Sample[] {
  const known = products[products.length >> 1]!;
  return [
    { shows: "Misspelt words still find what was meant", query: { q: "watreproof jakcet", per_page: 4 } },
    { shows: "The last word may be unfinished", query: { q: "rechargeable headl", per_page: 4 } },
    {
      shows: "A filter, and counts to narrow the result further",
      query: {
        q: "running shoes",
        filter_by: "price:<=120 && in_stock:true",
        facet_by: "brand,color",
        max_facet_values: 6,
        per_page: 4,
      },
    },
    {
      shows: "One field searched, sorted by price",
      query: { q: "backpack", query_by: "name", sort_by: "price:asc", per_page: 4 },
    },
    {
      shows: `A part number, typed with other punctuation (it is ${known.sku})`,
      query: { q: known.sku.replace(/[^A-Z0-9]/g, " ").toLowerCase(), per_page: 3 },
    },
    {
      shows: "Quoted words are a phrase, a minus excludes",
      query: { q: '"merino wool" -boots', per_page: 4 },
    },
  ];
}

/** Needs an index with vectors. Five products contain the word; products with a similar meaning follow. */
export const MEANING_SAMPLE: Sample = {
  shows: "Few products have the word, so those that are similar in meaning follow",
  query: { q: "thermos", per_page: 8 },
};

/** The `skein` command that runs a sample. */
export function sampleCommand(index: string, query: Sample["query"]): string {
  const parts = [`skein search ${index} ${shellQuote(query.q)}`];
  if (query.query_by !== undefined) parts.push(`--query-by ${String(query.query_by)}`);
  if (query.filter_by !== undefined) parts.push(`--filter ${shellQuote(String(query.filter_by))}`);
  if (query.facet_by !== undefined) parts.push(`--facets ${String(query.facet_by)}`);
  if (query.sort_by !== undefined) parts.push(`--sort ${String(query.sort_by)}`);
  return parts.join(" ");
}

function shellQuote(text: string): string {
  return /^[\w ]+$/.test(text) ? text : `'${text}'`;
}
