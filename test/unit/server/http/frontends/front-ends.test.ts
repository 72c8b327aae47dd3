// What the owner makes of the answers of all front-ends, without their threads.
import { expect, it, vi } from "vitest";
import { createLogger } from "../../../../../server/ground/log.js";
import { FrontEnds, type FrontEndsOptions } from "../../../../../server/http/frontends/front-ends.js";

/** The answers of the front-ends to come; null if the thread ends before it answers. */
const answers: (number | null)[] = [];

vi.mock("../../../../../server/http/frontends/front-end-life.js", () => ({
  FrontEndLife: class {
    readonly listening = Promise.resolve();
    readonly gone = Promise.resolve();
    readonly #answer = answers.shift()!;
    readonly ended = this.#answer === null;
    readonly channel = {
      tell: () => undefined,
      ask: async () => {
        if (this.#answer === null) throw new Error("the thread has ended");
        return this.#answer;
      },
    };
  },
}));

it("adds up the queries that the front-ends have answered", async () => {
  answers.push(3, null, 40);
  const frontEnds = new FrontEnds({ shardHangMsMax: 60_000 }, createLogger("fatal"));
  const listener = await frontEnds.start({
    count: answers.length,
    dataOf: () => ({}),
    config: { port: 7700, trustProxy: {}, ai: {} },
    answersOf: () => ({}),
    shards: 0,
    pulse: { beats: () => 0 },
  } as unknown as FrontEndsOptions);
  expect(await frontEnds.warmUp({ uid: 1, documents: 1_000, queriesMax: 50, msMax: 200 })).toBe(43);
  await listener.close();
});
