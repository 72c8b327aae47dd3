// The segment fixtures' documents. The first segment has every field type, missing and empty values, several
// values, a joined word, stems, a part number and a brand; the second has a term with a packed block.
import * as L from "../../engine-wasm/assembly/layout.js";
import { languageNumber } from "../../engine-wasm/host/stemmer.js";
import type { TwinDocument, TwinField } from "../oracle/segments/segment-twin.js";

const COLUMN = L.FLAG_INDEX | L.FLAG_SORT | L.FLAG_FACET;

export interface SegmentStory {
  fields: TwinField[];
  documents: TwinDocument[];
  seqs: number[];
}

export const SHOP: SegmentStory = {
  fields: [
    { slot: 0, name: "title", type: L.TYPE_STRING, flags: L.FLAG_INDEX, language: languageNumber("en") },
    { slot: 1, name: "brand", type: L.TYPE_STRING, flags: COLUMN | L.FLAG_BRAND, language: 0 },
    { slot: 2, name: "stock", type: L.TYPE_INT32, flags: COLUMN, language: 0 },
    { slot: 3, name: "views", type: L.TYPE_INT64, flags: COLUMN, language: 0 },
    { slot: 4, name: "price", type: L.TYPE_FLOAT, flags: COLUMN, language: 0 },
    { slot: 5, name: "sale", type: L.TYPE_BOOL, flags: COLUMN, language: 0 },
    { slot: 6, name: "tags", type: L.TYPE_STRINGS, flags: L.FLAG_INDEX | L.FLAG_FACET, language: 0 },
    { slot: 7, name: "sizes", type: L.TYPE_INT32S, flags: L.FLAG_INDEX | L.FLAG_FACET, language: 0 },
    { slot: 9, name: "ratios", type: L.TYPE_FLOATS, flags: L.FLAG_INDEX | L.FLAG_FACET, language: 0 },
    { slot: 300, name: "code", type: L.TYPE_STRING, flags: L.FLAG_INDEX | L.FLAG_SKU, language: 0 },
  ],
  documents: [
    {
      id: "a",
      title: "Red running shoes",
      brand: "Ärger & Co",
      stock: 7,
      views: 9007199254740993n,
      price: 19.5,
      sale: true,
      tags: ["wi-fi", "summer sale"],
      sizes: [36, 37],
      ratios: [0.5],
      code: "AB-12/3",
    },
    { id: "b", title: "Running red: the shoe", brand: "acme", stock: -1, price: -0, tags: [], sizes: [] },
    { id: "ключ", title: "日本 shoe", brand: "Acme", views: -1n, sale: false, ratios: [1e300, -2.25] },
    { id: "d", title: "", tags: ["summer"], stock: 2147483647 },
    { id: "e", title: "Blue shoe, red sole", brand: null, price: 3, sizes: [36], code: "ab123" },
  ],
  seqs: [5, 6, 9, 2 ** 40, 2 ** 53 - 2],
};

export const BLOCKS: SegmentStory = {
  fields: [{ slot: 0, name: "t", type: L.TYPE_STRING, flags: L.FLAG_INDEX, language: 0 }],
  documents: Array.from({ length: 131 }, (_, i) => ({ id: `${i}`, t: i % 5 === 0 ? "x y x" : "x" })),
  seqs: Array.from({ length: 131 }, (_, i) => 1 + 2 * i),
};
