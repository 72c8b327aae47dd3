// Schema suggestions for feeds more extreme than real ones: very many field names, all of them odd.
import { expect, test } from "vitest";
import { suggestFor } from "../../../../../server/documents/mapping/suggest.js";

const of = (value: Record<string, unknown>) => suggestFor([{ at: 1, value }], null);

test("names that become equal after cleaning are numbered", () => {
  expect(of({ id: "1", Größe: "a", "größe!": "b", groesse: "c" }).fieldMap).toEqual({
    Größe: "groesse_2",
    "größe!": "groesse_3",
  });
});

test("no more names are suggested than an index may have", () => {
  const odd = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => ["?".repeat(i + 1), "x"]));
  const { fieldMap, fieldsSeen, schema } = of({ id: "1", ...odd });
  expect(Object.keys(fieldMap)).toHaveLength(999);
  expect(fieldMap["??"]).toBe("field_2");
  expect(fieldsSeen).toHaveLength(1_000);
  expect(schema.fields).toHaveLength(500);
});
