// Mapping items to documents: names, paths, ids, errors in an item. coerce.test.ts tests single values.
import { describe, expect, test } from "vitest";
import type { FeedObject } from "../../../../../server/documents/feeds/feed-item.js";
import { type FeedMapping, itemMapper } from "../../../../../server/documents/mapping/map-item.js";

const NONE: FeedMapping = { fields: [], fieldMap: {}, idField: null };
const FIELDS = [
  { name: "title", type: "string" },
  { name: "price", type: "float" },
  { name: "sku", type: "string" },
  { name: "skus", type: "string[]" },
  { name: "image", type: "string" },
] as const;

const mapped = (value: FeedObject, mapping: Partial<FeedMapping> = {}) =>
  itemMapper({ ...NONE, ...mapping })({ at: 7, value });

/** Maps an item and returns the parsed document. Expects no errors. */
function documentOf(value: FeedObject, mapping: Partial<FeedMapping> = {}): unknown {
  const { document, errors } = mapped(value, mapping);
  expect(errors).toEqual([]);
  return JSON.parse(document!);
}

describe("a name", () => {
  test("loses its prefix, also inside objects", () => {
    expect(documentOf({ "g:id": "1", "g:title": "t", "g:shipping": [{ "g:country": "DE" }] })).toEqual({
      id: "1",
      title: "t",
      shipping: [{ country: "DE" }],
    });
  });

  test.each([
    [{ id: "1", title: "plain", "g:title": "prefixed" }],
    [{ id: "1", "g:title": "prefixed", title: "plain" }],
  ])("with a prefix wins over one without: %j", (item) =>
    expect(documentOf(item)).toEqual({ id: "1", title: "prefixed" }),
  );

  test("in the map wins over both, in any order", () => {
    const fieldMap = { Name: "title" };
    expect(documentOf({ id: "1", Name: "mapped", "g:title": "x", title: "y" }, { fieldMap })).toEqual({
      id: "1",
      title: "mapped",
    });
    expect(documentOf({ id: "1", "g:title": "x", Name: "mapped" }, { fieldMap })).toEqual({
      id: "1",
      title: "mapped",
    });
  });

  test("in the map may be given with or without the prefix", () => {
    const item = { "g:id": "1", "g:mpn": "m" };
    expect(documentOf(item, { fieldMap: { mpn: "sku" } })).toEqual({ id: "1", sku: "m" });
    expect(documentOf(item, { fieldMap: { "g:mpn": "sku" } })).toEqual({ id: "1", sku: "m" });
  });

  test.each(["__proto__", "constructor", "toString", "hasOwnProperty", "a.b", "", "ü 😀", '"\\\n'])(
    "%j is a name like any other",
    (name) => {
      const item = JSON.parse(`{"id":"1",${JSON.stringify(name)}:"v"}`) as FeedObject;
      const document = documentOf(item, { fields: FIELDS }) as object;
      expect(Object.entries(document)).toEqual([
        ["id", "1"],
        [name, "v"],
      ]);
    },
  );
});

describe("a path", () => {
  const item = {
    id: "1",
    cost: { amount: "9.50 EUR", "g:unit": "kg" },
    images: [{ src: "a.png" }, { src: "b.png" }],
    variants: [{ sku: "s1" }, { size: 4 }, { sku: "s2" }],
  };
  test.each([
    ["cost.amount", "price", { price: 9.5, price_currency: "EUR" }],
    ["cost.unit", "title", { title: "kg" }],
    ["images.1.src", "image", { image: "b.png" }],
    ["images.src", "image", { image: "a.png" }],
    ["variants.sku", "skus", { skus: ["s1", "s2"] }],
    ["images.9.src", "image", {}],
    ["images.-1.src", "image", {}],
    ["cost.amount.more", "title", {}],
    ["id.length", "title", {}],
    ["images.length", "title", {}],
    ["constructor.name", "title", {}],
    ["cost.__proto__", "title", {}],
    ["cost.toString", "title", {}],
  ])("%s as %s", (path, name, expected) => {
    const document = documentOf(item, { fields: FIELDS, fieldMap: { [path]: name } });
    expect(document).toEqual({ ...item, cost: { amount: "9.50 EUR", unit: "kg" }, ...expected });
  });

  test("equal to a column's whole name means that column", () => {
    expect(documentOf({ id: "1", "price.amount": "5" }, { fieldMap: { "price.amount": "cost" } })).toEqual({
      id: "1",
      cost: "5",
    });
  });
});

