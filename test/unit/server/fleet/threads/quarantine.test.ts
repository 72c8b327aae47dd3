// Which reads are suspected of crashing a shard, which are refused, and when suspicions expire.
import { pino } from "pino";
import { afterEach, describe, expect, it, vi } from "vitest";
import { subjectOf } from "../../../../../server/fleet/shard-reader.js";
import type { Subject } from "../../../../../server/fleet/threads/isolation.js";
import { Quarantine } from "../../../../../server/fleet/threads/quarantine.js";
import { ShardEndedError } from "../../../../../server/fleet/threads/shard-errors.js";
import { ShardGate } from "../../../../../server/fleet/threads/shard-gate.js";
import { makeRecord } from "../../record.js";

const log = pino({ level: "silent" });
let life = 0;
const ends = (number: number) => (): Promise<never> =>
  Promise.reject(new ShardEndedError("ended", { life: number, cause: undefined }));
/** Rejects as if the shard's thread had ended. Each call stands for the end of a different thread. */
const ended = (): Promise<never> => ends(++life)();
const answer = async (alone: boolean): Promise<boolean> => alone;
const INDEX = { record: makeRecord() };
const read = (text: string) => subjectOf("search", INDEX, { text });

/** Runs a read as ThreadReader would. */
async function run<T>(
  quarantine: Quarantine,
  subject: Subject,
  send: (alone: boolean) => Promise<T>,
): Promise<T> {
  const alone = await quarantine.enter(subject);
  let failure: unknown = null;
  try {
    return await send(alone);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    quarantine.leave(subject, alone, failure);
  }
}

afterEach(() => vi.restoreAllMocks());

describe("quarantine", () => {
  it("clears a read that succeeds alone and refuses one that ends the shard again", async () => {
    const quarantine = new Quarantine(0, new ShardGate(1, 2), log);
    const both = [run(quarantine, read("a"), ended), run(quarantine, read("b"), ended)];
    for (const one of both) await expect(one).rejects.toThrow("ended");
    expect(await run(quarantine, read("c"), answer)).toBe(false);
    expect(await run(quarantine, read("b"), answer)).toBe(true);
    expect(await run(quarantine, read("b"), answer)).toBe(false);
    await expect(run(quarantine, read("a"), ended)).rejects.toThrow("ended");
    await expect(run(quarantine, read("a"), answer)).rejects.toMatchObject({ code: "SK-SE-503" });
  });

  it("tries a suspect with no other read in progress", async () => {
    const quarantine = new Quarantine(0, new ShardGate(1, 2), log);
    await expect(run(quarantine, read("a"), ended)).rejects.toThrow("ended");
    const sent: string[] = [];
    let leave = (): void => undefined;
    const staying = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const note = (name: string, stay: Promise<void>) => (): Promise<void> => {
      sent.push(name);
      return stay;
    };
    const before = run(quarantine, read("b"), note("b", staying));
    const suspect = run(quarantine, read("a"), note("a", Promise.resolve()));
    await new Promise(setImmediate);
    const after = run(quarantine, read("c"), note("c", Promise.resolve()));
    await new Promise(setImmediate);
    expect(sent).toEqual(["b"]);
    leave();
    await Promise.all([before, suspect, after]);
    expect(sent).toEqual(["b", "a", "c"]);
    expect(await run(quarantine, read("b"), answer)).toBe(false);
  });

  it("does not refuse a suspect when a different read ends the shard", async () => {
    const quarantine = new Quarantine(0, new ShardGate(1, 2), log);
    const first = [run(quarantine, read("killer"), ends(1)), run(quarantine, read("popular"), ends(1))];
    for (const one of first) await expect(one).rejects.toThrow("ended");
    let end = (): void => undefined;
    const killed = new Promise<never>((_, reject) => {
      end = () => reject(new ShardEndedError("ended", { life: 2, cause: undefined }));
    });
    const second = run(quarantine, read("another killer"), () => killed);
    let alive = true;
    const popular = run(quarantine, read("popular"), () => (alive ? killed : answer(true)));
    await new Promise(setImmediate);
    alive = false;
    end();
    await expect(second).rejects.toThrow("ended");
    expect(await popular).toBe(true);
    expect(await run(quarantine, read("popular"), answer)).toBe(false);
  });

  it("counts each end of a shard once, however often the read was in progress", async () => {
    const quarantine = new Quarantine(0, new ShardGate(1, 2), log);
    const copies = Array.from({ length: 5 }, () => run(quarantine, read("a"), ends(1)));
    for (const copy of copies) await expect(copy).rejects.toThrow("ended");
    expect(await run(quarantine, read("a"), answer)).toBe(true);
    expect(await run(quarantine, read("a"), answer)).toBe(false);
  });

  it("counts every broken engine", async () => {
    const quarantine = new Quarantine(0, new ShardGate(1, 2), log);
    const broken = (): Promise<never> =>
      Promise.reject(new ShardEndedError("broken", { life: null, cause: undefined }));
    for (let time = 0; time < 2; time++)
      await expect(run(quarantine, read("a"), broken)).rejects.toThrow("broken");
    await expect(run(quarantine, read("a"), answer)).rejects.toThrow("refused");
  });

  it("forgets after ten minutes", async () => {
    const now = vi.spyOn(performance, "now").mockReturnValue(0);
    const quarantine = new Quarantine(0, new ShardGate(1, 2), log);
    for (let time = 0; time < 2; time++)
      await expect(run(quarantine, read("a"), ended)).rejects.toThrow("ended");
    now.mockReturnValue(599_000);
    await expect(run(quarantine, read("a"), answer)).rejects.toMatchObject({ retryAfter: 1 });
    now.mockReturnValue(600_001);
    expect(await run(quarantine, read("a"), answer)).toBe(false);
  });

  it("recognises a filter by its bytes", () => {
    const filtered = (...bytes: number[]) => subjectOf("search", INDEX, { filter: Buffer.from(bytes) })();
    expect(filtered(1, 0, 0)).toBe(subjectOf("search", INDEX, { filter: new Uint8Array([1, 0, 0]) })());
    expect(filtered(1, 0, 0)).not.toBe(filtered(1, 0, 8));
    expect(filtered(...Array<number>(3_000).fill(0)).length).toBeLessThan(4_100);
  });

  it("recognises a repeated read even if its weights have changed", () => {
    expect(subjectOf("search", INDEX, { term: "a", boost: 0.5 })()).toBe(
      subjectOf("search", INDEX, { term: "a", boost: 0.7 })(),
    );
  });
});
