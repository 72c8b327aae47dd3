// Breaks down an index's size: reads the segments in a stopped server's shards and adds up the bytes of
// dictionaries, posting lists, positions and columns. docs/FORMATS.md has the layout.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import {
  SEG_BYTES,
  SEG_LISTS,
  SEG_ROWS,
  SEG_TERM_LISTS,
  SEG_TERM_OFFSETS,
  SEG_TERMS,
} from "../../engine-wasm/assembly/layout.js";
import { decodeManifest } from "../../shards/segments/manifest.js";
import { readSegment } from "../../shards/segments/segment-pieces.js";
import { manifestKey } from "../../shards/storage/keyspace.js";
import { LevelStore } from "../../shards/storage/level-store.js";

export interface SectionBytes {
  segments: number;
  rows: number;
  /** Number of terms. A term in two segments counts twice. */
  terms: number;
  /** Number of postings: one per term, document and field. */
  postings: number;
  /** Total bytes. */
  bytes: number;
  /** Terms and their tables. */
  dictionary: number;
  /** Rows and frequencies, with their block directories and list heads. */
  lists: number;
  positions: number;
  /** Norms; the columns' values, ordinals and dictionaries; sequence numbers and ids. */
  columns: number;
}

/**
 * Sums the sections over all shards of the index with the given uid. No server may have the data directory
 * open.
 */
export async function sectionsOf(dataDir: string, uid: number): Promise<SectionBytes> {
  const sum: SectionBytes = {
    segments: 0,
    rows: 0,
    terms: 0,
    postings: 0,
    bytes: 0,
    dictionary: 0,
    lists: 0,
    positions: 0,
    columns: 0,
  };
  const shards = join(dataDir, "shards");
  for (const name of readdirSync(shards)) {
    const store = await LevelStore.open(join(shards, name));
    try {
      const manifest = await store.get(manifestKey(uid));
      if (manifest === undefined) continue;
      for (const record of decodeManifest(manifest, `manifest of index ${uid}`).segments) {
        addSegment(await readSegment(store, uid, record), sum);
      }
    } finally {
      await store.close();
    }
  }
  return sum;
}

function addSegment(bytes: Uint8Array, sum: SectionBytes): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const word = (offset: number): number => view.getUint32(offset, true);
  const terms = word(SEG_TERMS);
  const listTable = word(SEG_TERM_LISTS);
  const lists = word(SEG_LISTS);
  const listsBytes = word(listTable + terms * 4);
  const termBytes = word(word(SEG_TERM_OFFSETS) + terms * 4);
  const dictionary = termBytes + (terms + 1) * 8 + terms;
  const { postings, positions } = walkLists(bytes.subarray(lists, lists + listsBytes));
  sum.segments++;
  sum.rows += word(SEG_ROWS);
  sum.terms += terms;
  sum.postings += postings;
  sum.bytes += word(SEG_BYTES);
  sum.dictionary += dictionary;
  sum.lists += listsBytes - positions;
  sum.positions += positions;
  sum.columns += word(SEG_BYTES) - dictionary - listsBytes;
}

/**
 * Counts the postings and the bytes of positions. The terms' lists are contiguous, and each starts with its
 * lengths.
 */
function walkLists(lists: Uint8Array): { postings: number; positions: number } {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = lists[at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  let postings = 0;
  let positions = 0;
  while (at < lists.length) {
    varint();
    postings += varint();
    const data = varint();
    const positionBytes = varint();
    positions += positionBytes;
    at += data + positionBytes;
  }
  return { postings, positions };
}
