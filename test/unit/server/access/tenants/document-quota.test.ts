// A tenant's writes under a quota: concurrent if all of them fit, otherwise one after another.
import { expect, test } from "vitest";
import { DocumentQuotas } from "../../../../../server/access/tenants/document-quota.js";

/** A pending write. `end` resolves `ended`. */
function heldBack(): { ended: Promise<void>; end: () => void } {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { ended, end };
}

test("writes that fit together run together, and other tenants' writes never wait", () => {
  const quotas = new DocumentQuotas(
    () => 3,
    () => 10,
  );
  const quota = quotas.of(1)!;
  const first = quota.enter(4);
  expect(first).not.toBeNull();
  expect(quota.enter(4)).toBeNull();
  expect(quotas.of(2)!.enter(7)).not.toBeNull();
  const second = quota.enter(3);
  expect(second).not.toBeNull();
  first!();
  expect(quota.enter(4)).not.toBeNull();
});

test("an exclusive write waits for earlier writes, delays later ones, and sees what earlier ones added", async () => {
  let documents = 0;
  const quota = new DocumentQuotas(
    () => documents,
    () => 10,
  ).of(1)!;
  const leave = quota.enter(6)!;
  const order: string[] = [];
  const held = heldBack();
  const alone = quota.alone(async (free) => {
    order.push(`alone ${free}`);
    await held.ended;
    documents += free;
  });
  expect(quota.enter(1)).toBeNull();
  const next = quota.alone(async (free) => order.push(`next ${free}`));
  await Promise.resolve();
  expect(order).toEqual([]);
  documents = 6;
  leave();
  held.end();
  await Promise.all([alone, next]);
  expect(order).toEqual(["alone 4", "next 0"]);
  documents = 5;
  expect(quota.enter(5)).not.toBeNull();
});

test("a failing exclusive write lets the next one proceed", async () => {
  const quota = new DocumentQuotas(
    () => 12,
    () => 10,
  ).of(1)!;
  await expect(quota.alone(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await quota.alone(async (free) => free)).toBe(0);
});
