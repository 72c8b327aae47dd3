// The life of a request: its first end counts, everybody who takes part is told once, and work is given up.
import { expect, test } from "vitest";
import { RequestLife, TimeLimit } from "../../../../../server/ground/jobs/request-life.js";

const left = new Error("left");

function limitOf(ms: number): TimeLimit {
  return new TimeLimit(ms, () => new Error("late"));
}

test("a life tells its members once, and later ones at once", () => {
  const life = new RequestLife();
  const told: string[] = [];
  const member = (name: string) => ({
    lifeEnded: ({ message }: Error) => void told.push(`${name}: ${message}`),
  });
  const gone = member("gone");
  life.join(member("first"));
  life.join(gone);
  life.leave(gone);
  expect(life.over).toBe(false);
  life.check();
  life.end(left);
  life.end(new Error("too late"));
  life.join(member("late"));
  expect(told).toEqual(["first: left", "late: left"]);
  expect(life.reason).toBe(left);
  expect(() => life.check()).toThrow("left");
});

test("a life gives up work that nobody wants, and passes on what comes in time", async () => {
  const life = new RequestLife();
  expect(await life.whileWanted(Promise.resolve(1))).toBe(1);
  await expect(life.whileWanted(Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  const endless = life.whileWanted(new Promise(() => undefined));
  life.end(left);
  await expect(endless).rejects.toBe(left);
  await expect(life.whileWanted(new Promise(() => undefined))).rejects.toBe(left);
});

test("a life ends when its time is over", async () => {
  const life = new RequestLife();
  const before = Date.now();
  life.limit(limitOf(5));
  expect(life.deadline).toBeGreaterThanOrEqual(before + 5);
  await expect(life.whileWanted(new Promise(() => undefined))).rejects.toThrow("late");
  const ended = new RequestLife();
  ended.end(left);
  ended.limit(limitOf(0));
  expect(ended.deadline).toBe(Number.POSITIVE_INFINITY);
});

test("a life releases what is held only at its end, once, and a part of it at the same time or earlier", async () => {
  const life = new RequestLife();
  const [part, ended] = [life.part(), life.part()];
  const released: string[] = [];
  const held = (name: string) => ({ release: (amount: number) => void released.push(`${name} ${amount}`) });
  life.hold(held("life"));
  part.hold(held("part"), 2);
  ended.hold(held("ended part"));
  ended.end(left);
  life.limit(limitOf(1));
  await expect(part.whileWanted(new Promise(() => undefined))).rejects.toThrow("late");
  expect(life.over).toBe(true);
  expect(released).toEqual(["ended part 1"]);
  life.end(left);
  life.end(left);
  expect(released.toSorted()).toEqual(["ended part 1", "life 1", "part 2"]);
  life.hold(held("too late"), 3);
  expect(released).toContain("too late 3");
});

test("lives under one limit end in their order, whichever of them have ended before", async () => {
  const limit = limitOf(20);
  const lives = Array.from({ length: 5 }, () => new RequestLife());
  const late: number[] = [];
  for (const [i, life] of lives.entries()) {
    life.limit(limit);
    life.join({ lifeEnded: ({ message }) => void (message === "late" && late.push(i)) });
  }
  for (const i of [0, 2, 4]) lives[i]!.end(left);
  const next = new RequestLife();
  next.limit(limit);
  await expect(next.whileWanted(new Promise(() => undefined))).rejects.toThrow("late");
  expect(late).toEqual([1, 3]);
  const again = new RequestLife();
  again.limit(limit);
  await expect(again.whileWanted(new Promise(() => undefined))).rejects.toThrow("late");
});

test("a limit longer than a timer can wait ends no life early", async () => {
  const life = new RequestLife();
  life.limit(limitOf(2 ** 40));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(life.over).toBe(false);
  life.end(left);
});
