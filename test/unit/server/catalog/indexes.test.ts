// Index definitions: defaults, refusals, and how changes affect slots and versions.
import { describe, expect, test } from "vitest";
import type { FieldDefinition } from "../../../../server/catalog/definition/schema.js";
import { readChangedIndex, readChangedSettings, readNewIndex } from "../../../../server/catalog/indexes.js";
import { asReady, type IndexRecord } from "../../../../server/catalog/records/index-record.js";
import { indexView } from "../../../../server/catalog/view.js";
import { DEFAULT_LIMITS } from "../../../../server/ground/limits.js";
import { SERVERS } from "../record.js";

function make(body: unknown): IndexRecord {
  return {
    ...readNewIndex(body, DEFAULT_LIMITS, SERVERS),
    uid: 1,
    id: 1,
    tenant: 1,
    createdAt: "2030-01-01T00:00:00.000Z",
  };
}

const BASE = {
  name: "products",
  schema: {
    fields: [
      { name: "title", type: "string" },
      { name: "brand", type: "string", facet: true, sort: true },
      { name: "price", type: "float" },
      { name: "tags", type: "string[]" },
    ],
  },
};

function field(record: IndexRecord, name: string): FieldDefinition {
  return record.fields.find((candidate) => candidate.name === name)!;
}

describe("a new index", () => {
  test("gets the documented defaults", () => {
    const record = make(BASE);
    expect(field(record, "title")).toEqual({
      name: "title",
      type: "string",
      facet: false,
      optional: true,
      index: true,
      sort: false,
      infix: false,
      slot: 0,
    });
    expect(field(record, "price").sort).toBe(true);
    expect(field(record, "tags").sort).toBe(false);
    expect([record.nextSlot, record.schemaVersion, record.defaultSortingField]).toEqual([4, 1, null]);
  });

  test("keeps and echoes unknown properties, but shows no slot", () => {
    const schema = { fields: [{ name: "a", type: "bool", "x-note": { deep: [1] }, slot: 9 }], note: "kept" };
    const view = indexView(make({ name: "n", schema }), 3, "active");
    expect(view).toEqual({
      id: 1,
      name: "n",
      schema: {
        note: "kept",
        fields: [
          {
            name: "a",
            type: "bool",
            facet: false,
            optional: true,
            index: true,
            sort: true,
            infix: false,
            "x-note": { deep: [1] },
          },
        ],
      },
      records_count: 3,
      status: "active",
      created_at: "2030-01-01T00:00:00.000Z",
    });
  });

  const one = (extra: object, schema: object = {}): unknown => ({
    name: "n",
    schema: { fields: [{ name: "f", type: "string", ...extra }], ...schema },
  });
  const refused: [unknown, RegExp][] = [
    [null, /^the body must be an object/],
    [{}, /^name is missing/],
    [{ name: "A", schema: { fields: [] } }, /^name must consist of a-z/],
    [{ name: "", schema: { fields: [] } }, /^name/],
    [{ name: "x".repeat(200), schema: { fields: [] } }, /^name is longer than 128 bytes/],
    [{ name: "n" }, /^schema is missing/],
    [{ name: "n", schema: [] }, /^schema must be an object, not an array/],
    [{ name: "n", schema: {} }, /^schema.fields is missing/],
    [{ name: "n", schema: { fields: {} } }, /^schema.fields must be an array/],
    [{ name: "n", schema: { fields: ["f"] } }, /^schema.fields\[0\] must be an object/],
    [one({ name: 7 }), /^schema.fields\[0\].name must be a string/],
    [one({ name: "id" }), /reserved/],
    [one({ name: "embedding" }), /reserved/],
    [one({ name: "_score" }), /reserved/],
    [one({ name: "__proto__" }), /reserved/],
    [one({ name: " f" }), /white space/],
    [one({ name: "a\u0000" }), /control characters/],
    [one({ type: undefined }), /^schema.fields\[0\].type is missing/],
    [one({ type: "int" }), /^schema.fields\[0\].type must be one of string, int32/],
    [one({ facet: "yes" }), /^schema.fields\[0\].facet must be true or false/],
    [one({ type: "string[]", sort: true }), /sort must be false/],
    [one({ index: false, facet: true }), /index must be true/],
    [
      one({ type: "string", index: false, infix: true }),
      /^schema.fields\[0\].index must be true for .* infix/,
    ],
    [one({ type: "bool", infix: true }), /infix must be false/],
    [one({ language: "tlh" }), /language must be one of en, de, .*not "tlh"/],
    [one({ type: "float", language: "en" }), /language must be absent/],
    [
      {
        name: "n",
        schema: {
          fields: [
            { name: "f", type: "bool" },
            { name: "f", type: "bool" },
          ],
        },
      },
      /names "f" twice/,
    ],
    [one({}, { default_sorting_field: "x" }), /names "x", which is not a field/],
    [one({}, { default_sorting_field: "f" }), /must name an int32, int64 or float field/],
    [one({ type: "float", sort: false }, { default_sorting_field: "f" }), /has sort: false/],
    [one({ note: "x".repeat(70_000) }), /bytes of unknown properties/],
    [{ ...BASE, settings: { num_typos: 9 } }, /^settings.num_typos must be an integer from 0 to 4/],
  ];
  test.each(refused)("%j is refused", (body, message) => {
    expect(() => make(body)).toThrow(message);
    expect(() => make(body)).toThrow(expect.objectContaining({ code: "SK-IX-400" }));
  });
});

