// Compares the server's facet counts with the oracle's when shards do not send all their values: fields with
// hundreds of values, evenly and unevenly distributed, ties at the limit, values that only one shard has.
// Runs with one to eight shards. SKEIN_PROPERTY_SEED repeats a run.
import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { effort } from "../effort.js";
import { Oracle } from "../oracle/engine.js";
import type { Document, Schema } from "../oracle/segments/values.js";
import { Fleet } from "./fleet.js";
import type { Write } from "./generators.js";
import { SEED } from "./seed.js";

const DOCUMENTS = 2500;

const SCHEMA: Schema = {
  fields: [
    { name: "even", type: "string", facet: true },
    { name: "steep", type: "string", facet: true },
    { name: "tags", type: "string[]", facet: true },
    { name: "number", type: "int32", facet: true },
    { name: "big", type: "int64", facet: true },
    { name: "part", type: "int32" },
  ],
};

/** Draws a number from 1 to 499. Small numbers are frequent; large ones occur once or never. */
const steep = fc.integer({ min: 0, max: 999_999 }).map((n) => Math.floor(500 ** (n / 1e6)));
const even = fc.integer({ min: 0, max: 90 });

const document: fc.Arbitrary<Document> = fc
  .tuple(even, steep, fc.array(steep, { maxLength: 6 }), steep, even, fc.nat(9), fc.nat(20))
  .map(([a, b, c, d, e, part, missing]) => ({
    id: "",
    ...(missing === 0 ? {} : { even: `v${a}`, steep: `é${b}` }),
    tags: c.map((n) => `t${n}`),
    number: d - 7,
    big: e * 1e14,
    part,
  }));

describe("facets of many values", () => {
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await Fleet.forDocuments(DOCUMENTS);
  });

  afterAll(() => fleet.close());

  test(`are counted as by the oracle (seed ${SEED})`, async () => {
    const documents = fc
      .sample(document, { numRuns: DOCUMENTS, seed: SEED })
      .map((one, i) => ({ ...one, id: `d${i}` }));
    const index = await fleet.createIndex(SCHEMA);
    const oracle = new Oracle(SCHEMA);
    const batch = (from: number, to: number): Write => {
      return { kind: "batch", action: "upsert", documents: documents.slice(from, to) };
    };
    for (const write of [batch(0, 2500), batch(2500, 2600), batch(2600, DOCUMENTS)])
      await fleet.applyWrite(index, oracle, write);
    const filters = [undefined, "part:<8", "part:0", "number:<1", "number:[-5..20] && part:>2"];
    const queries = filters.flatMap((filter_by) =>
      effort([1, 7, 60], [1, 2, 7, 10, 60, 100]).map((max_facet_values) => ({
        q: "*",
        per_page: 1,
        facet_by: "even,steep,tags,number,big",
        max_facet_values,
        ...(filter_by === undefined ? {} : { filter_by }),
      })),
    );
    await fleet.compareQueries(index, oracle, queries);
    await fleet.settled(index);
    await fleet.applyWrite(index, oracle, { kind: "deleteWhere", filter: "part:4" });
    await fleet.compareQueries(index, oracle, queries);
  });
});
