// A lane runs its tasks one at a time and in order, and continues after failures.
import { expect, test } from "vitest";
import { Lane } from "../../../../engine-wasm/host/runtime/lane.js";

test("a lane runs one task at a time, in order of arrival, also after a failed one", async () => {
  const lane = new Lane();
  const seen: string[] = [];
  const task =
    (name: string, fails = false) =>
    async () => {
      seen.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const first = lane.run(task("first"));
  const second = lane.run(task("second", true));
  const third = lane.run(task("third"));
  expect(lane.size).toBe(3);

  await expect(first).resolves.toBe("first");
  await expect(second).rejects.toThrow("second");
  await expect(third).resolves.toBe("third");
  expect(lane.size).toBe(0);
  expect(seen).toEqual(["first", "second", "third"].flatMap((name) => [`${name} begins`, `${name} ends`]));
});

test("a lane becomes idle when its current tasks have ended, and does not rethrow their errors", async () => {
  const lane = new Lane();
  let ended = false;
  const task = lane.run(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    ended = true;
    throw new Error("the task failed");
  });
  const failed = expect(task).rejects.toThrow("the task failed");
  await lane.idle();
  expect(ended).toBe(true);
  await failed;
});