describe("a schema change", () => {
  const change = (schema: object, hasRecords = true, record = make(BASE)): IndexRecord =>
    readChangedIndex(record, { schema }, hasRecords, DEFAULT_LIMITS);

  test.each([{}, { fields: [{ name: "color", type: "string" }] }])(
    "%j has no schema and is refused",
    (body) => {
      const refused = (): IndexRecord => readChangedIndex(make(BASE), body, true, DEFAULT_LIMITS);
      expect(refused).toThrow("schema is missing; expected an object");
      expect(refused).toThrow(expect.objectContaining({ code: "SK-IX-400" }));
    },
  );

  test("adds a field with the next slot and makes segments stale", () => {
    const record = change({ fields: [{ name: "color", type: "string", facet: true }] });
    expect(field(record, "color").slot).toBe(4);
    expect([record.nextSlot, record.schemaVersion, record.fields.length]).toEqual([5, 2, 5]);
  });

  test("drops a field; its slot is not reused", () => {
    const dropped = change({ fields: [{ name: "price", drop: true }] });
    expect(field(dropped, "price")).toBeUndefined();
    const again = change({ fields: [{ name: "price", type: "float" }] }, true, dropped);
    expect(field(again, "price").slot).toBe(4);
  });

  test("gives only a new type a new slot, and keeps other properties", () => {
    const record = change({ fields: [{ name: "brand", facet: false }] });
    expect(field(record, "brand")).toMatchObject({ type: "string", facet: false, sort: true, slot: 1 });
    expect(record.schemaVersion).toBe(2);
    const retyped = change({ fields: [{ name: "brand", type: "string[]" }] });
    expect(field(retyped, "brand")).toMatchObject({ type: "string[]", facet: false, sort: false, slot: 4 });
  });

  const uses = (index: boolean, facet: boolean, sort: boolean) => ({ index, facet, sort });
  const ALL = uses(true, true, true);
  const NONE = uses(false, false, false);

  test.each<[type: string, steps: object[], unready: string[] | undefined]>([
    ["string", [uses(true, false, false), ALL], ["facet", "sort"]],
    ["string", [NONE, ALL], ["index", "facet", "sort"]],
    ["string", [ALL, uses(true, false, false)], undefined],
    ["string", [uses(true, false, true), uses(true, true, true)], ["facet"]],
    ["string", [ALL, uses(true, false, true), ALL], ["facet"]],
    ["string", [uses(true, false, false), uses(true, true, false), ALL], ["facet", "sort"]],
    ["string", [NONE, uses(true, true, false), uses(true, false, false)], ["index"]],
    ["string", [uses(true, false, false), ALL, { ...ALL, language: "de" }], ["facet", "sort"]],
    ["string", [uses(true, false, false), ALL, { type: "string[]" }], undefined],
    ["string", [uses(true, false, false), ALL, { drop: true }], undefined],
    ["int32", [uses(true, false, false), ALL], ["facet"]],
    ["int32", [NONE, uses(true, false, true)], ["index", "sort"]],
    ["int32", [NONE, uses(true, false, false), uses(true, false, true)], ["index", "sort"]],
  ])("%s %j: queries have to wait for %j", (type, [first, ...steps], unready) => {
    const made = make({ name: "x", schema: { fields: [{ name: "a", type, ...first }] } });
    const record = steps.reduce<IndexRecord>(
      (at, step) => change({ fields: [{ name: "a", ...step }] }, true, at),
      made,
    );
    expect(record.unready?.a).toEqual(unready);
    if (unready !== undefined) {
      expect(change({ fields: [{ name: "b", type: "bool" }] }, true, record).unready).toEqual(record.unready);
      expect(asReady(record)).not.toHaveProperty("unready");
    }
  });

  test("leaves segments current for unknown properties and the sorting field", () => {
    const record = change({ fields: [{ name: "brand", "x-note": 1 }], default_sorting_field: "price" });
    expect([record.schemaVersion, record.nextSlot, record.defaultSortingField]).toEqual([1, 4, "price"]);
    expect(field(record, "brand")).toMatchObject({ "x-note": 1, slot: 1, facet: true });
    expect(change({ default_sorting_field: null }, true, record).defaultSortingField).toBeNull();
  });

  test("may add a required field only while the index is empty", () => {
    const schema = { fields: [{ name: "color", type: "string", optional: false }] };
    expect(() => change(schema, true)).toThrow(/optional must be true/);
    expect(field(change(schema, false), "color").optional).toBe(false);
  });

  test.each([
    [{ fields: [{ name: "nope", drop: true }] }, /drops "nope", which is not a field/],
    [
      {
        fields: [
          { name: "price", drop: true },
          { name: "price", type: "float" },
        ],
      },
      /names "price" twice/,
    ],
    [{ fields: [{ name: "brand", drop: true, language: 1 }] }, /language must be a string, not 1/],
    [{ fields: [{ name: "brand", type: "text" }] }, /type must be one of/],
    [{ fields: [{ name: "color" }] }, /type is missing/],
    [{ default_sorting_field: "title" }, /must name an int32/],
  ])("%j is refused", (schema, message) => {
    expect(() => change(schema)).toThrow(message);
  });

  test("cannot drop a field named by the settings or the default sorting", () => {
    const sorted = change({ default_sorting_field: "price" });
    expect(() => change({ fields: [{ name: "price", drop: true }] }, true, sorted)).toThrow(
      /default_sorting_field names "price"/,
    );
    const settings = readChangedSettings(make(BASE), { brand_field: "brand" }, DEFAULT_LIMITS, SERVERS);
    expect(() => change({ fields: [{ name: "brand", drop: true }] }, true, settings)).toThrow(
      /settings.brand_field names "brand"/,
    );
  });
});

