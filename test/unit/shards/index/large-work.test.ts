// Shards take turns at memory-intensive work.
import { expect, test, vi } from "vitest";
import { LargeWork } from "../../../../shards/index/large-work.js";

/** Much longer than a shard has to wait for its turn. */
const WAIT = { timeout: 60_000 };

function shards(count: number): LargeWork[] {
  const working = new Int32Array(new SharedArrayBuffer(count * Int32Array.BYTES_PER_ELEMENT));
  return Array.from({ length: count }, (_, shard) => new LargeWork(working, shard));
}

test("one of up to four shards does large work at a time, then another", async () => {
  const [first, second] = shards(4) as [LargeWork, LargeWork];
  expect(first.begin()).toBe(true);
  expect(first.begin()).toBe(false);
  expect(second.begin()).toBe(false);
  first.end();
  expect(second.begin()).toBe(false); // the garbage of `first` is not collected yet
  await vi.waitFor(() => expect(second.begin()).toBe(true), WAIT);
  expect(first.begin()).toBe(false);
  second.end();
  await vi.waitFor(() => expect(first.begin()).toBe(true), WAIT);
});

test("more shards may work at the same time", () => {
  const begun = shards(9).filter((shard) => shard.begin());
  expect(begun.length).toBe(3);
});

test("a thread that ended during its work no longer holds its turn", () => {
  const working = new Int32Array(2);
  expect(new LargeWork(working, 0).begin()).toBe(true);
  const [again, other] = [new LargeWork(working, 0), new LargeWork(working, 1)];
  expect(other.begin()).toBe(true);
  expect(again.begin()).toBe(false);
});
