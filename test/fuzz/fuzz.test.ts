// Replays every past finding of the fuzzers, stored in regressions/. Also runs each target briefly from a
// fixed seed, to make sure that the targets themselves still work. `npm run fuzz` is the long version.
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadEngine } from "../../engine-wasm/host/instance/engine-files.js";
import { brokenAssertions } from "../broken-assertions.js";
import { effort } from "../effort.js";
import { Canary } from "./canary.js";
import { fuzz, problemOf } from "./run.js";
import type { Target } from "./target.js";
import { TARGETS } from "./targets.js";

const FOLDER = new URL("./regressions/", import.meta.url);
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
const CASES = effort(50, 100);
const MS_MAX = 60_000; // for busy machines; on an idle machine all cases take a second or two

interface Regression {
  target: string;
  input: string;
}

const regressions = FILES.map((name) => ({
  name,
  ...(JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as Regression),
}));

describe.each(Object.keys(TARGETS))("%s", (name) => {
  let target: Target;
  beforeAll(async () => {
    target = await TARGETS[name]!();
  });
  afterAll(() => target.close());

  for (const { name: file, input } of regressions.filter((one) => one.target === name)) {
    test(`regression ${file}`, async () => {
      expect(await problemOf(target, Buffer.from(input, "base64"))).toBeNull();
    });
  }

  test("a short run finds nothing", async () => {
    const { cases, failures } = await fuzz(target, {
      seed: 1,
      casesMax: target.casesInTests ?? CASES,
      msMax: target.casesInTests === undefined ? MS_MAX : Number.POSITIVE_INFINITY,
      failuresMax: 1,
    });
    expect(failures.map(({ why }) => why)).toEqual([]);
    expect(cases).toBeGreaterThan(10);
  });
});

describe("the canary notices", () => {
  const bytes = Uint8Array.of(1, 2, 3);

  test("a write outside the input", async () => {
    const canary = new Canary(await loadEngine("checked"), (place) => place(bytes));
    const write = (): unknown =>
      canary.both("a kernel", (guarded) =>
        guarded.ask(() => {
          guarded.instance.view()[guarded.held + 300] = 1;
          return -1;
        }, bytes),
      );
    expect(write).toThrow("wrote outside its memory");
  });

  test("a read beyond the input", async () => {
    const canary = new Canary(await loadEngine("checked"), () => undefined);
    // A kernel that reads past its input: it hashes one byte too many.
    const read = (): unknown =>
      canary.ask("hash", (kernels, p, length) => (kernels.hash(p, length + 1) % 2n === 0n ? -1 : -2), bytes);
    expect(read).toThrow("depends on bytes outside");
  });

  test("an unknown status and a trap", async () => {
    const canary = new Canary(await loadEngine("checked"), () => undefined);
    expect(() => canary.ask("a kernel", () => -200, bytes)).toThrow("unknown status");
    const trap = (): unknown => canary.ask("a kernel", (kernels) => kernels.checkSegment(-16, 64), bytes);
    const printed = await brokenAssertions(() => expect(trap).toThrow("trap"));
    expect(printed).toMatch(/assertion failed: an address lies inside what the arena has given out/);
  });
});
