// Tests access rights and visibility with random stories of tenants, keys, search tokens, plans, restarts and
// kills: the server must answer like a model written from the documentation (test/oracle/access.ts).
// SKEIN_PROPERTY_SEED repeats a run.
import fc from "fast-check";
import { afterAll, test } from "vitest";
import { ServerClock } from "../../e2e/sources/server-clock.js";
import { sharedServer } from "../../e2e/world/shared-server.js";
import { effort } from "../../effort.js";
import { GROUPS } from "../../oracle/access.js";
import { SEED } from "../seed.js";
import { STEPS, type Step } from "./steps.js";
import { INDEXES, PLANS, Story } from "./story.js";

const RUNS = Number(process.env.SKEIN_PROPERTY_RUNS ?? effort(6, 500));
const timeout = effort(300_000, 86_400_000);
const STEPS_MAX = 150;
/** Every key and token that expires does so within this many hours. */
const HOURS_MAX = 40;

/** Relative frequency of each kind of step. */
const WEIGHTS: Readonly<Record<Step["kind"], number>> = {
  makeTenant: 1,
  deleteTenant: 1,
  setPlan: 3,
  makeKey: 30,
  patchKey: 20,
  rotateKey: 15,
  deleteKey: 8,
  makeToken: 20,
  turnClock: 6,
  restart: 1,
  search: 30,
  multiSearch: 12,
  suggest: 12,
  similar: 8,
  getDocument: 12,
  listIndexes: 8,
  listKeys: 8,
  patchSettings: 8,
  dropIndex: 2,
};

const kinds = Object.entries(WEIGHTS) as [Step["kind"], number][];
const pick = fc.nat({ max: 100_000 });
const some = <T>(list: readonly T[], maxLength = list.length) =>
  fc.subarray([...list], { minLength: 1, maxLength });
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(...kinds.map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind) }))),
  who: pick,
  what: pick,
  index: fc.constantFrom(...INDEXES, "none"),
  scopes: fc.oneof(
    fc.constant(["admin"]),
    some(["search", "events", "documents", "indexes", "keys"]),
    some(["search", "indexes", "keys", "rules"], 2).map((scopes) => [
      "keys",
      ...scopes.filter((one) => one !== "keys"),
    ]),
  ),
  patterns: fc.oneof(fc.constant(["*"]), some(["*", "shop", "sh*", "*o*", "blog", "b*g"], 3)),
  groups: some(GROUPS),
  hours: fc.option(fc.nat({ max: HOURS_MAX })),
  flag: fc.boolean(),
});

const clock = new ServerClock();
const start = (run: number): number => Date.UTC(2031 + run, 4, 10, 12);
clock.set(new Date(start(0)).toISOString());
afterAll(() => clock.remove());
const server = sharedServer({
  shards: 1,
  env: clock.env,
  config: {
    plans: Object.entries(PLANS).map(([name, searches]) => ({ name, searches_per_month: searches })),
    limits: { failedKeysPerSecondMax: 1_000_000 },
  },
  quiet: true,
});

test("the server answers as documented", { timeout }, async () => {
  let run = 0;
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 20, maxLength: STEPS_MAX, size: "max" }),
    async (steps) => {
      run++;
      const story = new Story(server, clock, `run${run}`, start(run));
      await story.makeTenant("default");
      await story.makeTenant("few");
      for (const one of steps) await STEPS[one.kind](story, one);
      await story.askAll();
      story.turn(HOURS_MAX + 1);
      await story.askAll();
    },
  );
  await fc.assert(property, { numRuns: RUNS, seed: SEED });
});
