// Reads the vectors supplied with documents: the `embedding` member, an array of 512 finite numbers, not all
// 0.

import { JSON_ARRAY, JSON_NUMBER } from "../json/json";
import { Decimal } from "../json/json-values";
import { ArrayElements } from "../json/json-walk";
import { VECTOR_SIZE } from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { equalBytes } from "../memory/order";
import { putVectorRecord, turnVector } from "./record";

const SIZE: u32 = VECTOR_SIZE;

/** The member's name, in UTF-8. */
export const EMBEDDING_NAME: usize = memory.data<u8>([0x65, 0x6d, 0x62, 0x65, 0x64, 0x64, 0x69, 0x6e, 0x67]);
export const EMBEDDING_NAME_BYTES: u32 = 9;

export function isEmbeddingName(at: usize, bytes: u32): bool {
  return bytes == EMBEDDING_NAME_BYTES && equalBytes(at, EMBEDDING_NAME, bytes);
}

/** Reads documents' vectors, one at a time. Allocated in scratch memory. */
@unmanaged
export class EmbeddingReader {
  /** Position of the error in the value that was read last. */
  refusedAt: usize;
  private elements: ArrayElements;
  private decimal: Decimal;
  private values: usize; // f64[VECTOR_SIZE]
  private vector: usize; // f32[VECTOR_SIZE]

  static make(): EmbeddingReader {
    const made = changetype<EmbeddingReader>(scratchZeroed(offsetof<EmbeddingReader>()));
    made.elements = ArrayElements.make();
    made.decimal = Decimal.make();
    made.values = scratch((<usize>SIZE) << 3);
    made.vector = scratch((<usize>SIZE) << 2);
    return made;
  }

  /** Reads the JSON value [start, end), which has kind `kind`. Returns false if it is not a vector. */
  read(kind: i32, start: usize, end: usize): bool {
    this.refusedAt = start;
    if (kind != JSON_ARRAY) return false;
    const elements = this.elements;
    let count: u32 = 0;
    let zeros: u32 = 0;
    elements.begin(start, end);
    while (elements.next()) {
      const isNumber = elements.kind == JSON_NUMBER;
      const value = isNumber ? this.decimal.readFloat64(elements.start, elements.end) : NaN;
      if (!isFinite(value) || count == SIZE) {
        this.refusedAt = elements.start;
        return false;
      }
      Mem.putF64(this.values + ((<usize>count) << 3), value);
      if (value == 0) zeros++;
      count++;
    }
    return count == SIZE && zeros < SIZE;
  }

  /** Writes the record of the last vector read. */
  putRecord(record: usize): void {
    if (turnVector(this.values, this.vector)) putVectorRecord(this.vector, record);
  }
}
