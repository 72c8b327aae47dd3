// Reading synonym groups: the group that a request body describes, and the members that a change leaves
// untouched.
import { expect, test } from "vitest";
import { readSynonyms } from "../../../../../server/catalog/records/synonym.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";

const hasWord = (text: string): boolean => /\w/.test(text);
const read = (body: unknown, current: Parameters<typeof readSynonyms>[1] = null) =>
  readSynonyms(body, current, DEFAULT_LIMITS, hasWord);

test("entries are trimmed and deduplicated", () => {
  expect(read({ synonyms: [" tv ", "set", "tv"] })).toEqual({
    type: "multi_way",
    synonyms: ["tv", "set"],
    root: null,
    enabled: true,
  });
});

test("a one_way group has a root, which is one of its entries", () => {
  expect(read({ type: "one_way", synonyms: ["tv", "set"] }).root).toBe("tv");
  expect(read({ type: "one_way", synonyms: ["tv", "set"], root: "telly" }).synonyms).toEqual([
    "telly",
    "tv",
    "set",
  ]);
});

test("a change does not check existing entries again", () => {
  const current = { type: "multi_way", synonyms: ["!", "tv"], root: null, enabled: true } as const;
  expect(read({ enabled: false }, current)).toEqual({ ...current, enabled: false });
  expect(() => read({ synonyms: ["?", "tv"] }, current)).toThrow('synonyms[0] must contain a word; "?"');
});
