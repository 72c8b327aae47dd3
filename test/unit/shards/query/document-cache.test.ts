// Which rendered documents are cached, and that the cache stays within its byte limit.
import { expect, it } from "vitest";
import { DocumentCache } from "../../../../shards/query/document-cache.js";

const record = (bytes: number) => ({ internal: false, id: "a", raw: new Uint8Array(bytes) });

it("returns what was stored, by index and sequence number", () => {
  const cache = new DocumentCache();
  const [first, second] = [record(10), record(20)];
  cache.put(1, 23, first);
  cache.put(12, 3, second);
  expect(cache.get(1, 23)).toBe(first);
  expect(cache.get(12, 3)).toBe(second);
  expect(cache.get(1, 3)).toBeUndefined();
  cache.clear();
  expect(cache.get(1, 23)).toBeUndefined();
});

it("keeps what is used and evicts the rest", () => {
  const cache = new DocumentCache(100_000);
  for (let seq = 0; seq < 1_000; seq++) {
    cache.put(1, seq, record(600));
    expect(cache.get(1, 0)).toBeDefined();
  }
  const kept = Array.from({ length: 1_000 }, (_, seq) => seq).filter(
    (seq) => cache.get(1, seq) !== undefined,
  );
  expect(kept).toContain(999);
  expect(kept).not.toContain(500);
  expect(kept.length).toBeLessThanOrEqual(100);
});

it("does not accept an overlong document", () => {
  const cache = new DocumentCache();
  cache.put(1, 1, record(100_000));
  expect(cache.get(1, 1)).toBeUndefined();
});
