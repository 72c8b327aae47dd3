// The cache of the query log's blocks, on a real database: if a block is evicted, its changed marks stay in
// memory until they are stored, and no longer.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CLICKED, CONVERTED } from "../../../../server/query-log/rows/marks.js";
import { type OpenSearch, searchBlockOf } from "../../../../server/query-log/rows/open-rows.js";
import { putMarks, putSearches } from "../../../../server/query-log/rows/records.js";
import { Blocks, MarkedBlock } from "../../../../server/query-log/store/blocks.js";
import { LevelStore } from "../../../../shards/storage/level-store.js";

const LOG = 3;
const HOUR = 400_000;
const CACHED_ROWS_MAX = 200_000;
const SEARCH: OpenSearch = {
  at: HOUR * 3_600_000,
  counter: 1,
  frontEnd: 1,
  text: 1,
  typed: "",
  words: "",
  found: 0,
  took: 0,
  mode: 0,
  filtered: false,
  page: 1,
  user: 7,
  session: 0,
  hits: [],
  marks: 0,
};
const ONE_ROW = searchBlockOf([SEARCH]);
const HALF_THE_CACHE = searchBlockOf(new Array<OpenSearch>(CACHED_ROWS_MAX / 2).fill(SEARCH));

let directory: string;
let store: LevelStore;
let blocks: Blocks;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "skein-blocks-"));
  store = await LevelStore.open(directory);
  blocks = new Blocks(store);
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

/** Stores a block of one row without marks and returns it as the cache reads it. */
async function stored(log: number, hour: number, block: number): Promise<MarkedBlock> {
  const place = { log, hour, block };
  await store.batch([putSearches(place, ONE_ROW), putMarks(place, new Uint8Array(1))], { sync: false });
  return blocks.searches(place);
}

/** Fills the cache with other blocks, so that none of the previous ones stays in it. */
function evictAll(): void {
  for (let block = 900; block < 904; block++) {
    const place = { log: 99, hour: HOUR, block };
    blocks.add(new MarkedBlock(place, HALF_THE_CACHE, new Uint8Array(HALF_THE_CACHE.rows)));
  }
}

test("changed marks are kept when the block is evicted; unchanged ones are read again", async () => {
  const changed = await stored(LOG, HOUR, 1);
  const untouched = await stored(LOG, HOUR, 2);
  changed.marks[0] = CLICKED;
  blocks.changed(changed);
  evictAll();
  expect(blocks.searches(changed.place)).toBe(changed);
  expect(blocks.searches(untouched.place)).not.toBe(untouched);
  expect(blocks.searches(untouched.place).marks).toEqual(Uint8Array.of(0));
});

test("a block evicted while its marks change replaces the copy read meanwhile", async () => {
  const changed = await stored(LOG, HOUR, 1);
  evictAll();
  const copy = blocks.searches(changed.place);
  expect(copy).not.toBe(changed);
  changed.marks[0] = CONVERTED;
  blocks.changed(changed);
  expect(blocks.searches(changed.place)).toBe(changed);
});

test("a log lists each of its changed blocks once, until their marks are stored", async () => {
  const changed = [await stored(LOG, HOUR, 1), await stored(LOG, HOUR + 1, 2)];
  const other = await stored(LOG + 1, HOUR, 1);
  for (const block of [...changed, ...changed, other]) {
    block.marks[0] = CLICKED;
    blocks.changed(block);
  }
  expect(blocks.changedOf(LOG)).toEqual(changed);
  expect(blocks.changedOf(LOG + 1)).toEqual([other]);

  const [first] = changed;
  await store.batch([putMarks(first!.place, first!.marks)], { sync: false });
  blocks.forgetChanges([first!]);
  expect(blocks.changedOf(LOG)).toEqual([changed[1]]);
  evictAll();
  const again = blocks.searches(first!.place);
  expect(again).not.toBe(first);
  expect(again.marks).toEqual(Uint8Array.of(CLICKED));
});

test("forgetting an hour or a log drops its changes and no others", async () => {
  const [early, late] = [await stored(LOG, HOUR, 1), await stored(LOG, HOUR + 1, 2)];
  const other = await stored(LOG + 1, HOUR, 1);
  for (const block of [early, late, other]) blocks.changed(block);
  blocks.forget(LOG, HOUR);
  expect(blocks.changedOf(LOG)).toEqual([late]);
  blocks.forget(LOG);
  expect(blocks.changedOf(LOG)).toEqual([]);
  expect(blocks.changedOf(LOG + 1)).toEqual([other]);
});
