// The engine's only raw loads and stores. All other code goes through these functions. Addresses are absolute
// and unchecked: callers own the bounds. Only the checked engine asserts that an address lies in the static
// data or in memory that the arena has allocated.

import { CHECKED } from "./checked";

const FIRST: usize = 1024; // start of the static data, as set by the compiler

export abstract class Mem {
  /** End of allocated memory. Only the checked engine maintains it. */
  static end: usize = 0xffffffff;

  /**
   * Asserts that the `bytes` bytes at p lie in allocated memory. An address below FIRST wraps around and
   * fails as well.
   */
  @inline static check(p: usize, bytes: usize): void {
    assert(p - FIRST <= Mem.end - FIRST - bytes, "an address lies inside what the arena has given out");
  }

  /** Rounds up to a multiple of 16. */
  @inline static aligned(bytes: usize): usize {
    return (bytes + 15) & ~15;
  }

  static checkAll(p: usize, bytes: usize): void {
    const inside = p >= FIRST && p <= Mem.end && bytes <= Mem.end - p;
    assert(inside || bytes == 0, "addresses lie inside what the arena has given out");
  }

  /**
   * Stores a byte with release order: a thread that sees it also sees everything that this thread wrote
   * before it.
   */
  @inline static putU8Last(p: usize, value: u32): void {
    if (CHECKED) Mem.check(p, 1);
    atomic.store<u8>(p, <u8>value);
  }

  /** Orders later reads after all earlier reads. `own`: a u32 that no other thread uses. */
  @inline static readInOrder(own: usize): void {
    if (CHECKED) Mem.check(own, 4);
    atomic.add<u32>(own, 0);
  }

  @inline static u8At(p: usize): u32 {
    if (CHECKED) Mem.check(p, 1);
    return load<u8>(p);
  }
  @inline static u16At(p: usize): u32 {
    if (CHECKED) Mem.check(p, 2);
    return load<u16>(p);
  }
  @inline static u32At(p: usize): u32 {
    if (CHECKED) Mem.check(p, 4);
    return load<u32>(p);
  }
  @inline static i32At(p: usize): i32 {
    if (CHECKED) Mem.check(p, 4);
    return load<i32>(p);
  }
  @inline static u64At(p: usize): u64 {
    if (CHECKED) Mem.check(p, 8);
    return load<u64>(p);
  }
  @inline static i64At(p: usize): i64 {
    if (CHECKED) Mem.check(p, 8);
    return load<i64>(p);
  }
  @inline static f32At(p: usize): f32 {
    if (CHECKED) Mem.check(p, 4);
    return load<f32>(p);
  }
  @inline static f64At(p: usize): f64 {
    if (CHECKED) Mem.check(p, 8);
    return load<f64>(p);
  }
  /** The f32 at p in all four lanes. */
  @inline static splatAt(p: usize): v128 {
    if (CHECKED) Mem.check(p, 4);
    return v128.load32_splat(p);
  }
  @inline static v128At(p: usize): v128 {
    if (CHECKED) Mem.check(p, 16);
    return v128.load(p);
  }
  @inline static putU8(p: usize, x: u32): void {
    if (CHECKED) Mem.check(p, 1);
    store<u8>(p, <u8>x);
  }
  @inline static putU16(p: usize, x: u32): void {
    if (CHECKED) Mem.check(p, 2);
    store<u16>(p, <u16>x);
  }
  @inline static putU32(p: usize, x: u32): void {
    if (CHECKED) Mem.check(p, 4);
    store<u32>(p, x);
  }
  @inline static putU64(p: usize, x: u64): void {
    if (CHECKED) Mem.check(p, 8);
    store<u64>(p, x);
  }
  @inline static putF32(p: usize, x: f32): void {
    if (CHECKED) Mem.check(p, 4);
    store<f32>(p, x);
  }
  @inline static putF64(p: usize, x: f64): void {
    if (CHECKED) Mem.check(p, 8);
    store<f64>(p, x);
  }
  @inline static putV128(p: usize, x: v128): void {
    if (CHECKED) Mem.check(p, 16);
    v128.store(p, x);
  }
  @inline static copy(to: usize, from: usize, bytes: usize): void {
    if (CHECKED) Mem.checkAll(to, bytes);
    if (CHECKED) Mem.checkAll(from, bytes);
    memory.copy(to, from, bytes);
  }
  @inline static fill(p: usize, byte: u8, bytes: usize): void {
    if (CHECKED) Mem.checkAll(p, bytes);
    memory.fill(p, byte, bytes);
  }
}
