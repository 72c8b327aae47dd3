// Creates rows with vector codes in one engine, for benchmarks that scan codes. The vectors are random, so
// the results are meaningless, but they cost as much as real ones. The field `share` has values below 100, so
// the filter `share < n` passes n percent of the rows.

import { CODE_BYTES, FLAG_INDEX, TYPE_INT32, VECTOR_SIZE } from "../../engine-wasm/assembly/layout.js";
import type { Engine } from "../../engine-wasm/host/instance/engine.js";
import { PLAIN_ANALYSIS, type Workbench } from "../../engine-wasm/host/instance/workbench.js";
import { FilterWriter, NO_FILTER } from "../../engine-wasm/host/programs/filter-program.js";
import { EVERY_DOCUMENT, encodeSearch } from "../../engine-wasm/host/programs/search-program.js";
import { Random } from "../random.js";

export interface CodedRows {
  readonly engine: Engine;
  readonly snapshot: number;
  /** Bytes of memory that the codes occupy. */
  readonly codesBytes: number;
  /** All rows' codes. */
  readonly words: Uint32Array;
}

const PERCENT = 100;
const SLOT_SHARE = 0;
export const CODE_WORDS = CODE_BYTES / 4;

export function codedRows(engine: Engine, workbench: Workbench, rows: number): CodedRows {
  const documents = Array.from(shares(rows), (share, i) => ({
    seq: i + 1,
    raw: Buffer.from(`{"id":"${i}","share":${share}}`),
  }));
  const fields = [{ slot: SLOT_SHARE, name: "share", type: TYPE_INT32, flags: FLAG_INDEX, language: 0 }];
  const { segment } = workbench.build({ fields, analysis: PLAIN_ANALYSIS }, documents);
  const random = new Random(2);
  const words = Uint32Array.from({ length: rows * CODE_WORDS }, () => random.next() * 2 ** 32);
  const empty = engine.newCodes(rows);
  const region = engine.codesBytes(empty, rows);
  engine.releaseCodes(empty);
  const first = region.length - words.byteLength;
  for (let row = 0; row < rows; row++) region[8 + (row >> 3)]! |= 1 << (row & 7);
  region.set(new Uint8Array(words.buffer), first);
  const codes = engine.attachCodes(region);
  const snapshot = engine.setSnapshot([{ segment: engine.attach(segment!), live: 0, codes }]);
  return { engine, snapshot, codesBytes: region.length, words };
}

/** Each row's `share`. */
export function shares(rows: number): Uint8Array {
  const random = new Random(1);
  return Uint8Array.from({ length: rows }, () => random.below(PERCENT));
}

/** Returns a search program whose filter passes `percent` percent of the rows. */
export function percentOfRows(percent: number): Uint8Array {
  const filter = new FilterWriter();
  filter.intRange(SLOT_SHARE, 0n, BigInt(percent - 1));
  return encodeSearch({
    ...EVERY_DOCUMENT,
    k: 0,
    filter: percent === PERCENT ? NO_FILTER : filter.finish(),
  });
}

/** Returns a vector of length 1 with an approximately uniform direction. */
export function randomVector(random: Random): Float32Array {
  const numbers = Array.from(
    { length: VECTOR_SIZE },
    () => random.next() + random.next() + random.next() - 1.5,
  );
  const length = Math.hypot(...numbers);
  return Float32Array.from(numbers, (number) => number / length);
}