describe("an item's id", () => {
  test.each([
    [{ id: "a", sku: "b" }, null, "a"],
    [{ "g:id": "a", sku: "b" }, null, "a"],
    [{ sku: "b" }, null, "b"],
    [{ id: "", sku: "b" }, null, "b"],
    [{ id: "a", Nr: null }, "Nr", "a"],
    [{ id: 17 }, null, "17"],
    [{ id: " a " }, null, "a"],
    [{ id: ["a", "b"] }, null, "a"],
    [{ id: "a", Nr: "b" }, "Nr", "b"],
    [{ id: "a", variant: { sku: "b" } }, "variant.sku", "b"],
    [{ id: "é".repeat(256) }, null, "é".repeat(256)],
  ])("is found in %j with id_field %j", (item, idField, expected) => {
    expect(mapped(item, { idField })).toMatchObject({ at: 7, id: expected, errors: [] });
  });

  test("beyond 2^53 keeps its digits", () => {
    expect(mapped({ id: 9007199254740993n }).document).toBe('{"id":"9007199254740993"}');
  });

  test.each([
    [{}],
    [{ id: "" }],
    [{ id: "  " }],
    [{ id: null }],
    [{ id: true }],
    [{ id: { a: 1 } }],
    [{ id: [] }],
  ])("is reported missing in %j", (item) => {
    expect(mapped(item)).toEqual({
      at: 7,
      id: null,
      document: null,
      errors: ["the item has no id; set id_field if it has another name"],
    });
  });

  test("is refused if it is too long", () => {
    expect(mapped({ id: "é".repeat(257) }).errors).toEqual(["id must be at most 512 bytes long"]);
  });

  test("may be mapped and remain a field", () => {
    expect(documentOf({ sku: "b", title: "t" }, { fields: FIELDS })).toEqual({
      id: "b",
      sku: "b",
      title: "t",
    });
  });
});

describe("a document", () => {
  test("keeps values of fields outside the schema, except empty ones", () => {
    const item = { id: "1", a: 1, b: [true, null], c: { d: "15.00 USD" } };
    expect(documentOf({ ...item, e: null, f: "", title: " " }, { fields: FIELDS })).toEqual(item);
  });

  test("keeps integers beyond 2^53", () => {
    expect(mapped({ id: "1", n: 9007199254740993n, o: { p: [18446744073709551616n] } }).document).toBe(
      '{"id":"1","n":9007199254740993,"o":{"p":[18446744073709551616]}}',
    );
  });

  test("keeps the feed's own currency", () => {
    const item = { id: "1", price: "5 EUR", price_currency: "USD" };
    expect(documentOf(item, { fields: FIELDS })).toEqual({ id: "1", price: 5, price_currency: "USD" });
  });

  test("is not built if anything is wrong, and every error is reported", () => {
    expect(mapped({ title: { a: 1 }, price: "call us" }, { fields: FIELDS })).toEqual({
      at: 7,
      id: null,
      document: null,
      errors: [
        "the item has no id; set id_field if it has another name",
        'title must be a string, not {"a":1}',
        'price must be a finite number, not "call us"',
      ],
    });
  });

  test("is not built from an unreadable item", () => {
    const map = itemMapper(NONE);
    expect(map({ at: 3, value: null, problem: "no JSON" })).toEqual({
      at: 3,
      id: null,
      document: null,
      errors: ["no JSON"],
    });
  });

  test("is the same for the same item, whatever the mapper has seen before", () => {
    const map = itemMapper({ ...NONE, fields: FIELDS, fieldMap: { "images.src": "image" } });
    const item = { "g:id": "1", title: "t", images: [{ src: "a" }] };
    const first = map({ at: 1, value: item }).document;
    for (let n = 0; n < 20_000; n++) map({ at: 2, value: { id: "2", [`column ${n}`]: 1 } });
    expect(map({ at: 3, value: item }).document).toBe(first);
  });
});
