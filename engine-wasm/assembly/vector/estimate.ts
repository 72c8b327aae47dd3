// Estimates the cosine between a query and a vector from the vector's code alone. The estimate orders rows
// with nearly the same Hamming distance; an exact cosine requires the vector itself.
//
// A code represents the vector of the signs, scaled to length 1. Its dot product with the query is the sum of
// the query's numbers, each with its sign from the code, divided by sqrt(512). The numbers of a rotated
// vector are almost normally distributed, so their mean absolute value is sqrt(2 / pi) times their standard
// deviation. The cosine of a vector and its code is therefore about sqrt(2 / pi), and the query's cosine with
// the code is sqrt(2 / pi) times its cosine with the vector (Gao and Long, "RaBitQ", 2024). Dividing the sum
// by sqrt(512) * sqrt(2 / pi) makes the estimate unbiased.

import { CODE_BYTES, VECTOR_SIZE } from "../layout";
import { scratch } from "../memory/arena";
import { Mem } from "../memory/mem";

const CODE: usize = CODE_BYTES;
const BYTE_VALUES: usize = 256;
const TABLE_BYTES: usize = BYTE_VALUES << 2;

export abstract class Estimates {
  /**
   * Builds lookup tables for `query`, an f32[VECTOR_SIZE], in scratch memory: one per byte of a code. An
   * entry is the scaled sum of the query's eight numbers for that byte, with their signs taken from the
   * byte's bits.
   */
  static make(query: usize): usize {
    const tables = scratch(CODE * TABLE_BYTES);
    const scale = Math.sqrt(Math.PI / (2 * <f64>VECTOR_SIZE));
    for (let i: usize = 0; i < CODE; i++) fillTable(tables + i * TABLE_BYTES, query + (i << 5), scale);
    return tables;
  }

  /** Returns the estimated cosine between the tables' query and the vector of a code. */
  static of(tables: usize, code: usize): f32 {
    let sum: f32 = 0;
    for (let i: usize = 0; i < CODE; i++) {
      sum += Mem.f32At(tables + ((<usize>Mem.u8At(code + i)) << 2));
      tables += TABLE_BYTES;
    }
    return sum;
  }
}

/** Builds each entry from the entry with one bit fewer: they differ by the sign of one number. */
function fillTable(table: usize, numbers: usize, scale: f64): void {
  let none: f64 = 0;
  for (let i: usize = 0; i < 8; i++) none -= <f64>Mem.f32At(numbers + (i << 2));
  Mem.putF32(table, <f32>(none * scale));
  for (let value: usize = 1; value < BYTE_VALUES; value++) {
    const fewer = Mem.f32At(table + ((value & (value - 1)) << 2));
    const turned = <f32>(2 * scale * <f64>Mem.f32At(numbers + ((<usize>ctz(value)) << 2)));
    Mem.putF32(table + (value << 2), fewer + turned);
  }
}
