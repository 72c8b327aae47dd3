// The gate that lets threads send reads directly to shards. It may be open for one shard and closed for
// another.
import { expect, test } from "vitest";
import { ShardGate } from "../../../../../server/fleet/threads/shard-gate.js";

test("a closed gate admits nobody, and counts the reads inside until they leave or their thread ends", () => {
  const owner = new ShardGate(2, 3);
  const [one, other] = [new ShardGate(2, 3, owner.shared), new ShardGate(2, 3, owner.shared)];
  expect([one.enter(0, 1), one.enter(0, 1), other.enter(0, 2), other.enter(1, 2)]).toEqual(
    Array(4).fill(true),
  );
  owner.setOpen(0, false);
  expect([one.enter(0, 1), other.enter(0, 2), other.enter(1, 2)]).toEqual([false, false, true]);
  expect([owner.inside(0), owner.inside(1)]).toEqual([3, 2]);
  one.leave(0, 1);
  owner.clear(2);
  expect([owner.inside(0), owner.inside(1)]).toEqual([1, 0]);
  one.leave(0, 1);
  owner.setOpen(0, true);
  expect([other.enter(0, 2), owner.inside(0)]).toEqual([true, 1]);
});
