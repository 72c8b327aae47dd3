// Which uses of keys are reported to the owner.
import { expect, test } from "vitest";
import { UsedKeys } from "../../../../../../server/http/frontends/thread/used-keys.js";

const DAY_MS = 86_400_000;

test("each key is reported once a day", () => {
  const told: [number, number][] = [];
  const keys = new UsedKeys((keyId, nowMs) => told.push([keyId, nowMs]));
  const day = 20_000 * DAY_MS;
  for (const nowMs of [day, day + 1, day + DAY_MS - 1])
    for (const keyId of [1, 2, 1]) keys.used(keyId, nowMs);
  expect(told).toEqual([
    [1, day],
    [2, day],
  ]);
  keys.used(2, day + DAY_MS);
  keys.used(2, day + DAY_MS + 5);
  expect(told.slice(2)).toEqual([[2, day + DAY_MS]]);
});
