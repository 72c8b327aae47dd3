// Computes cosines between vectors and a query. Both have length 1, so a cosine is a dot product. Numbers are
// multiplied as floats, because a query quantised to 8 or 16 bits would lose the precision needed to order
// close rows.

import { STATUS_BAD_PROGRAM, VECTOR_NUMBERS, VECTOR_SCALE, VECTOR_SIZE } from "../layout";
import { Mem } from "../memory/mem";
import { Result } from "../memory/result";

const SIZE: usize = VECTOR_SIZE;
const QUERY_BYTES: usize = SIZE << 2;
const ADDRESS: usize = 4;

/** Multiplies four of a vector record's numbers by four of a query's numbers. */
abstract class Products {
  @inline static of(numbers: v128, query: usize): v128 {
    return f32x4.mul(f32x4.convert_i32x4_s(numbers), Mem.v128At(query));
  }
}

/** The dot product of i8[VECTOR_SIZE] and f32[VECTOR_SIZE]. */
function dot(numbers: usize, query: usize): f32 {
  let a = f32x4.splat(0);
  let b = f32x4.splat(0);
  for (let end = numbers + SIZE; numbers < end; numbers += 16) {
    const all = Mem.v128At(numbers);
    const low = i16x8.extend_low_i8x16_s(all);
    const high = i16x8.extend_high_i8x16_s(all);
    a = f32x4.add(a, Products.of(i32x4.extend_low_i16x8_s(low), query));
    b = f32x4.add(b, Products.of(i32x4.extend_high_i16x8_s(low), query + 16));
    a = f32x4.add(a, Products.of(i32x4.extend_low_i16x8_s(high), query + 32));
    b = f32x4.add(b, Products.of(i32x4.extend_high_i16x8_s(high), query + 48));
    query += 64;
  }
  const sum = f32x4.add(a, b);
  return (
    f32x4.extract_lane(sum, 0) +
    f32x4.extract_lane(sum, 1) +
    (f32x4.extract_lane(sum, 2) + f32x4.extract_lane(sum, 3))
  );
}

function cosine(record: usize, query: usize): f32 {
  const scale = Mem.f32At(record + VECTOR_SCALE);
  return scale > 0 ? scale * dot(record + VECTOR_NUMBERS, query) : <f32>NaN;
}

/**
 * Input: f32[VECTOR_SIZE], a query of length 1, then the u32 addresses of vector records (0 = no vector).
 * Result: one f32 per address, the record's cosine with the query, or NaN if there is no vector. The input
 * contains addresses, so it must not come from outside. Returns -STATUS_BAD_PROGRAM if the addresses are
 * truncated.
 */
export function similarities(input: usize, bytes: usize): i32 {
  if (bytes < QUERY_BYTES || (bytes - QUERY_BYTES) % ADDRESS != 0) return -STATUS_BAD_PROGRAM;
  const result = Result.open();
  const end = input + bytes;
  for (let at = input + QUERY_BYTES; at < end; at += ADDRESS) {
    const record = <usize>Mem.u32At(at);
    result.putU32(reinterpret<u32>(record == 0 ? <f32>NaN : cosine(record, input)));
  }
  return <i32>result.close();
}
