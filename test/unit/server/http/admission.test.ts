// Admission by memory: what fits begins at once, the rest waits in its tenant's line, nobody is kept out for
// good, and whatever ends releases what it held.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RequestLife } from "../../../../server/ground/jobs/request-life.js";
import { DEFAULT_LIMITS } from "../../../../server/ground/limits.js";
import { Admission } from "../../../../server/http/admission.js";
import { effort } from "../../../effort.js";

const GONE = new Error("gone");
const LIMITS = { ...DEFAULT_LIMITS, workBytesMax: 100, requestsInFlightMax: 4, searchMsMax: 600_000 };

/** A request that wants memory, and whether it has been admitted. */
function request(admission: Admission, tenant: number, bytes: number, keyId: number | null = null) {
  const life = new RequestLife();
  const asked = { life, tenant, bytes, state: "waiting" as "waiting" | "admitted" | "refused" };
  const waits = admission.reserve({ tenant, keyId }, life, bytes);
  if (waits === undefined) asked.state = "admitted";
  else
    void waits.then(
      () => (asked.state = "admitted"),
      () => (asked.state = "refused"),
    );
  return asked;
}

/** Lets promises settle. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("admission", () => {
  test("gives a tenant half of the memory, and the other half to others", async () => {
    const admission = new Admission(LIMITS);
    const [a, b] = [request(admission, 1, 30), request(admission, 1, 30)];
    const other = request(admission, 2, 50);
    expect([a.state, b.state, other.state]).toEqual(["admitted", "waiting", "admitted"]);
    a.life.end(GONE);
    await settle();
    expect(b.state).toBe("admitted");
    expect(admission.bytes).toBe(80);
    b.life.end(GONE);
    other.life.end(GONE);
    expect(admission.bytes).toBe(0);
  });

  test("admits a request larger than a tenant's share when the tenant has nothing else", async () => {
    const admission = new Admission(LIMITS);
    const small = request(admission, 1, 1);
    const large = request(admission, 1, 1_000);
    expect(large.state).toBe("waiting");
    small.life.end(GONE);
    await settle();
    expect(large.state).toBe("admitted");
    expect(admission.bytes).toBe(50);
  });

  test("lets no small request overtake a large one for good", async () => {
    const admission = new Admission(LIMITS);
    const [a, b, c] = [request(admission, 1, 40), request(admission, 2, 40), request(admission, 3, 15)];
    const large = request(admission, 4, 50);
    const small = request(admission, 5, 5);
    c.life.end(GONE);
    await settle();
    expect([large.state, small.state]).toEqual(["waiting", "waiting"]);
    a.life.end(GONE);
    await settle();
    expect([large.state, small.state]).toEqual(["admitted", "admitted"]);
    b.life.end(GONE);
  });

  test("admits nobody whose client leaves together with the one that made room", async () => {
    const admission = new Admission(LIMITS);
    const leaving = Array.from({ length: 20 }, () => request(admission, 1, 40));
    const staying = request(admission, 1, 40);
    for (const { life } of leaving) {
      life.end(GONE);
      for (let tick = 0; tick < 10; tick++) await Promise.resolve();
    }
    expect(leaving.map(({ state }) => state)).toEqual(["admitted", ...new Array(19).fill("refused")]);
    await settle();
    expect(staying.state).toBe("admitted");
    expect(admission.bytes).toBe(40);
  });

  test("lets a tenant's keys take turns", async () => {
    const admission = new Admission(LIMITS);
    const first = request(admission, 1, 50, 1);
    const flood = [0, 1, 2].map(() => request(admission, 1, 50, 1));
    const visitor = request(admission, 1, 50, 2);
    first.life.end(GONE);
    await settle();
    expect(flood.map(({ state }) => state)).toEqual(["admitted", "waiting", "waiting"]);
    flood[0]!.life.end(GONE);
    await settle();
    expect([visitor.state, flood[1]!.state]).toEqual(["admitted", "waiting"]);
  });
});

describe("admission of requests that leave, wait too long or end in any order", () => {
  test("forgets a client that leaves the line, and admits those behind it", async () => {
    const admission = new Admission(LIMITS);
    const [a, b] = [request(admission, 1, 50), request(admission, 2, 40)];
    const large = request(admission, 3, 50);
    const small = request(admission, 4, 5);
    a.life.end(GONE);
    b.life.end(GONE);
    await settle();
    expect([large.state, small.state]).toEqual(["admitted", "admitted"]);
    const [waiting, behind] = [request(admission, 5, 50), request(admission, 6, 1)];
    expect([waiting.state, behind.state]).toEqual(["waiting", "waiting"]);
    waiting.life.end(GONE);
    await settle();
    expect([waiting.state, behind.state]).toEqual(["refused", "admitted"]);
  });

  test("refuses what has waited too long, with the time to try again", async () => {
    const admission = new Admission({ ...LIMITS, searchMsMax: 10 });
    const held = request(admission, 1, 50);
    const late = admission.reserve({ tenant: 1, keyId: 1 }, new RequestLife(), 10);
    await expect(late).rejects.toMatchObject({ code: "SK-SYS-503", retryAfter: 1 });
    held.life.end(GONE);
    expect(admission.bytes).toBe(0);
    expect(request(admission, 1, 50).state).toBe("admitted");
  });

  test("holds the memory of a reply that its client takes slowly after the request's time", async () => {
    const admission = new Admission(LIMITS);
    const slow = request(admission, 1, 50);
    const waiting = request(admission, 1, 50);
    slow.life.expire(new Error("late"));
    await settle();
    expect([admission.bytes, waiting.state]).toEqual([50, "waiting"]);
    slow.life.end(GONE);
    await settle();
    expect(waiting.state).toBe("admitted");
    waiting.life.end(GONE);
    expect(admission.bytes).toBe(0);
  });

  test("limits a tenant's requests in flight", () => {
    const admission = new Admission(LIMITS);
    const lives = [1, 2].map(() => new RequestLife());
    for (const life of lives) admission.begin(1, life);
    const more = () => admission.begin(1, new RequestLife());
    expect(more).toThrow(expect.objectContaining({ code: "SK-SYS-429", retryAfter: 1 }));
    admission.begin(2, new RequestLife());
    lives[0]!.end(GONE);
    expect(more).not.toThrow();
    expect(more).toThrow("too many requests in flight");
  });

  test("in any order of requests and ends: no limit is exceeded, and everybody is admitted eventually", async () => {
    const step = fc.oneof(
      fc.record({ tenant: fc.integer({ min: 1, max: 3 }), bytes: fc.integer({ min: 0, max: 70 }) }),
      fc.record({ end: fc.nat() }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const admission = new Admission(LIMITS);
        const alive: ReturnType<typeof request>[] = [];
        const check = (): void => {
          const held = alive.filter(({ state }) => state === "admitted");
          const bytesOf = (some: typeof held) =>
            some.reduce((sum, { bytes }) => sum + Math.min(bytes, 50), 0);
          expect(bytesOf(held)).toBe(admission.bytes);
          expect(admission.bytes).toBeLessThanOrEqual(100);
          for (const tenant of [1, 2, 3])
            expect(bytesOf(held.filter((one) => one.tenant === tenant))).toBeLessThanOrEqual(50);
        };
        for (const one of steps) {
          if ("bytes" in one) alive.push(request(admission, one.tenant, one.bytes));
          else if (alive.length > 0) alive.splice(one.end % alive.length, 1)[0]!.life.end(GONE);
          await settle();
          check();
        }
        while (alive.length > 0) {
          const next = alive.findIndex(({ state }) => state === "admitted");
          expect(next).toBeGreaterThanOrEqual(0);
          alive.splice(next, 1)[0]!.life.end(GONE);
          await settle();
          check();
        }
        expect(admission.bytes).toBe(0);
      }),
      { numRuns: effort(100, 2_000) },
    );
  });
});
