// The embedder sources: how shards see them, and their names in error messages.
import { expect, test } from "vitest";
import {
  type EmbedderSource,
  SOURCE_NAMES,
  sourcesThat,
  vectorPolicy,
} from "../../../../../server/catalog/definition/embedder-sources.js";
import { makeRecord } from "../../record.js";

const { embedder } = makeRecord().settings;

function policyOf(source: EmbedderSource, documents = 1_000, more: Partial<typeof embedder> = {}) {
  return vectorPolicy({ settings: { embedder: { ...embedder, source, ...more } } }, documents);
}

test("auto chooses a model from a few hundred documents on, but not for very many", () => {
  const sources = [199, 200, 200_000, 200_001].map((documents) => policyOf("auto", documents).source);
  expect(sources).toEqual(["none", "documents", "documents", "none"]);
});

test("outside vectors have an origin that changes with everything that affects them", () => {
  const asked = { url: "https://models.example/v1", model: "small" };
  const origins = [
    policyOf("pushed"),
    policyOf("endpoint", 0, asked),
    policyOf("endpoint", 0, { ...asked, model: "large" }),
    policyOf("endpoint", 0, { ...asked, url: "https://models.example/v2" }),
    policyOf("endpoint", 0, { ...asked, fields: ["title"] }),
  ].map(({ origin }) => origin);
  expect(new Set(origins).size).toBe(origins.length);
  expect(Math.min(...origins)).toBeGreaterThanOrEqual(0x80000000);
});

test("sentences list sources in the order of the table", () => {
  expect(SOURCE_NAMES).toEqual(["auto", "documents", "endpoint", "pushed", "none"]);
  expect(sourcesThat(({ vectors }) => vectors === "outside")).toBe("endpoint or pushed");
});
