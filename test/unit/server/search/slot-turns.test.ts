// The searches of multi-searches: a limited number per tenant, keys in rotation, and none for a client that
// left.
import { expect, test } from "vitest";
import { RequestLife } from "../../../../server/ground/jobs/request-life.js";
import { SlotTurns } from "../../../../server/search/slot-turns.js";

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Turns for two searches at a time; `end` ends the one that has run longest. */
function world() {
  const turns = new SlotTurns(2);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const add = (tenant: number, key: number | null, name: string, life = new RequestLife()) =>
    turns.run(tenant, key, life, () => {
      begun.push(name);
      return life.whileWanted(new Promise<string>((resolve) => ends.push(() => resolve(name))));
    });
  const end = async (): Promise<void> => {
    ends.shift()!();
    await settle();
  };
  return { add, begun, end };
}

test("searches run in the order of arrival, those of different keys in rotation", async () => {
  const { add, begun, end } = world();
  for (const name of ["a1", "a2", "a3", "a4"]) void add(1, 1, name);
  void add(1, null, "b1");
  void add(2, 1, "other tenant");
  expect(begun).toEqual(["a1", "a2", "other tenant"]);
  for (let i = 0; i < 3; i++) await end();
  expect(begun.slice(3)).toEqual(["a3", "b1"]);
  await end();
  expect(begun.slice(5)).toEqual(["a4"]);
});

test("searches are not begun once nobody wants them, and pass their turn on", async () => {
  const { add, begun, end } = world();
  void add(1, 1, "a");
  void add(1, 1, "b");
  const life = new RequestLife();
  const left = add(1, 1, "left", life);
  void add(1, 1, "c");
  life.end(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  await end();
  expect(begun).toEqual(["a", "b", "c"]);
  await expect(add(2, 1, "over", life)).rejects.toThrow("gone");
  expect(begun).toEqual(["a", "b", "c"]);
  await settle();
  void add(2, 1, "d");
  void add(2, 1, "e");
  expect(begun.slice(3)).toEqual(["d", "e"]);
});

test("searches of a key whose clients have left do not count as its turns", async () => {
  const { add, begun, end } = world();
  void add(1, 1, "a1");
  void add(1, 1, "a2");
  const life = new RequestLife();
  for (let i = 0; i < 5; i++) void add(1, 1, "left", life).catch(() => undefined);
  for (const [key, name] of [
    [1, "a3"],
    [2, "b1"],
    [1, "a4"],
    [2, "b2"],
    [2, "b3"],
  ] as const)
    void add(1, key, name);
  life.end(new Error("gone"));
  for (let i = 0; i < 5; i++) await end();
  expect(begun).toEqual(["a1", "a2", "a3", "b1", "a4", "b2", "b3"]);
});

test("searches pass their turn on only after all clients that leave together have left", async () => {
  const { add, begun } = world();
  const lives = Array.from({ length: 20 }, () => new RequestLife());
  const left = lives.map((life, i) => add(1, 1, `left ${i}`, life).catch(() => "rejected"));
  void add(1, 1, "stays");
  for (const life of lives) {
    life.end(new Error("gone"));
    for (let tick = 0; tick < 10; tick++) await Promise.resolve();
  }
  expect(await Promise.all(left)).toEqual(lives.map(() => "rejected"));
  await settle();
  expect(begun).toEqual(["left 0", "left 1", "stays"]);
});
