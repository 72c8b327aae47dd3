// The state that a front-end publishes, as another thread sees it.
import { expect, test } from "vitest";
import { Pulse } from "../../../../../server/http/frontends/pulse.js";

test("each place has its own beats and read, in shared memory", () => {
  const owner = new Pulse(3);
  const [one, other] = [new Pulse(3, owner.shared), new Pulse(3, owner.shared)];
  one.beat(1);
  one.beat(1);
  other.beat(2);
  expect([0, 1, 2].map((place) => owner.beats(place))).toEqual([0, 2, 1]);
  one.reads(1, 77);
  other.reads(2, 2 ** 32 - 1);
  expect([0, 1, 2].map((place) => owner.reading(place))).toEqual([null, 77, 2 ** 32 - 1]);
  one.reads(1, null);
  expect([owner.reading(1), owner.reading(2)]).toEqual([null, 2 ** 32 - 1]);
});
