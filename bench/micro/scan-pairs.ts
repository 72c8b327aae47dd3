// Micro benchmarks for vectors: scans of a million codes with and without filters, exact cosines, vectors
// from outside. The vectors are random, so the results are meaningless, but they cost as much as real ones.

import { VECTOR_BYTES, VECTOR_SIZE } from "../../engine-wasm/assembly/layout.js";
import { loadEngine } from "../../engine-wasm/host/instance/engine-files.js";
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import { encodeNearest } from "../../engine-wasm/host/programs/nearest-program.js";
import { decodeNearestResult } from "../../engine-wasm/host/programs/nearest-result.js";
import { Random } from "../random.js";
import {
  CODE_WORDS,
  type CodedRows,
  codedRows,
  percentOfRows,
  randomVector,
  shares,
} from "../semantic/coded-rows.js";
import type { Pair } from "./pairs.js";

const ROWS = 1_000_000;
const WANTED = 1000;
const RERANKED = 400;
const ALL_PERCENT = 100;
const LARGEST = 127;

export async function scanPairs(): Promise<Pair[]> {
  const module = await loadEngine("release");
  const workbench = module.workbench();
  let scanned: CodedRows | null = null;
  const fixture = (): CodedRows => {
    scanned ??= codedRows(module.engine(), workbench, ROWS);
    return scanned;
  };
  return [
    ...[ALL_PERCENT, 50, 10, 1].map((percent) => scanning(fixture, percent)),
    comparing(workbench),
    turning(workbench),
  ];
}

/**
 * The result is the sum of the nearest rows' sequence numbers; the filter passes `percent` percent of all
 * rows.
 */
function scanning(fixture: () => CodedRows, percent: number): Pair {
  const query = randomVector(new Random(2));
  const program = percentOfRows(percent);
  const among = percent === ALL_PERCENT ? "" : ` with a filter of ${percent} %`;
  return {
    name: `nearest ${WANTED} of ${ROWS.toLocaleString("en")} codes${among}`,
    kernel: () => {
      const { engine, snapshot } = fixture();
      const { seqs } = decodeNearestResult(engine.nearest(snapshot, encodeNearest(query, WANTED, program)));
      return seqs.reduce((sum, seq) => sum + seq, 0);
    },
    naive: () => {
      const shareOf = shares(ROWS);
      const distances = naiveDistances(fixture().words, query);
      return Array.from(distances.keys())
        .filter((row) => shareOf[row]! < percent)
        .sort((a, b) => distances[a]! - distances[b]! || b - a)
        .slice(0, WANTED)
        .reduce((sum, row) => sum + row + 1, 0);
    },
  };
}

function naiveDistances(words: Uint32Array, query: Float32Array): Uint16Array {
  const code = new Uint32Array(CODE_WORDS);
  for (const [i, number] of query.entries()) if (number >= 0) code[i >> 5]! |= 1 << (i & 31);
  const distances = new Uint16Array(words.length / CODE_WORDS);
  for (let row = 0; row < distances.length; row++) {
    let distance = 0;
    for (let i = 0; i < CODE_WORDS; i++) {
      let bits = words[row * CODE_WORDS + i]! ^ code[i]!;
      bits -= (bits >>> 1) & 0x55555555;
      bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
      distance += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    }
    distances[row] = distance;
  }
  return distances;
}

/** The result is the number of positive cosines. */
function comparing(workbench: Workbench): Pair {
  const random = new Random(3);
  const query = randomVector(random);
  const records = Buffer.concat(
    Array.from({ length: RERANKED }, () => workbench.vectorOf(randomVector(random))!),
  );
  const table = workbench.vectorTable();
  const slots = Array.from({ length: RERANKED }, (_, slot) => slot);
  for (const slot of slots) table.put(slot, records.subarray(slot * VECTOR_BYTES, (slot + 1) * VECTOR_BYTES));
  return {
    name: `cosines of ${RERANKED} vectors`,
    kernel: () => table.similarities(query, slots).filter((cosine) => cosine > 0).length,
    naive: () => {
      let positive = 0;
      for (let at = 0; at < records.length; at += VECTOR_BYTES) {
        let sum = 0;
        for (let i = 0; i < VECTOR_SIZE; i++) sum += query[i]! * records.readInt8(at + 4 + i);
        if (sum * records.readFloatLE(at) > 0) positive++;
      }
      return positive;
    },
  };
}

/**
 * The result is the largest absolute number in the vector's record. The naive side computes the transform
 * from its definition and omits the sign changes.
 */
function turning(workbench: Workbench): Pair {
  const vector = randomVector(new Random(4));
  return {
    name: "a vector from outside",
    kernel: () => Math.max(...new Int8Array(workbench.vectorOf(vector)!.slice(4).buffer).map(Math.abs)),
    naive: () => {
      const turned = naiveTransform(naiveTransform(vector));
      const most = turned.reduce((largest, x) => Math.max(largest, Math.abs(x)), 0);
      return Math.max(...turned.map((x) => Math.abs(Math.round((x / most) * LARGEST))));
    },
  };
}

function naiveTransform(vector: Float32Array): Float32Array {
  const out = Float32Array.from(vector);
  for (let distance = 1; distance < VECTOR_SIZE; distance *= 2) {
    for (let i = 0; i < VECTOR_SIZE; i++) {
      if ((i & distance) !== 0) continue;
      const [a, b] = [out[i]!, out[i + distance]!];
      out[i] = a + b;
      out[i + distance] = a - b;
    }
  }
  return out;
}
