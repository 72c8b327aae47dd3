// Nearly valid inputs for the kernels that find nearest rows, compute cosines and store clients' vectors, and
// damaged codes regions.

import type { Random } from "../../../bench/random.js";
import {
  CODES_ROWS,
  NEAREST_ROW_BYTES,
  VECTOR_BYTES,
  VECTOR_SIZE,
} from "../../../engine-wasm/assembly/layout.js";
import type { EngineModule } from "../../../engine-wasm/host/instance/engine-module.js";
import { NO_FILTER } from "../../../engine-wasm/host/programs/filter-program.js";
import { encodeNearest } from "../../../engine-wasm/host/programs/nearest-program.js";
import { encodeSearch } from "../../../engine-wasm/host/programs/search-program.js";
import { codesLength } from "../../../engine-wasm/host/vectors/codes.js";
import { type PlainVector, plainCodes } from "../../oracle/vectors/codes.js";
import { randomProgram } from "../../unit/engine/search/random-program.js";
import type { Pick } from "../../unit/engine/segments/catalogue.js";
import { Canary, type Guarded } from "../canary.js";
import { catalogueSegment, liveBits, snapshotBytes } from "../catalogue.js";
import { finding, mutateBytes, type Target } from "../target.js";

const ROWS = [300, 40] as const;
const WANTED = [0, 1, 10, 1000, 0xffffffff];
const SEARCH_AT = 7 + VECTOR_SIZE * 4; // offset of the search program in the input of `nearest`
const KERNELS = ["nearest", "outsideVector", "outsideRecord", "documentRecord"] as const;

function someNumbers(random: Random): number[] {
  return Array.from({ length: VECTOR_SIZE }, () => random.from(-127, 127) || 1);
}

function someQuery(random: Random): Float32Array {
  return Float32Array.from(someNumbers(random), (number) => number / 127 / 13);
}

function bytesOf(numbers: Float32Array | Float64Array): Uint8Array {
  return new Uint8Array(numbers.buffer);
}

/**
 * Input: a byte that selects the kernel, a byte that says which segments have codes, then the kernel's input.
 */
export function vectorTarget(module: EngineModule): Target {
  const bench = module.workbench();
  const segments = [catalogueSegment(bench, ROWS[0], 0, 1), catalogueSegment(bench, ROWS[1], ROWS[0], 2)];
  const canary = new Canary(module, (place) => {
    const [first, second] = segments.map((bytes) => place(bytes)) as [number, number];
    const live = place(liveBits(ROWS[0], 5));
    const codes = ROWS.map((rows) =>
      place(
        plainCodes(Array.from({ length: rows }, (_, row) => (row % 9 === 0 ? null : numbersOf(row % 5)))),
      ),
    );
    // Each bit of `which` says whether the corresponding segment has codes.
    const snapshots = [0, 1, 2, 3].map((which) =>
      place(
        snapshotBytes([
          { segment: first, live, codes: which & 1 ? codes[0]! : 0 },
          { segment: second, live: 0, codes: which & 2 ? codes[1]! : 0 },
        ]),
      ),
    );
    return { snapshots };
  });
  const whole = (random: Random, kernel: (typeof KERNELS)[number]): Uint8Array => {
    const pick: Pick = (list) => random.pick(list);
    switch (kernel) {
      case "nearest":
        return encodeNearest(
          someQuery(random),
          random.pick(WANTED),
          encodeSearch(randomProgram(bench, pick)),
        );
      case "documentRecord": {
        const embedding = random.pick([null, [], someNumbers(random), new Array(VECTOR_SIZE).fill(0)]);
        return Buffer.from(JSON.stringify({ id: "a", embedding, title: "b" }));
      }
      default:
        return bytesOf(Float64Array.from(someNumbers(random)));
    }
  };
  return {
    name: "vectors",
    generate(random) {
      const kernel = random.pick([0, 0, 0, 0, 1, 2, 3]);
      const input = whole(random, KERNELS[kernel]!);
      // In half of the inputs for `nearest`, mutates only the search program, which follows the query.
      const cut = kernel === 0 && random.below(2) === 0 ? SEARCH_AT : 0;
      const changed = random.below(8) === 0 ? input : mutateBytes(random, input, cut);
      return Buffer.concat([Uint8Array.of(kernel, random.pick([3, 3, 3, 1, 2, 0])), changed]);
    },
    check(input) {
      const [kernel, which, bytes] = [KERNELS[input[0]!]!, input[1]!, input.subarray(2)];
      const answer = canary.both(kernel, (guarded) => {
        const snapshot = guarded.held.snapshots[which]!;
        if (kernel !== "nearest")
          return guarded.ask((kernels, p, length) => kernels[kernel](p, length), bytes);
        return guarded.ask((kernels, p, length) => kernels.nearest(snapshot, p, length), bytes);
      });
      if (typeof answer === "number") {
        if (answer !== -1) finding(`${kernel}: status ${answer} for healthy segments`);
      } else if (kernel === "nearest") checkOrder(Buffer.from(answer));
      else if (kernel.endsWith("Record") && answer.length !== 0 && answer.length !== VECTOR_BYTES)
        finding(`${kernel}: a record of ${answer.length} bytes`);
    },
    close: async () => undefined,
  };
}

