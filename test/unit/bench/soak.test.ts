// The soak's verdict: what counts as growth and what does not.
import { expect, test } from "vitest";
import { chartLine, judge, type Sample } from "../../../bench/soak/verdict.js";

function samples(resident: (i: number) => number, handles: (i: number) => number): Sample[] {
  return Array.from({ length: 40 }, (_, i) => ({
    seconds: i,
    residentMiB: resident(i),
    handles: handles(i),
    p50: 1,
    p99: 2,
    queries: 10,
  }));
}

test("a server that warms up and then levels off counts as steady, peaks included", () => {
  const warming = samples(
    (i) => (i < 10 ? 100 + 20 * i : i % 9 === 0 ? 900 : 300),
    (i) => 50 + (i % 7),
  );
  expect(judge(warming, 0).problems).toEqual([]);
});

test("growing memory, growing handles and failed requests are reported", () => {
  expect(
    judge(
      samples(
        (i) => 200 + 5 * i,
        () => 50,
      ),
      0,
    ).problems.join(),
  ).toMatch(/memory grew from 275 to 375/);
  expect(
    judge(
      samples(
        () => 200,
        (i) => 50 + i,
      ),
      0,
    ).problems.join(),
  ).toMatch(/handles grew/);
  expect(
    judge(
      samples(
        () => 200,
        () => 50,
      ),
      3,
    ).problems,
  ).toEqual(["3 requests failed"]);
});

test("draws low and high values", () => {
  expect(chartLine("x", [1, 2, 3])).toBe("x              ▁▅█ 1.0 .. 3.0");
  expect(chartLine("x", [5, 5])).toBe("x              ▁▁ 5.0 .. 5.0");
});
