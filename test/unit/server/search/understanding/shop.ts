// A shop's index as query understanding sees it: its fields, and the values of its facets.
import type { ResolvedField } from "../../../../../server/catalog/schema/resolved-schema.js";
import { ResolvedSchema } from "../../../../../server/catalog/schema/resolved-schema.js";
import { IndexFacts } from "../../../../../server/search/understanding/facts.js";
import { field, makeRecord } from "../../record.js";

export const SHOP_FIELDS = [
  field("title", "string", 0),
  field("brand", "string", 1, { facet: true }),
  field("color", "string[]", 2, { facet: true }),
  field("category", "string", 3, { facet: true }),
  field("price", "float", 4),
  field("rating", "float", 5),
  field("created_at", "int64", 6),
  field("size", "int32", 7, { facet: true }),
  field("screen_inch", "float", 8),
  field("cable_length_cm", "int32", 9),
  field("resolution", "string", 10, { facet: true }),
  field("sales", "int32", 11),
];

export const SHOP_VALUES: Readonly<Record<string, readonly string[]>> = {
  brand: ["Adidas", "HP", "New Balance", "Otterbox", "OtterBox", "Orange"],
  color: ["Red", "Black", "Orange", "Wine Red"],
  category: ["Shoes", "Running Shoes", "TVs", "Knife Sets"],
  resolution: ["4K", "Full HD"],
};

export const RECORD = makeRecord({ brand_field: "brand" }, SHOP_FIELDS);
export const SCHEMA = new ResolvedSchema(RECORD);

export function factsOf(values: Readonly<Record<string, readonly string[]>> = SHOP_VALUES): IndexFacts {
  const counted = Object.entries(values).map(([name, texts]) => ({
    field: SCHEMA.field(name) as ResolvedField,
    values: texts.map((value, i) => ({ value, count: texts.length - i })),
  }));
  return new IndexFacts(RECORD, SCHEMA, counted);
}
