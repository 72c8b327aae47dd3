// Reading objects with a table of their members: refusals and their error messages, defaults, changes, the
// schema.
import { describe, expect, test } from "vitest";
import { defaultsTo, object, optional, required } from "../../../../../server/ground/input/object-reader.js";
import {
  clamped,
  flag,
  type InputRules,
  integer,
  list,
  text,
} from "../../../../../server/ground/input/readers.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";

const RULES: InputRules = { limits: { ...DEFAULT_LIMITS, pageDocumentsMax: 7 }, code: "SK-SYS-400" };
const COLOR = object(
  { hue: defaultsTo(0, integer(0, 359)), note: optional(text(5)) },
  { unknown: "refused" },
);
const THING = object(
  {
    name: required(text("queryTextBytesMax"), "What it is called."),
    size: defaultsTo(3, clamped(1, "pageDocumentsMax")),
    color: defaultsTo(COLOR.defaults, COLOR),
    tags: defaultsTo(null, list(text(3), 2)),
  },
  { unknown: "refused" },
);
const read = (value: unknown, present?: object) => THING.read(value, "", RULES, present);

test("absent and null members get their default", () => {
  const whole = { name: "a", size: 3, color: { hue: 0, note: undefined }, tags: null };
  expect(read({ name: "a" })).toEqual(whole);
  expect(read({ name: "a", size: null, color: null, tags: null })).toEqual(whole);
});

test("out-of-range numbers are clamped to the current limits", () => {
  expect(read({ name: "a", size: 100 }).size).toBe(7);
  expect(read({ name: "a", size: -1 }).size).toBe(1);
  expect(read({ name: "a", size: 2n ** 70n }).size).toBe(7);
});

describe("a change", () => {
  const present = { name: "a", size: 5, color: { hue: 9, note: "x" }, tags: ["t"] };

  test("keeps omitted members, also inside objects, and null restores a default", () => {
    expect(read({}, present)).toEqual(present);
    expect(read({ color: { hue: 1 }, size: null }, present)).toEqual({
      ...present,
      size: 3,
      color: { hue: 1, note: "x" },
    });
    expect(read({ color: null }, present).color).toEqual({ hue: 0 });
  });

  test("cannot remove a required member", () => {
    expect(() => read({ name: null }, present)).toThrow("name is missing; expected a string");
  });
});

test.each([
  [[], "the body must be an object, not an array"],
  [{}, "name is missing; expected a string"],
  [{ name: 7 }, "name must be a string, not 7"],
  [{ name: "\ud800" }, "unpaired surrogate"],
  [{ name: "a", nme: 1 }, "nme is unknown; expected one of name, size, color, tags"],
  [{ name: "a", size: "1" }, 'size must be an integer, not "1"'],
  [{ name: "a", color: { hue: 360 } }, "color.hue must be an integer from 0 to 359, not 360"],
  [{ name: "a", color: { toString: 1 } }, "color.toString is unknown"],
  [{ name: "a", tags: ["a", "longer"] }, "tags[1] is longer than 3 bytes"],
  [{ name: "a", tags: ["a", "b", "c"] }, "tags has 3 entries; at most 2 are allowed"],
])("%j is refused", (value, sentence) => {
  expect(() => read(value)).toThrow(sentence);
});

test("a type error tells programs which parameter it was and what was expected", () => {
  expect(() => read({ name: "a", color: { hue: "red" } })).toThrow(
    expect.objectContaining({
      code: "SK-SYS-400",
      details: { parameter: "color.hue", expected: "an integer from 0 to 359" },
    }),
  );
});

test("unknown members are kept or ignored as the table says, and so is null as a value", () => {
  const kept = object({ a: optional(flag()) }, { unknown: "kept" });
  expect(kept.read(JSON.parse('{"a": true, "b": 1, "__proto__": 2}'), "", RULES)).toEqual(
    JSON.parse('{"a": true, "b": 1, "__proto__": 2}'),
  );
  const ignored = object({ a: optional(flag()) }, { unknown: "ignored", nulls: "refused" });
  expect(ignored.read({ b: 1 }, "", RULES)).toEqual({});
  expect(() => ignored.read({ a: null }, "", RULES)).toThrow("a must be true or false, not null");
});

test("the schema agrees with the reader", () => {
  expect(THING.schema).toEqual({
    type: "object",
    additionalProperties: false,
    required: ["name"],
    properties: {
      name: { type: "string", description: "What it is called." },
      size: {
        type: ["integer", "null"],
        description: `Clamped to 1..${DEFAULT_LIMITS.pageDocumentsMax} (limits.pageDocumentsMax). Default: 3.`,
      },
      color: { anyOf: [COLOR.schema, { type: "null" }] },
      tags: { type: ["array", "null"], items: { type: "string" } },
    },
  });
  expect(THING.changeSchema).toEqual({ ...THING.schema, required: undefined });
});

test("a reply's schema requires members with a default, and allows null only where that is the default", () => {
  expect(THING.completeSchema).toMatchObject({
    required: ["name", "size", "color", "tags"],
    properties: { size: { type: "integer" }, color: COLOR.completeSchema, tags: { type: ["array", "null"] } },
  });
  const open = object({ unit: optional(text(5)) }, { unknown: "kept" });
  expect(open.completeSchema).toMatchObject({ required: [], additionalProperties: true });
});

test("a change's schema requires nothing, also inside objects", () => {
  const login = object({ user: required(text(5)), password: optional(text(5)) }, { unknown: "refused" });
  const source = object({ url: required(text(9)), login: optional(login) }, { unknown: "refused" });
  const given = { url: "a", login: { user: "u", password: "p" } };
  expect(source.read({ login: { password: "q" } }, "", RULES, given)).toEqual({
    ...given,
    login: { user: "u", password: "q" },
  });
  const { required: _, ...change } = source.schema;
  expect(source.changeSchema).toEqual({
    ...change,
    properties: {
      url: { type: "string" },
      login: { anyOf: [login.changeSchema, { type: "null" }] },
    },
  });
  expect(login.schema).toHaveProperty("required", ["user"]);
  expect(login.changeSchema).not.toHaveProperty("required");
});