describe("a settings change", () => {
  const change = (body: unknown, record = make(BASE)): IndexRecord =>
    readChangedSettings(record, body, DEFAULT_LIMITS, SERVERS);

  test("replaces given settings, restores defaults for null, and keeps the others", () => {
    const first = change({ num_typos: 1, stop_words: ["the"], highlight: { start_tag: "<b>" } }).settings;
    expect(first).toMatchObject({ num_typos: 1, stop_words: ["the"], prefix: true });
    expect(first.highlight).toMatchObject({ start_tag: "<b>", end_tag: "</mark>" });
    const second = change({ num_typos: null, highlight: null }, { ...make(BASE), settings: first }).settings;
    expect(second).toMatchObject({ num_typos: 2, stop_words: ["the"], highlight: { start_tag: "<mark>" } });
    const third = change(
      { highlight: { start_tag: null, end_tag: "</b>" } },
      { ...make(BASE), settings: first },
    );
    expect(third.settings.highlight).toMatchObject({ start_tag: "<mark>", end_tag: "</b>" });
  });

  test("makes segments stale only if it affects the analyser", () => {
    expect(change({ symbols_to_index: ["+", "+"] })).toMatchObject({
      schemaVersion: 2,
      settings: { symbols_to_index: ["+"] },
    });
    expect(change({ token_separators: ["-"] }).schemaVersion).toBe(2);
    expect(change({ stop_words: ["a"], token_separators: [] }).schemaVersion).toBe(1);
    expect(change({ language: "en" }).schemaVersion).toBe(2);
    expect(change({ sku_fields: ["title"] }).schemaVersion).toBe(2);
    expect(change({ brand_field: "title" }).schemaVersion).toBe(2);
    expect(change({ language: null, sku_fields: [], brand_field: null }).schemaVersion).toBe(1);
  });

  test.each([
    [[], /^the body must be an object/],
    [{ typos: 1 }, /^typos is unknown; expected one of searchable_attributes/],
    [{ num_typos: 5 }, /^num_typos must be an integer from 0 to 4, not 5/],
    [{ num_typos: "2" }, /^num_typos/],
    [{ prefix: 1 }, /^prefix must be true or false/],
    [{ min_len_1typo: 9 }, /^min_len_2typo must not be below min_len_1typo/],
    [{ typo_policy: "never" }, /^typo_policy must be one of auto, always, missing/],
    [{ stop_words: "the" }, /^stop_words must be an array of strings/],
    [{ stop_words: [1] }, /^stop_words\[0\] must be a string/],
    [{ searchable_attributes: ["nope"] }, /^searchable_attributes names "nope"/],
    [{ searchable_attributes: ["price"] }, /not an indexed string or string\[\] field/],
    [{ searchable_attributes: ["title", "title"] }, /names "title" twice/],
    [{ weights: [1] }, /^weights needs searchable_attributes/],
    [
      { weights: [1], searchable_attributes: ["title", "tags"] },
      /^weights has 1 entries but searchable_attributes has 2/,
    ],
    [{ weights: [0], searchable_attributes: ["title"] }, /^weights\[0\] must be a number above 0/],
    [{ sku_fields: ["price"] }, /^sku_fields names "price"/],
    [{ brand_field: "nope" }, /^brand_field names "nope"/],
    [{ token_separators: ["ab"] }, /^token_separators\[0\] must be a single character/],
    [{ symbols_to_index: [" "] }, /^symbols_to_index\[0\] must be a single character/],
    [{ language: "klingon" }, /^language must be one of en, de, .*not "klingon"/],
    [
      { symbols_to_index: ["+", "\u0001"] },
      /^symbols_to_index\[1\] must be a single character .*control character/,
    ],
    [{ highlight: { tag: "b" } }, /^highlight.tag is unknown/],
    [{ drop_tokens_threshold: -1 }, /^drop_tokens_threshold must be an integer/],
  ])("%j is refused", (body, message) => {
    expect(() => change(body)).toThrow(message);
  });
});
