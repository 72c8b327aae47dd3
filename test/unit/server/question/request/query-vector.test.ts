// A query's vector: which forms are valid, and where it may be used.
import { describe, expect, test } from "vitest";
import type { EmbedderSource } from "../../../../../server/catalog/definition/embedder-sources.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { readQueryRequest } from "../../../../../server/question/request/query-request.js";
import { makeRecord, queried } from "../../record.js";

function read(vector: unknown, source: EmbedderSource = "pushed"): Float32Array | null {
  const record = makeRecord();
  const settings = { ...record.settings, embedder: { ...record.settings.embedder, source } };
  return readQueryRequest({ q: "x", vector }, queried({ ...record, settings }), DEFAULT_LIMITS).vector;
}
/** Returns 512 numbers, all 0 except the given ones. */
const numbers = (given: Record<number, unknown>): unknown[] =>
  Object.assign(new Array<unknown>(512).fill(0), given);

describe("a vector", () => {
  test("is scaled to length 1, even where the squares of its numbers are infinite or 0", () => {
    expect(read(undefined)).toBeNull();
    for (const scale of [1, 1e300, 1e-300]) {
      const vector = read(numbers({ 0: 3 * scale, 511: -4 * scale }))!;
      expect(vector).toBeInstanceOf(Float32Array);
      expect([vector.length, vector[1]]).toEqual([512, 0]);
      expect(vector[0]).toBeCloseTo(0.6, 6);
      expect(vector[511]).toBeCloseTo(-0.8, 6);
    }
  });

  test.each<[unknown, string]>([
    ["1,2,3", 'vector must be an array of 512 finite numbers, not "1,2,3"'],
    [null, "vector must be an array of 512 finite numbers, not null"],
    [{ 0: 1 }, "vector must be an array of 512 finite numbers, not an object"],
    [[], "vector has 0 numbers; expected 512"],
    [new Array(511).fill(1), "vector has 511 numbers; expected 512"],
    [new Array(513).fill(1), "vector has 513 numbers; expected 512"],
    [numbers({ 7: "1" }), 'vector[7] must be a finite number, not "1"'],
    [numbers({ 0: null, 1: 1 }), "vector[0] must be a finite number, not null"],
    [numbers({ 511: Number.POSITIVE_INFINITY }), "vector[511] must be a finite number"],
    [numbers({ 1: Number.NaN }), "vector[1] must be a finite number"],
    [numbers({}), "vector must not be all zeros"],
    [numbers({ 5: -0 }), "vector must not be all zeros"],
  ])("that is invalid is refused (%#)", (vector, message) => {
    expect(() => read(vector)).toThrow(message);
    expect(() => read(vector)).toThrow(expect.objectContaining({ code: "SK-SE-400" }));
  });

  test.each(["auto", "documents", "none"] as const)("is refused if the source is %s", (source) => {
    const sentence = `vector needs the setting embedder.source to be endpoint or pushed; it is ${source}`;
    expect(() => read(numbers({ 0: 1 }), source)).toThrow(sentence);
    expect(read(undefined, source)).toBeNull();
  });

  test("is accepted if vectors come from an endpoint", () => {
    expect(read(numbers({ 2: 5 }), "endpoint")?.[2]).toBe(1);
  });
});
