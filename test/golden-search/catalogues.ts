// The golden searches' catalogues as their owners would configure them: fields in order of importance,
// language, part-number fields and brand; defaults for everything else.

interface Catalogue {
  readonly name: string;
  readonly file: string;
  readonly fields: readonly { name: string; type: string; facet?: boolean }[];
  readonly settings: Readonly<Record<string, unknown>>;
}

const text = (...names: string[]) => names.map((name) => ({ name, type: "string" }));

export const CATALOGUES: readonly Catalogue[] = [
  {
    name: "icecat",
    file: "icecat/documents.jsonl.gz",
    fields: [...text("name", "title", "brand", "description"), { name: "ean", type: "string[]" }],
    settings: { language: "en", sku_fields: ["name", "ean"], brand_field: "brand" },
  },
  {
    name: "esci",
    file: "esci/documents.jsonl.gz",
    fields: [
      ...text("title", "brand", "color"),
      { name: "category", type: "string[]" },
      ...text("description", "bullet_points"),
    ],
    settings: { language: "en", brand_field: "brand" },
  },
  {
    name: "bestbuy",
    file: "bestbuy/products.jsonl.gz",
    fields: [...text("name", "brand"), { name: "categories", type: "string[]" }, ...text("description")],
    settings: { language: "en", brand_field: "brand" },
  },
  {
    name: "magento",
    file: "magento/products.jsonl.gz",
    fields: [...text("sku", "name"), { name: "categories", type: "string[]" }, ...text("description")],
    settings: { language: "en", sku_fields: ["sku"] },
  },
  {
    name: "debian-packages",
    file: "debian-packages/documents.jsonl.gz",
    fields: text("name", "summary", "description"),
    settings: { language: "en", sku_fields: ["name"], symbols_to_index: ["+"] },
  },
  {
    name: "world-cities",
    file: "world-cities/documents.jsonl.gz",
    fields: text("name", "asciiname", "alternatenames", "country"),
    settings: {},
  },
];
