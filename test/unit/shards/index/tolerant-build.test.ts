// A segment for documents that nobody may refuse is built in slices, between which the thread answers reads.

import { expect, test } from "vitest";
import { Builder } from "../../../../shards/index/builder.js";
import { Slices } from "../../../../shards/index/slices.js";
import { buildTolerant, type StoredDocument } from "../../../../shards/index/upkeep/reindex-job.js";
import { engineModule, SCHEMA } from "../harness.js";

/** Every third price does not fit the schema. */
function stored(count: number): StoredDocument[] {
  return Array.from({ length: count }, (_, i) => {
    const price = i % 3 === 0 ? "much" : i;
    return { seq: i + 1, raw: Buffer.from(JSON.stringify({ id: `d${i}`, title: `title of ${i}`, price })) };
  });
}

test("other work runs between the slices, and the segment is that of a build in one go", async () => {
  const module = await engineModule();
  const whole = module.workbench();
  const alone = await buildTolerant(stored(2000), SCHEMA, whole, whole);

  const slices = new Slices(0, new Int32Array(1)); // each step of a build is a slice of its own
  const builder = new Builder(module.workbench(), slices);
  let turns = 0;
  let timer = setImmediate(function count() {
    turns++;
    timer = setImmediate(count);
  });
  const sliced = await buildTolerant(stored(2000), SCHEMA, module.workbench(), builder);
  clearImmediate(timer);

  expect(Buffer.compare(sliced.bytes, alone.bytes)).toBe(0);
  expect(turns).toBeGreaterThan(10);
});
