// The query vector cache: a byte limit, and separate entries for each endpoint.
import { expect, test } from "vitest";
import { CacheMeter } from "../../../../server/ground/metrics/recorder.js";
import { VectorCache } from "../../../../server/models/vector-cache.js";

const vector = (value: number): Float32Array => new Float32Array(512).fill(value);

test("the least recently used vectors are evicted first", () => {
  const cache = new VectorCache(4 * 2_300, new CacheMeter()).part();
  for (const [i, text] of ["a", "b", "c", "d"].entries()) cache.put(text, vector(i));
  expect(cache.get("a")).toEqual(vector(0));
  cache.put("b", vector(9)); // replaces the first vector for "b"
  cache.put("e", vector(4));
  expect(["a", "b", "c", "d", "e"].map((text) => cache.get(text)?.[0])).toEqual([0, 9, undefined, 3, 4]);
});

test("long texts count toward the limit, and an oversized one is not kept", () => {
  const cache = new VectorCache(10_000, new CacheMeter()).part();
  cache.put("a", vector(1));
  cache.put("x".repeat(6_000), vector(2));
  expect([cache.get("a"), cache.get("x".repeat(6_000))]).toEqual([vector(1), undefined]);
  cache.put("x".repeat(3_500), vector(3));
  expect([cache.get("a"), cache.get("x".repeat(3_500))]).toEqual([undefined, vector(3)]);
});

test("endpoints cannot see each other's vectors but share the memory", () => {
  const meter = new CacheMeter();
  const cache = new VectorCache(2 * 2_300, meter);
  const [first, second] = [cache.part(), cache.part()];
  first.put("a", vector(1));
  expect(second.get("a")).toBeUndefined();
  second.put("a", vector(2));
  expect([first.get("a")?.[0], second.get("a")?.[0]]).toEqual([1, 2]);
  second.put("b", vector(3));
  expect(first.get("a")).toBeUndefined();
  expect([meter.hits, meter.misses]).toEqual([2, 2]);
});
