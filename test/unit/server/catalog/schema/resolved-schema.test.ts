// Schemas as queries use them.
import { expect, test } from "vitest";
import { resolvedSchemaOf } from "../../../../../server/catalog/schema/resolved-schema.js";
import { makeRecord } from "../../record.js";

test("a field may have the name of a member of every object", () => {
  const record = makeRecord();
  const [field] = record.fields;
  const named = { ...record, fields: [{ ...field!, name: "constructor" }] };
  expect(resolvedSchemaOf(named).field("constructor")).toMatchObject({ index: true, unready: [] });
  const unready = { other: ["index"] } as const;
  expect(resolvedSchemaOf({ ...named, unready }).field("constructor")).toMatchObject({ index: true });
  const own = resolvedSchemaOf({ ...named, unready: { constructor: ["index"] } as never });
  expect(own.field("constructor")).toMatchObject({ index: false, unready: ["index"] });
});
