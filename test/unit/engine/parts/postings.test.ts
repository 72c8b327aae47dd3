// Unpacking and walking posting lists: every bit width against plain arithmetic, seeks and positions against
// the naive segment reader's lists.
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { BLOCK_ROWS } from "../../../../engine-wasm/assembly/layout.js";
import { PLAIN_ANALYSIS } from "../../../../engine-wasm/host/instance/workbench.js";
import { type ReadPosting, readSegment } from "../../../oracle/segments/segment-reader.js";
import { loadEngine } from "../load-engine.js";
import { FIELDS, picker } from "../segments/catalogue.js";
import { toRaw } from "../segments/documents.js";
import { compileParts, type Parts } from "./compile-parts.js";

const SOURCE = `
import { reserve, scratch, scratchReset } from "./memory/arena";
import { packBlock } from "./memory/pack";
import { Positions } from "./segment/positions";
import { CURSOR_BYTES, Cursor, cursorNextBlock, cursorRestart, cursorSeek, listOpen } from "./segment/postings";
import { Seg, findField } from "./segment/segment";
import { termLowerBound } from "./segment/dictionary";
import { failed, statusReset } from "./status";
import { unpackFrequencies, unpackRows } from "./memory/unpack";
export { reserve, packBlock, unpackFrequencies, unpackRows };
let cursor: Cursor = changetype<Cursor>(0);
let places: Positions = changetype<Positions>(0);
export function open(segment: usize, at: usize, length: u32, slot: u32): u32 {
  statusReset();
  scratchReset(0);
  cursor = changetype<Cursor>(scratch(CURSOR_BYTES));
  places = Positions.make();
  const term = termLowerBound(segment, at, length);
  const end = Seg.listsAt(segment, term + 1);
  let list = Seg.listsAt(segment, term);
  while (list < end) {
    list = listOpen(cursor, list, end, Seg.rows(segment));
    if (cursor.slot == slot) return cursor.count;
  }
  return 0;
}
export function restart(): void { cursorRestart(cursor); }
export function seek(row: u32): u32 { return cursorSeek(cursor, row); }
export function positions(): u32 { places.clear(); return places.read(cursor); }
export function positionAt(i: u32): u32 { return load<u32>(places.at(i)); }
export function hasFailed(): bool { return failed(); }
`;

const TERMINATED = 0xffffffff;
let parts: Parts;
let segmentBytes: Uint8Array;
let lists: { term: string; slot: number; postings: ReadPosting[] }[];

beforeAll(async () => {
  parts = await compileParts(SOURCE);
  const pick = picker(99);
  const words = ["often", "sometimes", "rare"];
  const documents = Array.from({ length: 1500 }, (_, i) => ({
    id: `${i}`,
    title: Array.from({ length: pick([1, 2, 30]) }, () =>
      pick(["often", "often", "filler", ...words.slice(0, 2)]),
    ).join(" "),
    brand: i % 100 === 0 ? "rare" : "often sometimes",
    labels: [`exactly${i % (1500 / BLOCK_ROWS)}`],
  }));
  const bench = (await loadEngine()).workbench();
  const schema = {
    fields: FIELDS.map(({ name, code, flags }, slot) => ({ slot, name, type: code, flags, language: 0 })),
    analysis: PLAIN_ANALYSIS,
  };
  segmentBytes = bench.build(
    schema,
    toRaw(
      documents,
      documents.map((_, i) => i + 1),
    ),
  ).segment!;
  lists = readSegment(segmentBytes).terms.flatMap(({ term, lists: own }) =>
    own.map((list) => ({ term, ...list })),
  );
});

test.each(Array.from({ length: 33 }, (_, bits) => bits))("unpacks blocks of %i bits", (bits) => {
  const { exports, memory } = parts;
  const at = exports.reserve!(4096) >>> 0;
  const value = fc.integer({ min: 0, max: 2 ** bits - 1 });
  const block = fc.array(value, { minLength: BLOCK_ROWS, maxLength: BLOCK_ROWS });
  fc.assert(
    fc.property(block, fc.integer({ min: -1, max: 1000 }), (values, before) => {
      new Uint32Array(memory.buffer, at, BLOCK_ROWS).set(values);
      exports.packBlock!(at, bits, at + 1024);
      exports.unpackRows!(at + 1024, bits, before, at + 3072);
      let row = before;
      const rows = values.map((gap) => (row = (row + gap + 1) >>> 0));
      expect([...new Uint32Array(memory.buffer, at + 3072, BLOCK_ROWS)]).toEqual(rows);
      exports.unpackFrequencies!(at + 1024, bits, at + 3072);
      expect([...new Uint32Array(memory.buffer, at + 3072, BLOCK_ROWS)]).toEqual(
        values.map((v) => (v + 1) >>> 0),
      );
    }),
    { numRuns: 8 },
  );
});

test("a seek finds the first row at or after the target with its positions", () => {
  const { exports, memory } = parts;
  const segment = exports.reserve!(segmentBytes.length) >>> 0;
  const name = exports.reserve!(64) >>> 0;
  new Uint8Array(memory.buffer, segment, segmentBytes.length).set(segmentBytes);
  expect(lists.map(({ postings }) => postings.length)).toContain(BLOCK_ROWS);
  fc.assert(
    fc.property(fc.nat(), fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 30 }), (choice, steps) => {
      const { term, slot, postings } = lists[choice % lists.length]!;
      const bytes = Buffer.from(term);
      new Uint8Array(memory.buffer, name, bytes.length).set(bytes);
      expect(exports.open!(segment, name, bytes.length, slot)).toBe(postings.length);
      let target = 0;
      for (const step of steps) {
        target += step;
        const posting = postings.find(({ row }) => row >= target);
        expect(exports.seek!(target) >>> 0).toBe(posting?.row ?? TERMINATED);
        if (posting === undefined) continue;
        target = posting.row;
        const count = exports.positions!();
        expect(Array.from({ length: count }, (_, i) => exports.positionAt!(i))).toEqual(posting.positions);
      }
      expect(exports.hasFailed!()).toBe(0);
    }),
    { numRuns: 300 },
  );
});
