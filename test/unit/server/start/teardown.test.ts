// The steps that shut a server down: each one is tried in its turn, and those that fail or take too long are
// named.
import { pino } from "pino";
import { expect, test } from "vitest";
import { Teardown } from "../../../../server/start/ground.js";

function world() {
  const lines: { step: string; err: { message: string } }[] = [];
  const teardown = new Teardown(pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) }));
  return { teardown, lines };
}

test("the steps run one after another, the last one first", async () => {
  const { teardown, lines } = world();
  const done: string[] = [];
  teardown.add("first", () => void done.push("first"));
  teardown.add("second", async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    done.push("second");
  });
  expect(await teardown.run()).toEqual([]);
  expect(done).toEqual(["second", "first"]);
  expect(lines).toEqual([]);
});

test("a step that throws, rejects or never ends is logged by name, and the next one runs", async () => {
  const { teardown, lines } = world();
  const done: string[] = [];
  teardown.add("last", () => void done.push("last"));
  teardown.add("throws", () => {
    throw new Error("now");
  });
  teardown.add("rejects", () => Promise.reject(new Error("later")));
  teardown.add("hangs", () => new Promise(() => undefined), 5);
  expect(await teardown.run()).toEqual(["hangs", "rejects", "throws"]);
  expect(done).toEqual(["last"]);
  expect(lines.map(({ step, err }) => `${step}: ${err.message}`)).toEqual([
    "hangs: it takes longer than 5 ms",
    "rejects: later",
    "throws: now",
  ]);
});

test("a step that fails after its time is over does no harm", async () => {
  const { teardown } = world();
  let fail: (error: Error) => void = () => undefined;
  teardown.add("late", () => new Promise<void>((_, reject) => (fail = reject)), 5);
  expect(await teardown.run()).toEqual(["late"]);
  fail(new Error("too late"));
  await new Promise((resolve) => setImmediate(resolve));
});

test("the time limit of all steps together is known", () => {
  const { teardown } = world();
  teardown.add("short", () => undefined, 20);
  teardown.add("long", () => undefined, 300);
  expect(teardown.msMax).toBe(320);
});
