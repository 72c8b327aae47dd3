// Segments for the targets that test kernels: every field type, two segments, some rows deleted. They are the
// same in every run.
import { Random } from "../../bench/random.js";
import { SNAP_ENTRIES, SNAP_ENTRY_BYTES } from "../../engine-wasm/assembly/layout.js";
import type { BuildField } from "../../engine-wasm/host/instance/build.js";
import { PLAIN_ANALYSIS, type Workbench } from "../../engine-wasm/host/instance/workbench.js";
import { FIELDS, randomDocument } from "../unit/engine/segments/catalogue.js";
import { toRaw } from "../unit/engine/segments/documents.js";

const BUILD_FIELDS: BuildField[] = FIELDS.map(({ name, code, flags }, slot) => ({
  slot,
  name,
  type: code,
  flags,
  language: 0,
}));
export const SCHEMA = { fields: BUILD_FIELDS, analysis: PLAIN_ANALYSIS };
const FIRST_SEQ = 1000;
const SEQ_STEP = 7;

/** A segment of `count` documents, numbered from `before` upwards. */
export function catalogueSegment(bench: Workbench, count: number, before: number, seed: number): Uint8Array {
  const random = new Random(seed);
  const documents = Array.from({ length: count }, (_, i) =>
    randomDocument(before + i, (list) => random.pick(list)),
  );
  const seqs = documents.map((_, i) => FIRST_SEQ + SEQ_STEP * (before + i));
  const { segment, failures } = bench.build(SCHEMA, toRaw(documents, seqs));
  if (segment === null || failures.length > 0) throw new Error("the documents were refused");
  return segment;
}

/** A few sequence numbers for a catalogue of `count` documents; some may belong to no document. */
export function someSeqs(random: Random, count: number): number[] {
  return Array.from({ length: random.from(0, 6) }, () => FIRST_SEQ + random.below(count * SEQ_STEP + 9));
}

/** Returns a bitset of live rows in which every `step`-th row is deleted. */
export function liveBits(rows: number, step: number): Uint8Array {
  const bits = new Uint8Array(Math.ceil(rows / 64) * 8);
  for (let row = 0; row < rows; row++) if (row % step !== step - 1) bits[row >> 3]! |= 1 << (row & 7);
  return bits;
}

/** Returns the bytes of a snapshot; with `entryBytes`, they can also serve as a merge's input. */
export function snapshotBytes(
  entries: readonly { segment: number; live: number; codes?: number }[],
  entryBytes = SNAP_ENTRY_BYTES,
): Uint8Array {
  const out = Buffer.alloc(SNAP_ENTRIES + entries.length * entryBytes);
  out.writeUInt32LE(entries.length, 0);
  entries.forEach(({ segment, live, codes }, i) => {
    out.writeUInt32LE(segment, SNAP_ENTRIES + i * entryBytes);
    out.writeUInt32LE(live, SNAP_ENTRIES + i * entryBytes + 4);
    if (codes !== undefined) out.writeUInt32LE(codes, SNAP_ENTRIES + i * entryBytes + 12);
  });
  return out;
}
