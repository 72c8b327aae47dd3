// The queries that must stay as typed, over a small shop whose facets, numbers and texts tempt one to read
// them otherwise: brands and colours that titles name, products of many prices, lengths and weights. What
// shoppers mean otherwise is still understood there.
import { describe, expect, test } from "vitest";
import { sharedServer } from "../e2e/world/shared-server.js";
import { expectAsTyped } from "./as-typed.js";
import type { AiContext } from "./judged.js";

const FIELDS = [
  { name: "title", type: "string" },
  { name: "brand", type: "string", facet: true, optional: true },
  { name: "color", type: "string", facet: true, optional: true },
  { name: "category", type: "string", facet: true },
  { name: "price", type: "float" },
  { name: "rating", type: "float" },
  { name: "released", type: "int32", sort: true },
  { name: "sales", type: "int32" },
  { name: "size", type: "int32", optional: true },
  { name: "screen_inch", type: "float", optional: true },
  { name: "cable_length_cm", type: "int32", optional: true },
  { name: "weight_g", type: "float", optional: true },
];

const COLOURS = ["Red", "Black", "White", "Purple", "Blue", "Green"];
const BRANDS = ["3M", "7UP", "4711", "Levi's 501", "WD-40", "Under Armour", "Forever 21", "Acme", "Bosch"];
/** Works that some of the queries are about, in four languages. */
const WORKS =
  "From 0 to 1|12 Angry Men|7 Habits of Highly Effective People|Under 21|1984|Rebel Without a Cause|Men Without Women|" +
  "Women Without Men|The Color Purple|Looking for Alaska|The Most Popular Girl in School|Oldest Profession|Ohne dich|" +
  "Der Mann ohne Eigenschaften|Menschen ohne Grenzen|Sans famille|Médecins sans frontières|Un homme sans importance|" +
  "Sin City|Cien años de soledad|12 hombres sin piedad|El hombre sin rostro";
/** Words of the queries that a shop's texts have, too, without the title that they are from. */
const WORDS =
  "life jacket|school girl|cause of the rebel|women and men|mundo|homme|city dvd|money|alaska|19 inch rack cabinet|19 inch rack shelf|19 inch rack drawer|" +
  "40g network card|40g network switch|40g network module|70-200mm lens Nikon f2.8|50mm lens Canon";

/** A product of every kind; `at` varies the numbers. */
function products(): Record<string, unknown>[] {
  const numbers = (at: number) => ({
    price: [0.5, 9, 15, 19, 45, 99, 180][at % 7],
    rating: 1 + (at % 5),
    released: at,
    sales: at * 7,
  });
  const kinds = [
    ...BRANDS.flatMap((brand) => COLOURS.map((color) => ({ title: `${color} shirt for men`, brand, color }))),
    ...[1, 2, 3, 5, 10].flatMap((metres) =>
      Array.from({ length: 4 }, () => ({
        title: `network cable ${metres} m`,
        cable_length_cm: metres * 100,
      })),
    ),
    ...[19, 24, 32, 55].flatMap((inch) =>
      Array.from({ length: 3 }, () => ({ title: `tv ${inch} inch`, screen_inch: inch })),
    ),
    ...[7, 21, 40, 500].flatMap((weight_g) =>
      Array.from({ length: 5 }, () => ({ title: "parcel scale", weight_g })),
    ),
    ...[36, 42].map((size) => ({ title: "shoes with laces", color: "Red", size })),
    { title: "3M tape", brand: "3M" },
    { title: "belt with buckle" },
    { title: "belt of leather" },
    { title: "dog food grain-free" },
    { title: "dog food rice and grain" },
    ...WORKS.split("|").map((title) => ({ title, category: "Books" })),
    ...WORDS.split("|").map((title) => ({ title })),
  ];
  return kinds.map((kind, at) => ({ id: String(at), category: "Things", ...numbers(at), ...kind }));
}

describe("a small shop", () => {
  const server = sharedServer({ shards: 2, quiet: true }, (it) =>
    it.createIndex("small", { fields: FIELDS }, products()),
  );

  test("searches titles, idioms and model numbers as typed", () => expectAsTyped(server, "small"));

  test.each([
    ["tv under 50", "price:<50", []],
    ["55 inch tv", "screen_inch:=55", []],
    ["red shoes size 42", "size:=42 && color:`Red`", []],
    ["network cable 3 m", "cable_length_cm:=300", []],
    ["network cable longer than 4 m", "cable_length_cm:>400", []],
    ["parcel scale 40 g", "weight_g:=40", []],
    ["3m tape under 50", "price:<50", []],
    ["tv unter 50 euro", "price:<50", []],
    ["belt without buckle", null, ["buckle"]],
  ])("still understands %s", async (q, filter_by, avoided) => {
    const context = (await server.query("small", { q })).json.ai_context as AiContext | null;
    expect(context?.applied_filters).toMatchObject({ filter_by, avoided });
  });

  test("finds what is free of something first", async () => {
    const reply = await server.query("small", { q: "dog food without grain" });
    expect(reply.json.hits[0]?.document.title).toBe("dog food grain-free");
  });
});