/** Returns the same numbers for the same seed. */
function numbersOf(seed: number): number[] {
  return Array.from({ length: VECTOR_SIZE }, (_, i) => ((i * (seed + 3)) % 11) - 5);
}

function checkOrder(answer: Buffer): void {
  const [compared, rows] = [answer.readUInt32LE(0), answer.readUInt32LE(4)];
  if (rows > compared || answer.length !== 8 + rows * NEAREST_ROW_BYTES) finding("nearest: rows are missing");
  for (let at = 8 + NEAREST_ROW_BYTES; at < answer.length; at += NEAREST_ROW_BYTES) {
    const before = at - NEAREST_ROW_BYTES;
    const closer = answer.readUInt32LE(at + 8) - answer.readUInt32LE(before + 8);
    if (closer < 0 || (closer === 0 && answer.readDoubleLE(at) >= answer.readDoubleLE(before)))
      finding("nearest: rows are out of order");
  }
}

/** Input: a damaged codes region for a segment of ROWS[0] rows. */
export function codesTarget(module: EngineModule): Target {
  const bench = module.workbench();
  const segment = catalogueSegment(bench, ROWS[0], 0, 1);
  const healthy = plainCodes(
    Array.from({ length: ROWS[0] }, (_, row) => (row % 3 === 0 ? null : numbersOf(row))),
  );
  const room = (healthy.length + 4096) & ~15;
  const empty = plainCodes(new Array<PlainVector>(ROWS[0]).fill(null));
  const canary = new Canary(module, (place) => {
    const at = place(segment);
    const codes = place(healthy, room);
    const snapshot = place(snapshotBytes([{ segment: at, live: 0, codes }]));
    return { segment: at, snapshot, codes, copy: place(empty) };
  });
  const pick: Pick = (list) => list[0]!;
  const program = encodeSearch({
    ...randomProgram(bench, pick),
    words: [],
    phrases: [],
    excludes: [],
    filter: NO_FILTER,
  });
  const question = encodeNearest(
    Float32Array.from(numbersOf(1), (number) => number / 100),
    50,
    program,
  );
  return {
    name: "codes",
    generate(random) {
      return random.below(2) === 0 ? mutateBytes(random, healthy, 0, 64) : mutateBytes(random, healthy);
    },
    check(input) {
      const bytes = input.subarray(0, room);
      for (const guarded of canary.pair()) guarded.overwrite(guarded.held.codes, bytes, room);
      const status = canary.both(
        "checkCodes",
        ({ instance, held }) => -instance.run((kernels) => kernels.checkCodes(held.codes, bytes.length)),
      );
      if (status !== 0) return;
      const rows = Buffer.from(bytes).readUInt32LE(CODES_ROWS);
      if (codesLength(rows) !== bytes.length) finding(`codes of ${rows} rows in ${bytes.length} bytes`);
      canary.both("codesCount", ({ instance, held }) => {
        const count = instance.run((kernels) => kernels.codesCount(held.codes, 0));
        return count <= rows ? Uint8Array.of(count & 0xff) : finding(`${count} of ${rows} rows have a code`);
      });
      const answer = canary.both("nearest", (guarded) =>
        guarded.ask((kernels, p, length) => kernels.nearest(guarded.held.snapshot, p, length), question),
      );
      if (typeof answer === "number" && (answer !== -1 || rows === ROWS[0]))
        finding(`nearest: status ${answer}`);
      if (rows === ROWS[0]) canary.both("codesCopy", copied);
    },
    close: async () => undefined,
  };
}

interface Copying {
  readonly segment: number;
  readonly codes: number;
  readonly copy: number;
}

/**
 * Copies the codes to the same rows of a region without codes. Returns the result and restores that region.
 */
function copied(guarded: Guarded<Copying>): Uint8Array {
  const { instance, held } = guarded;
  const { segment, codes, copy } = held;
  const length = codesLength(ROWS[0]);
  const before = Buffer.from(instance.view().subarray(copy, copy + length));
  instance.run((kernels) => kernels.codesCopy(segment, copy, segment, codes, 0, ROWS[0]));
  const result = new Uint8Array(instance.view().subarray(copy, copy + length));
  instance.view().set(before, copy);
  guarded.checkRegions();
  return result;
}
