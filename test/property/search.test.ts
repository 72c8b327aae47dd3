// Compares the server with the oracle: random schemas, settings, writes and queries, with 1, 2, 3 and 8
// shards. They must agree on documents, order, text_match, found, pages and facets, even during and after
// background merges and the spreading of an index over the shards, and after kill -9. SKEIN_PROPERTY_RUNS
// sets the number of stories, and SKEIN_PROPERTY_SEED repeats a run.
import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { effort } from "../effort.js";
import { Oracle } from "../oracle/engine.js";
import { Fleet } from "./fleet.js";
import { type Story, story } from "./generators.js";
import { SEED } from "./seed.js";

const RUNS = Number(process.env.SKEIN_PROPERTY_RUNS ?? effort(8, 800));
/** The long run, and a run with an explicit number of stories, have no time limit. */
const LIMITED = process.env.SKEIN_PROPERTY_RUNS === undefined && effort(true, false);
const STORIES_MS_MAX = LIMITED ? 150_000 : Number.POSITIVE_INFINITY;
const timeout = LIMITED ? 300_000 : 86_400_000;

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start();
});

afterAll(() => fleet.close());

function parameters(numRuns: number): fc.Parameters<[Story]> {
  return {
    numRuns,
    seed: SEED,
  };
}

/**
 * Skips stories that would begin too late, and lets running stories finish. If fast-check's own time limit
 * were used, a story could still be running during the next test.
 */
function inTime(tell: (story: Story) => Promise<void>): (story: Story) => Promise<void> {
  const end = performance.now() + STORIES_MS_MAX;
  return async (story) => {
    if (performance.now() < end) await tell(story);
  };
}

describe("the server answers like the oracle", () => {
  test("after any writes, for any query and number of shards", { timeout }, async () => {
    const property = fc.asyncProperty(
      story(10, 8, 20),
      inTime(async ({ schema, settings, writes, changes, queries }) => {
        const index = await fleet.createIndex(schema, settings);
        const oracle = new Oracle(schema, settings);
        for (const write of writes) await fleet.applyWrite(index, oracle, write);
        const early = Math.ceil(changes.length / 2);
        for (const change of changes.slice(0, early)) await fleet.applyChange(index, oracle, change);
        await fleet.compareQueries(index, oracle, queries);
        for (const [i, change] of changes.slice(early).entries()) {
          await fleet.applyChange(index, oracle, change);
          await fleet.compareQueries(index, oracle, queries.slice(i, i + 4));
        }
        await fleet.compareDocuments(index, oracle);
        await fleet.dropIndex(index);
      }),
    );
    await fc.assert(property, parameters(RUNS));
    await fleet.compareWasRemembered();
  });

  test("while and after segments are merged and the index is spread", { timeout }, async () => {
    const property = fc.asyncProperty(
      story(60, 2, 12),
      inTime(async ({ schema, settings, writes, changes, queries }) => {
        const index = await fleet.createIndex(schema, settings);
        const oracle = new Oracle(schema, settings);
        for (const change of changes) await fleet.applyChange(index, oracle, change);
        for (const [i, write] of writes.entries()) {
          await fleet.applyWrite(index, oracle, write);
          if (i % 10 === 9) await fleet.compareQueries(index, oracle, queries.slice(0, 2));
        }
        await fleet.compareQueries(index, oracle, queries);
        await fleet.placed(index);
        await fleet.settled(index);
        await fleet.compareQueries(index, oracle, queries);
        await fleet.dropIndex(index);
      }),
    );
    await fc.assert(property, parameters(Math.ceil(RUNS / 8)));
  });

  test("after kill -9 and a restart", { timeout }, async () => {
    const property = fc.asyncProperty(
      story(12, 6, 10),
      inTime(async ({ schema, settings, writes, changes, queries }) => {
        const index = await fleet.createIndex(schema, settings);
        const oracle = new Oracle(schema, settings);
        for (const write of writes) await fleet.applyWrite(index, oracle, write);
        for (const change of changes) await fleet.applyChange(index, oracle, change);
        await fleet.killAndRestart();
        await fleet.compareQueries(index, oracle, queries);
        await fleet.compareDocuments(index, oracle);
      }),
    );
    await fc.assert(property, parameters(Math.ceil(RUNS / 20)));
  });
});
