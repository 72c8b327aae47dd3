// The list of responses to a multi-search: order, failures in their own searches' slots, bounded memory,
// limited concurrency.
import { describe, expect, it } from "vitest";
import { SkeinError } from "../../../../server/ground/errors.js";
import { DEFAULT_LIMITS, type Limits } from "../../../../server/ground/limits.js";
import { multiSearch, type SearchSlot, SLOTS_AHEAD } from "../../../../server/search/multi-search.js";

const asError = (error: unknown): SkeinError =>
  error instanceof SkeinError ? error : new SkeinError("SK-SYS-500", "unforeseen");
const wanted = (): void => undefined;
const bytes = (json: string): Uint8Array => new TextEncoder().encode(json);

async function results(slots: SearchSlot[], limits: Partial<Limits> = {}): Promise<unknown[]> {
  const pieces: Uint8Array[] = [];
  const answers = multiSearch(slots, { ...DEFAULT_LIMITS, ...limits }, asError, wanted);
  for await (const piece of answers) pieces.push(piece);
  const json = Buffer.concat(pieces).toString();
  return (JSON.parse(json) as { data: { results: unknown[] } }).data.results;
}

describe("multi-search", () => {
  it("keeps the order of the slots, whichever ends first, and a failure in its place", async () => {
    const slow = new Promise<Uint8Array>((resolve) => setTimeout(() => resolve(bytes('{"a":1}')), 20));
    const slots: SearchSlot[] = [
      () => slow,
      () => Promise.reject(new SkeinError("SK-SE-400", "wrong", { details: { position: 1 } })),
      () => Promise.reject(new Error("a secret")),
      async () => bytes('{"b":"é"}'),
    ];
    expect(await results(slots)).toEqual([
      { a: 1 },
      { error: "wrong", code: "SK-SE-400", details: { position: 1 } },
      { error: "unforeseen", code: "SK-SYS-500" },
      { b: "é" },
    ]);
    expect(await results([])).toEqual([]);
  });

  it("runs a few slots ahead of the one that is sent next, and none for a client that has left", async () => {
    const answer: (() => void)[] = [];
    const slot: SearchSlot = () => new Promise((resolve) => answer.push(() => resolve(bytes("1"))));
    const pieces = multiSearch(new Array(20).fill(slot), DEFAULT_LIMITS, asError, wanted);
    const first = pieces.next();
    expect(answer).toHaveLength(SLOTS_AHEAD);
    answer[1]!();
    answer[0]!();
    await first;
    expect(answer).toHaveLength(SLOTS_AHEAD);
    await pieces.next();
    expect(answer).toHaveLength(SLOTS_AHEAD + 1);
    await pieces.return(undefined);
    answer[2]!();
    await Promise.resolve();
    expect(answer).toHaveLength(SLOTS_AHEAD + 1);
  });

  it("neither runs nor answers the remaining slots once nobody wants the reply", async () => {
    let [ran, isWanted] = [0, true];
    const slot: SearchSlot = async () => {
      ran++;
      return bytes("1");
    };
    const checkWanted = (): void => {
      if (!isWanted) throw new Error("gone");
    };
    const pieces = multiSearch(new Array(20).fill(slot), DEFAULT_LIMITS, asError, checkWanted);
    await pieces.next();
    isWanted = false;
    await expect(pieces.next()).rejects.toThrow("gone");
    expect(ran).toBe(SLOTS_AHEAD);
  });

  it("gives a slot that needs more than its share all the remaining room, one slot at a time", async () => {
    const asked: number[][] = [];
    const slotOf =
      (size: number): SearchSlot =>
      async (bytesMax, again) => {
        asked.push([size, bytesMax, Number(again)]);
        if (size > bytesMax) throw new SkeinError("SK-SE-413", "too large");
        return bytes(`"${"x".repeat(size - 2)}"`);
      };
    const slots = [10, 60, 40, 5].map(slotOf);
    const limits = { multiSearchReplyBytesMax: 120, replyBytesMax: 80 };
    const list = await results(slots, limits);
    expect(asked).toEqual([
      [10, 30, 0],
      [60, 30, 0],
      [40, 30, 0],
      [5, 30, 0],
      [60, 80, 1],
      [40, 50, 1],
    ]);
    expect(list.map((answer) => (answer as string).length + 2)).toEqual([10, 60, 40, 5]);
    const own = await results([slotOf(90), slotOf(40)], limits);
    expect(own).toMatchObject([{ code: "SK-SE-413", error: "too large" }, "x".repeat(38)]);
  });

  it("refuses slots that do not fit into one reply and runs nothing after them", async () => {
    let ran = 0;
    const slot: SearchSlot = async () => {
      ran++;
      return bytes(`"${"x".repeat(38)}"`);
    };
    const limits = { multiSearchReplyBytesMax: 100 };
    const refused = { code: "SK-SE-413", error: expect.stringContaining("100 bytes") };
    const list = await results(new Array(7).fill(slot), limits);
    expect(list.slice(0, 2)).toEqual(["x".repeat(38), "x".repeat(38)]);
    expect(list.slice(2)).toMatchObject(new Array(5).fill(refused));
    expect(ran).toBe(2 + SLOTS_AHEAD);
  });
});
