// The same writes and queries must give the same bytes for any number of shards, through any front-end, and
// whether or not the index is spread over the shards during its story; only ids and times may differ.
// SKEIN_PROPERTY_RUNS sets the number of stories, and SKEIN_PROPERTY_SEED repeats a run.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Random } from "../../bench/random.js";
import { type Client, oneForEach } from "../e2e/frontends/front-end-clients.js";
import { effort } from "../effort.js";
import { Oracle } from "../oracle/engine.js";
import { type Json, printJson } from "../oracle/segments/values.js";
import { Fleet, someHomeDocuments } from "./fleet.js";
import { story } from "./generators.js";
import { SEED } from "./seed.js";

const RUNS = Number(process.env.SKEIN_PROPERTY_RUNS ?? effort(3, 100));
const RANDOM = new Random(SEED);
const FRONT_ENDS = [1, 2, 4];
const SHAPES = effort(
  [
    { shards: 1, frontEnds: 1 },
    { shards: 2, frontEnds: 4, homeDocumentsMax: someHomeDocuments(RANDOM) },
    { shards: 3, frontEnds: 2, homeDocumentsMax: someHomeDocuments(RANDOM) },
    { shards: 8, frontEnds: 2 },
  ],
  [1, 2, 3, 8].flatMap((shards) =>
    FRONT_ENDS.map((frontEnds, i) => {
      const isHomely = (shards + i) % 2 === 0;
      return { shards, frontEnds, ...(isHomely ? { homeDocumentsMax: someHomeDocuments(RANDOM) } : {}) };
    }),
  ),
);
/** The server caches its second answer to a query. The third comes from the cache and must be the same. */
const TIMES_ASKED = 3;

let fleet: Fleet;
/** One client per front-end, for each server. */
let clients: Client[][];

beforeAll(async () => {
  fleet = await Fleet.start(SHAPES);
  clients = await fleet.everywhere((server, i) => oneForEach(server, SHAPES[i]!.frontEnds));
});

afterAll(async () => {
  for (const client of clients.flat()) client.close();
  await fleet.close();
});

function withoutIdsAndTimes(text: string): string {
  return text.replace(/"(query_id|took_ms|[a-z_]*time_ms)":("[^"]*"|[\d.]+)/g, '"$1":0');
}

test("any query returns the same bytes everywhere", async () => {
  const property = fc.asyncProperty(
    story(8, 4, 12),
    async ({ schema, settings, writes, changes, queries }) => {
      const index = await fleet.createIndex(schema, settings);
      const oracle = new Oracle(schema, settings);
      for (const write of writes) await fleet.applyWrite(index, oracle, write);
      for (const change of changes) await fleet.applyChange(index, oracle, change);
      for (const query of queries) {
        const body = printJson({ ...query, ai: false, analytics: false } as unknown as Json);
        const ask = async (client: Client): Promise<string> => {
          const { status, text } = await client.post(`/v1/indexes/${index}/query`, body);
          expect(status, text).toBe(200);
          return withoutIdsAndTimes(text);
        };
        const [expected] = await Promise.all(clients[0]!.map(ask));
        for (let time = 0; time < TIMES_ASKED; time++) {
          const answers = await Promise.all(clients.map((ofServer) => Promise.all(ofServer.map(ask))));
          for (const [i, ofServer] of answers.entries()) {
            for (const answer of ofServer) expect(answer, `${fleet.nameOf(i)}, query ${body}`).toBe(expected);
          }
        }
      }
      await fleet.dropIndex(index);
    },
  );
  await fc.assert(property, { numRuns: RUNS, seed: SEED });
});
