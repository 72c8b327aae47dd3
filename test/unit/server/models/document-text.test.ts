// Which text of a document is embedded.
import { describe, expect, test } from "vitest";
import {
  cutText,
  documentText,
  embeddedFields,
  sendableText,
} from "../../../../server/models/document-text.js";
import { makeRecord } from "../record.js";

const text = (document: unknown, fields: string[], charactersMax = 1_000): string =>
  documentText(Buffer.from(JSON.stringify(document)), fields, charactersMax);

describe("a document's text", () => {
  test("has the fields in their order, lists in full, one below the other", () => {
    const document = { tags: ["red", " leather "], title: "Shoe", price: 5, brand: "Ö👟" };
    expect(text(document, ["title", "brand", "tags"])).toBe("Shoe\nÖ👟\nred\nleather");
    expect(text(document, ["tags", "title"])).toBe("red\nleather\nShoe");
  });

  test("leaves out values that are not text", () => {
    const document = { a: 1, b: null, c: { d: "x" }, e: ["x", 1, null, ["y"]], f: "", g: " \n", h: true };
    expect(text(document, ["a", "b", "c", "e", "f", "g", "h", "none"])).toBe("x");
    expect(text(document, ["toString", "__proto__", "constructor"])).toBe("");
    for (const other of [null, [], "x", 1]) expect(text(other, ["length", "0"])).toBe("");
  });

  test("is truncated, but not within a character", () => {
    expect(text({ a: "abc", b: ["def", "ghi"] }, ["a", "b"], 8)).toBe("abc\ndef\n");
    expect(text({ a: "x".repeat(100_000), b: "y" }, ["a", "b"], 10)).toBe("x".repeat(10));
    expect([cutText("ab👟", 2), cutText("ab👟", 3), cutText("ab👟", 4)]).toEqual(["ab", "ab", "ab👟"]);
  });

  test("is sent without NUL and trimmed", () => {
    expect([sendableText(" a\0b \n"), sendableText("\0\0")]).toEqual(["a b", ""]);
  });

  test("can be read from a part of a larger buffer", () => {
    const whole = Buffer.from(`junk{"a":"x"}junk`);
    const part = new Uint8Array(whole.buffer, whole.byteOffset + 4, whole.length - 8);
    expect(documentText(part, ["a"], 10)).toBe("x");
  });
});

test("uses the fields in the settings, or else the searchable ones", () => {
  expect(embeddedFields(makeRecord())).toEqual(["title", "brand", "tags"]);
  expect(embeddedFields(makeRecord({ searchable_attributes: ["tags", "title"] }))).toEqual(["tags", "title"]);
  const { embedder } = makeRecord().settings;
  expect(embeddedFields(makeRecord({ embedder: { ...embedder, fields: ["notes"] } }))).toEqual(["notes"]);
});
