// The only raw loads and stores of the engine. Everything else goes through these names.
// Addresses are absolute; nothing here is checked: callers own the bounds.

export abstract class Mem {
  @inline static u8At(p: usize): u32 {
    return load<u8>(p);
  }
  @inline static u16At(p: usize): u32 {
    return load<u16>(p);
  }
  @inline static u32At(p: usize): u32 {
    return load<u32>(p);
  }
  @inline static i32At(p: usize): i32 {
    return load<i32>(p);
  }
  @inline static u64At(p: usize): u64 {
    return load<u64>(p);
  }
  @inline static i64At(p: usize): i64 {
    return load<i64>(p);
  }
  @inline static f64At(p: usize): f64 {
    return load<f64>(p);
  }
  @inline static v128At(p: usize): v128 {
    return v128.load(p);
  }
  @inline static putU8(p: usize, x: u32): void {
    store<u8>(p, <u8>x);
  }
  @inline static putU16(p: usize, x: u32): void {
    store<u16>(p, <u16>x);
  }
  @inline static putU32(p: usize, x: u32): void {
    store<u32>(p, x);
  }
  @inline static putU64(p: usize, x: u64): void {
    store<u64>(p, x);
  }
  @inline static putF64(p: usize, x: f64): void {
    store<f64>(p, x);
  }
  @inline static putV128(p: usize, x: v128): void {
    v128.store(p, x);
  }
  @inline static copy(to: usize, from: usize, bytes: usize): void {
    memory.copy(to, from, bytes);
  }
  @inline static fill(p: usize, byte: u8, bytes: usize): void {
    memory.fill(p, byte, bytes);
  }
}
