// The life of a request: its first end counts, everybody who takes part is told once, and work is given up.
import { expect, test } from "vitest";
import { RequestLife } from "../../../../../server/ground/jobs/request-life.js";

const left = new Error("left");

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
  life.limit(5, () => new Error("late"));
  expect(life.deadline).toBeGreaterThanOrEqual(before + 5);
  await expect(life.whileWanted(new Promise(() => undefined))).rejects.toThrow("late");
  const ended = new RequestLife();
  ended.end(left);
  ended.limit(0, () => new Error("late"));
  expect(ended.deadline).toBe(Number.POSITIVE_INFINITY);
});

test("a life releases what is held only at its end, once, and a part of it at the same time or earlier", async () => {
  const life = new RequestLife();
  const [part, ended] = [life.part(), life.part()];
  const released: string[] = [];
  life.hold(() => released.push("life"));
  part.hold(() => released.push("part"));
  ended.hold(() => released.push("ended part"));
  ended.end(left);
  life.limit(1, () => new Error("late"));
  await expect(part.whileWanted(new Promise(() => undefined))).rejects.toThrow("late");
  expect(life.over).toBe(true);
  expect(released).toEqual(["ended part"]);
  life.end(left);
  life.end(left);
  expect(released.toSorted()).toEqual(["ended part", "life", "part"]);
  life.hold(() => released.push("too late"));
  expect(released).toContain("too late");
});
