// Compares vector searches with the oracle: random writes with pushed vectors and random queries of every
// mode, with 1, 2, 3 and 8 shards, also while segments are merged and after kill -9. SKEIN_PROPERTY_RUNS sets
// the number of stories, and SKEIN_PROPERTY_SEED repeats a run.
import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { loadEngine } from "../../engine-wasm/host/instance/engine-files.js";
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import { effort } from "../effort.js";
import { SemanticOracle } from "../oracle/semantic/semantic-oracle.js";
import { Fleet } from "./fleet.js";
import { queriesOf, settingsOf, type VectorStory, vectorStory, writesOf } from "./pushed-vectors.js";
import { SEED } from "./seed.js";

const RUNS = Number(process.env.SKEIN_PROPERTY_RUNS ?? effort(2, 400));
const timeout = effort(300_000, 86_400_000);

let fleet: Fleet;
let workbench: Workbench;

beforeAll(async () => {
  workbench = (await loadEngine("release")).workbench();
  fleet = await Fleet.start();
});

afterAll(() => fleet.close());

function parameters(numRuns: number): fc.Parameters<[VectorStory]> {
  return {
    numRuns,
    endOnFailure: effort(true, false),
    seed: SEED,
  };
}

describe("a search by vectors answers like the oracle", () => {
  test("after any writes and changes, for any query and number of shards", { timeout }, async () => {
    const property = fc.asyncProperty(vectorStory(8, 6, 16), async (story) => {
      const settings = settingsOf(story);
      const index = await fleet.createIndex(story.schema, settings);
      const oracle = new SemanticOracle(story.schema, settings, workbench);
      const queries = queriesOf(story);
      for (const write of writesOf(story)) await fleet.applyWrite(index, oracle, write);
      await fleet.compareQueries(index, oracle, queries);
      for (const [i, change] of story.changes.entries()) {
        await fleet.applyChange(index, oracle, change);
        await fleet.compareQueries(index, oracle, queries.slice(i, i + 4));
      }
      await fleet.compareDocuments(index, oracle);
      await fleet.dropIndex(index);
    });
    await fc.assert(property, parameters(RUNS));
    await fleet.compareWasRemembered();
  });

  test("while and after segments are merged, and after kill -9", { timeout }, async () => {
    const property = fc.asyncProperty(vectorStory(40, 3, 10), async (story) => {
      const settings = settingsOf(story);
      const index = await fleet.createIndex(story.schema, settings);
      const oracle = new SemanticOracle(story.schema, settings, workbench);
      const queries = queriesOf(story);
      for (const change of story.changes) await fleet.applyChange(index, oracle, change);
      for (const [i, write] of writesOf(story).entries()) {
        await fleet.applyWrite(index, oracle, write);
        if (i % 10 === 9) await fleet.compareQueries(index, oracle, queries.slice(0, 3));
      }
      await fleet.settled(index);
      await fleet.compareQueries(index, oracle, queries);
      await fleet.killAndRestart();
      await fleet.comparable(index);
      await fleet.compareQueries(index, oracle, queries);
      await fleet.dropIndex(index);
    });
    await fc.assert(property, parameters(Math.ceil(RUNS / 8)));
  });
});
