// The budget for work that may turn out to be wasted.
import { expect, test } from "vitest";
import { LossBudget } from "../../../../../server/fleet/local/loss-budget.js";

test("a twentieth of the successful work may be lost, and 25 ms before any succeeded", () => {
  const budget = new LossBudget();
  let lost = 0;
  while (budget.lose(5)) lost += 5;
  expect(lost).toBe(25);
  budget.succeeded(99);
  expect(budget.lose(5)).toBe(false);
  budget.succeeded(2);
  expect([budget.lose(5), budget.lose(5)]).toEqual([true, false]);
});

test("long work without a loss saves up no more than 25 ms", () => {
  const budget = new LossBudget();
  budget.succeeded(1e6);
  expect([budget.lose(25.1), budget.lose(25), budget.lose(0.1)]).toEqual([false, true, false]);
});
