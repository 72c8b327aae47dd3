// The table of field types agrees with its documentation and with the engine's numbers.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FIELD_TYPE_NAMES, FIELD_TYPES, typesThat } from "../../../../server/ground/field-types.js";

const DOCUMENT = readFileSync(new URL("../../../../docs/api.md", import.meta.url), "utf8");

test("the table equals the one in docs/api.md, in the same order", () => {
  const rows = [
    ...DOCUMENT.matchAll(/^\| `([a-z0-9[\]]+)` \| (an? .+|true or false) \| (\w+) \| (yes|no) \|$/gm),
  ];
  const documented = rows.map(([, name, takes, sort, ranks]) => ({ name, takes, sort, ranks }));
  const table = FIELD_TYPE_NAMES.map((name) => {
    const { takes, sortDefault, ranks } = FIELD_TYPES[name];
    return { name, takes, sort: String(sortDefault ?? "never"), ranks: ranks ? "yes" : "no" };
  });
  expect(documented).toEqual(table);
});

test("every type has its own number in the engine", () => {
  const codes = FIELD_TYPE_NAMES.map((name) => FIELD_TYPES[name].code);
  expect(new Set(codes).size).toBe(codes.length);
});

test("types are listed as in a sentence", () => {
  expect(typesThat(({ ranks }) => ranks)).toBe("int32, int64 or float");
  expect(typesThat(({ kind }) => kind === "bool")).toBe("bool");
});
