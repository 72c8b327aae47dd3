// The judged queries' catalogues as a shop would index them: facets for brand, colour and category, numbers
// for price, rating and measures. Documents are reduced to the members that matter, so that they load
// quickly.
type Document = Readonly<Record<string, unknown>>;

interface Catalogue {
  readonly name: string;
  readonly file: string;
  readonly fields: readonly {
    name: string;
    type: string;
    facet?: boolean;
    sort?: boolean;
    optional?: boolean;
  }[];
  readonly settings: Readonly<Record<string, unknown>>;
  document(source: Document): Document;
}

const text = (name: string, type = "string") => ({ name, type, optional: true });
const facet = (name: string, type = "string") => ({ name, type, facet: true, optional: true });
const number = (name: string, type = "float") => ({ name, type, optional: true });

export const CATALOGUES: readonly Catalogue[] = [
  {
    name: "bestbuy",
    file: "bestbuy/products.jsonl.gz",
    fields: [
      text("name"),
      facet("brand"),
      facet("categories", "string[]"),
      number("price"),
      number("popularity", "int32"),
      text("description"),
    ],
    settings: { language: "en", brand_field: "brand" },
    document: ({ id, name, brand, categories, price, popularity, description }) => ({
      id,
      name,
      brand,
      categories,
      price,
      popularity,
      description,
    }),
  },
  {
    name: "esci",
    file: "esci/documents.jsonl.gz",
    fields: [
      text("title"),
      facet("brand"),
      facet("color"),
      facet("category", "string[]"),
      number("price"),
      number("rating"),
      number("rating_count", "int32"),
      text("description"),
      text("bullet_points"),
    ],
    settings: { language: "en", brand_field: "brand" },
    document: ({
      id,
      title,
      brand,
      color,
      category,
      price,
      rating,
      rating_count,
      description,
      bullet_points,
    }) => ({
      id,
      title,
      brand,
      color,
      category,
      price,
      rating,
      rating_count,
      description,
      bullet_points,
    }),
  },
  {
    name: "icecat",
    file: "icecat/documents.jsonl.gz",
    fields: [
      text("name"),
      text("title"),
      facet("brand"),
      facet("color", "string[]"),
      number("price"),
      { name: "date_released", type: "string", sort: true, optional: true },
      number("display_diagonal_inch"),
      number("cable_length_m"),
      text("description"),
    ],
    settings: { language: "en", brand_field: "brand", sku_fields: ["name"] },
    document: ({ id, name, title, brand, price, date_released, description, attributes }) => {
      const { t_product_colour, n_display_diagonal, n_cable_length } = attributes as Document;
      const color = typeof t_product_colour === "string" ? t_product_colour.split(",") : undefined;
      return {
        id,
        name,
        title,
        brand,
        color,
        price,
        date_released,
        description,
        display_diagonal_inch: n_display_diagonal,
        cable_length_m: n_cable_length,
      };
    },
  },
];
