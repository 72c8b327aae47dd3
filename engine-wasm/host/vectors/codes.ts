// Manages one instance's codes regions. A row's code has one bit for each number of its vector.
// docs/FORMATS.md shows the layout. The caller keeps track of which codes belong to which segment.
import { CODE_BYTES, CODES_PRESENT, CODES_ROWS, SEG_ROWS, VECTOR_BYTES } from "../../assembly/layout.js";
import { statusError } from "../engine-error.js";
import type { EngineInstance } from "../wasm/memory.js";

/** A segment and its rows' codes. */
export interface CodesOf {
  readonly segment: number;
  readonly codes: number;
}

/** Rows copied or filled per step: 256 KiB of codes, which takes a fraction of a millisecond. */
const ROWS_A_STEP = 4096;

/** Size of a codes region in bytes. */
export function codesLength(rows: number): number {
  return CODES_PRESENT + Math.ceil(rows / 64) * 8 + rows * CODE_BYTES;
}

export class CodeRegions {
  readonly #instance: EngineInstance;

  constructor(instance: EngineInstance) {
    this.#instance = instance;
  }

  create(rows: number): number {
    return this.#instance.run((kernels) => kernels.codesNew(rows)) >>> 0;
  }

  /** Checks a region that the caller has filled. Releases the region if it is inconsistent. */
  check(codes: number, bytes: number): void {
    const status = this.#instance.run((kernels) => kernels.checkCodes(codes, bytes));
    if (status === 0) return;
    this.#instance.release(codes);
    throw statusError(-status);
  }

  /** Yields consecutive views of a region's bytes. */
  *parts(codes: number): Generator<Uint8Array> {
    const rows = this.#instance.view().readUInt32LE(codes + CODES_ROWS);
    const first = codesLength(rows) - rows * CODE_BYTES;
    yield this.#instance.view().subarray(codes, codes + first);
    for (let row = 0; row < rows; row += ROWS_A_STEP) {
      this.#instance.run((kernels) => kernels.codesTidy(codes, row, ROWS_A_STEP));
      const end = Math.min(rows, row + ROWS_A_STEP);
      yield this.#instance
        .view()
        .subarray(codes + first + row * CODE_BYTES, codes + first + end * CODE_BYTES);
    }
  }

  bytes(codes: number, rows: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(codesLength(rows));
    let at = 0;
    for (const part of this.parts(codes)) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }

  /** Sets codes from vector records. Throws EngineError("program") if the region has too few rows. */
  fill(codes: number, firstRow: number, records: Uint8Array): void {
    const count = Math.floor(records.length / VECTOR_BYTES);
    if (count * VECTOR_BYTES !== records.length)
      throw new RangeError(`${records.length} bytes are not whole vector records of ${VECTOR_BYTES} bytes`);
    for (let done = 0; done < count; done += ROWS_A_STEP) {
      const some = records.subarray(done * VECTOR_BYTES, (done + ROWS_A_STEP) * VECTOR_BYTES);
      const p = this.#instance.input(some);
      const rows = some.length / VECTOR_BYTES;
      const status = this.#instance.run((kernels) => kernels.codesFill(codes, firstRow + done, p, rows));
      if (status !== 0) throw statusError(-status);
    }
  }

  *copy(to: CodesOf, from: CodesOf): Generator<void> {
    const rows = this.#instance.view().readUInt32LE(to.segment + SEG_ROWS);
    for (let row = 0; row < rows; ) {
      row =
        this.#instance.run((kernels) =>
          kernels.codesCopy(to.segment, to.codes, from.segment, from.codes, row, ROWS_A_STEP),
        ) >>> 0;
      if (row < rows) yield;
    }
  }

  count(codes: number, live: number): number {
    return this.#instance.run((kernels) => kernels.codesCount(codes, live)) >>> 0;
  }
}
