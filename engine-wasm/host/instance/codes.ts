// Codes regions of one instance: one bit for each number of the vectors of a segment's rows. The picture is in docs/FORMATS.md.
// Which codes belong to which segment is the caller's business.
import { CODE_BYTES, CODES_PRESENT, SEG_ROWS, VECTOR_BYTES } from "../../assembly/layout.js";
import { statusError } from "../engine-error.js";
import type { EngineInstance } from "./memory.js";

/** A segment and the codes of its rows. */
export interface CodesOf {
  readonly segment: number;
  readonly codes: number;
}

/** How many rows are copied or filled in one step: 1 MiB of codes, a fraction of a millisecond. */
const ROWS_A_STEP = 16384;

/** Size of a codes region. */
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

  attach(bytes: Uint8Array): number {
    const codes = this.#instance.region(bytes);
    const status = this.#instance.run((kernels) => kernels.checkCodes(codes, bytes.length));
    if (status === 0) return codes;
    this.#instance.release(codes);
    throw statusError(-status);
  }

  bytes(codes: number, rows: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#instance.view().subarray(codes, codes + codesLength(rows)));
  }

  /** Throws EngineError("program") when the region has fewer rows. */
  fill(codes: number, firstRow: number, records: Uint8Array): void {
    const count = Math.floor(records.length / VECTOR_BYTES);
    if (count * VECTOR_BYTES !== records.length)
      throw new RangeError(`${records.length} bytes are no vector records of ${VECTOR_BYTES} each`);
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

  count(codes: number): number {
    return this.#instance.run((kernels) => kernels.codesCount(codes)) >>> 0;
  }
}
