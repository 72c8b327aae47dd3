// Which reads are taken for the cause of a shard's end, which are refused, and when they are forgotten.
import { pino } from "pino";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Quarantine, subjectOf } from "../../../../server/threads/quarantine.js";
import { ShardEndedError } from "../../../../server/threads/shard-errors.js";

const log = pino({ level: "silent" });
let life = 0;
const ends = (number: number) => (): Promise<never> =>
  Promise.reject(new ShardEndedError("ended", { life: number, cause: undefined }));
/** Of a life of its own. */
const ended = (): Promise<never> => ends(++life)();
const answer = async (alone: boolean): Promise<boolean> => alone;
const read = (text: string) => subjectOf("search", 1, { text });

afterEach(() => vi.restoreAllMocks());

describe("quarantine", () => {
  it("clears what answers alone and refuses what ends the shard again", async () => {
    const quarantine = new Quarantine(0, log);
    const both = [quarantine.run(read("a"), ended), quarantine.run(read("b"), ended)];
    for (const one of both) await expect(one).rejects.toThrow("ended");
    expect(await quarantine.run(read("c"), answer)).toBe(false);
    expect(await quarantine.run(read("b"), answer)).toBe(true);
    expect(await quarantine.run(read("b"), answer)).toBe(false);
    await expect(quarantine.run(read("a"), ended)).rejects.toThrow("ended");
    await expect(quarantine.run(read("a"), answer)).rejects.toMatchObject({ code: "SK-SE-503" });
  });

  it("does not blame what was inside with a suspect", async () => {
    const quarantine = new Quarantine(0, log);
    await expect(quarantine.run(read("a"), ended)).rejects.toThrow("ended");
    const suspect = quarantine.run(read("a"), ended);
    const bystander = quarantine.run(read("b"), async () => {
      await Promise.resolve();
      await Promise.resolve();
      return ended();
    });
    const results = await Promise.allSettled([suspect, bystander]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await quarantine.run(read("b"), answer)).toBe(false);
  });

  it("counts one end once, however often the read was inside", async () => {
    const quarantine = new Quarantine(0, log);
    const copies = Array.from({ length: 5 }, () => quarantine.run(read("a"), ends(1)));
    for (const copy of copies) await expect(copy).rejects.toThrow("ended");
    expect(await quarantine.run(read("a"), answer)).toBe(true);
    expect(await quarantine.run(read("a"), answer)).toBe(false);
  });

  it("counts every broken engine", async () => {
    const quarantine = new Quarantine(0, log);
    const broken = (): Promise<never> =>
      Promise.reject(new ShardEndedError("broken", { life: null, cause: undefined }));
    for (let time = 0; time < 2; time++)
      await expect(quarantine.run(read("a"), broken)).rejects.toThrow("broken");
    await expect(quarantine.run(read("a"), answer)).rejects.toThrow("refused");
  });

  it("forgets after ten minutes", async () => {
    const now = vi.spyOn(performance, "now").mockReturnValue(0);
    const quarantine = new Quarantine(0, log);
    for (let time = 0; time < 2; time++)
      await expect(quarantine.run(read("a"), ended)).rejects.toThrow("ended");
    now.mockReturnValue(599_000);
    await expect(quarantine.run(read("a"), answer)).rejects.toMatchObject({ retryAfter: 1 });
    now.mockReturnValue(600_001);
    expect(await quarantine.run(read("a"), answer)).toBe(false);
  });

  it("knows a repeated read although its weights have changed", () => {
    expect(subjectOf("search", 1, { term: "a", boost: 0.5 })()).toBe(
      subjectOf("search", 1, { term: "a", boost: 0.7 })(),
    );
  });
});
