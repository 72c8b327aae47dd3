// A table of vector records: cosines computed from the records in its slots are exact, whatever the slots
// contained before.
import { expect, test } from "vitest";
import { Random } from "../../../../bench/random.js";
import { VECTOR_BYTES } from "../../../../engine-wasm/assembly/layout.js";
import { plainRecords } from "../../../oracle/vectors/codes.js";
import { loadEngine } from "../load-engine.js";
import { randomQuery, randomVector } from "./random-vectors.js";
import { tableCosines } from "./table-cosines.js";

const module = await loadEngine();
const workbench = module.workbench();
const SLOTS = 3000;

test("cosines use the most recent records", () => {
  const random = new Random(1);
  const table = workbench.vectorTable();
  const records: Uint8Array[] = [];
  const put = (slot: number): void => {
    records[slot] = new Uint8Array(plainRecords([random.below(20) === 0 ? null : randomVector(random)]));
    table.put(slot, records[slot]!);
  };
  for (let slot = 0; slot < SLOTS; slot++) put(slot);
  for (let i = 0; i < 100; i++) put(random.below(SLOTS));
  for (const count of [0, 1, 400, SLOTS]) {
    const slots = Array.from({ length: count }, () => random.below(SLOTS + 50) - 50);
    const query = randomQuery(random);
    const copied = slots.map((slot) => (slot < 0 ? new Uint8Array(VECTOR_BYTES) : records[slot]!));
    expect(table.similarities(query, slots)).toEqual(tableCosines(workbench, query, Buffer.concat(copied)));
    for (const slot of slots.slice(0, 20)) if (slot >= 0) expect(table.record(slot)).toEqual(records[slot]);
  }
  expect(() => table.similarities(randomQuery(random).subarray(1), [])).toThrow("512 numbers, not 511");
});
