// Checks an embedded model's bytes once, before a kernel reads them. All offsets and lengths must lie inside
// the model, and terms must be in ascending order. Weights and factors must be small enough that sums cannot
// overflow. Vector components may have any value.

import {
  EMBEDDED_MAGIC,
  EMBEDDED_VERSION,
  MODEL_BYTES,
  MODEL_FACTORS,
  MODEL_FLAGS,
  MODEL_HEADER_BYTES,
  MODEL_MAGIC,
  MODEL_NUMBER_LIMIT,
  MODEL_SLOT,
  MODEL_SLOT_BYTES,
  MODEL_SLOT_STEMMED,
  MODEL_SLOT_TABLE,
  MODEL_SLOT_WEIGHT,
  MODEL_SLOTS,
  MODEL_SLOTS_MAX,
  MODEL_TERM_BYTES,
  MODEL_TERM_OFFSETS,
  MODEL_TERMS,
  MODEL_VECTORS,
  MODEL_VERSION,
  STATUS_DAMAGED,
  STATUS_OK,
  TERM_BYTES_MAX,
  VECTOR_SIZE,
} from "../layout";
import { Mem } from "../memory/mem";
import { compareBytes } from "../memory/order";

const FLAGS_MAX: u32 = 1;

/** Returns STATUS_OK if the `bytes` bytes at `model` are an embedded model that the kernels may read. */
export function checkModel(model: usize, bytes: u32): i32 {
  const check = changetype<ModelCheck>(model);
  return check.header(bytes) && check.slots() && check.terms() && check.factors()
    ? STATUS_OK
    : STATUS_DAMAGED;
}

/** True if `value` is from 0 to MODEL_NUMBER_LIMIT; false for NaN. */
export function isModelNumber(value: f32): bool {
  return value >= 0 && value <= <f32>MODEL_NUMBER_LIMIT;
}

/**
 * A view of an untrusted model: `this` is the model's address. Until `header` has returned true, nothing
 * after the header may be read.
 */
@unmanaged
class ModelCheck {
  private get base(): usize {
    return changetype<usize>(this);
  }

  private at(offset: usize): u32 {
    return Mem.u32At(this.base + offset);
  }

  /** True if a section of `bytes` bytes lies after the header, inside the model and 8-aligned. */
  private inside(section: usize, bytes: u64): bool {
    const offset = this.at(section);
    if (offset < <u32>MODEL_HEADER_BYTES || (offset & 7) != 0) return false;
    return <u64>offset + bytes <= <u64>this.at(MODEL_BYTES);
  }

  header(bytes: u32): bool {
    return (
      bytes >= <u32>MODEL_HEADER_BYTES &&
      this.at(MODEL_MAGIC) == EMBEDDED_MAGIC &&
      this.at(MODEL_VERSION) == EMBEDDED_VERSION &&
      this.at(MODEL_BYTES) == bytes &&
      this.at(MODEL_FLAGS) <= FLAGS_MAX
    );
  }

  slots(): bool {
    const count = this.at(MODEL_SLOTS);
    if (count > <u32>MODEL_SLOTS_MAX || !this.inside(MODEL_SLOT_TABLE, <u64>count * MODEL_SLOT_BYTES))
      return false;
    return slotsHold(this.base + this.at(MODEL_SLOT_TABLE), count);
  }

  terms(): bool {
    const count = this.at(MODEL_TERMS);
    if (!this.inside(MODEL_TERM_OFFSETS, (<u64>count + 1) << 2) || !this.inside(MODEL_TERM_BYTES, 0))
      return false;
    const offsets = this.base + this.at(MODEL_TERM_OFFSETS);
    const bytes = this.base + this.at(MODEL_TERM_BYTES);
    const room = this.at(MODEL_BYTES) - this.at(MODEL_TERM_BYTES);
    let at = Mem.u32At(offsets);
    if (at != 0) return false;
    let before = bytes;
    let beforeLength: u32 = 0;
    for (let term: usize = 1; term <= <usize>count; term++) {
      const end = Mem.u32At(offsets + (term << 2));
      // An empty term is not allowed.
      if (end <= at || end > room || end - at > <u32>TERM_BYTES_MAX) return false;
      if (compareBytes(before, beforeLength, bytes + at, end - at) >= 0) return false;
      before = bytes + at;
      beforeLength = end - at;
      at = end;
    }
    return true;
  }

  factors(): bool {
    const count = <u64>this.at(MODEL_TERMS);
    if (!this.inside(MODEL_FACTORS, count << 2) || !this.inside(MODEL_VECTORS, count * VECTOR_SIZE))
      return false;
    const factors = this.base + this.at(MODEL_FACTORS);
    const end = factors + ((<usize>count) << 2);
    for (let at = factors; at < end; at += 4) if (!isModelNumber(Mem.f32At(at))) return false;
    return true;
  }
}

/** True if a slot table's entries ascend by slot and their numbers are valid. */
export function slotsHold(table: usize, count: u32): bool {
  let before: i32 = -1;
  for (let i: u32 = 0; i < count; i++) {
    const entry = table + <usize>i * MODEL_SLOT_BYTES;
    const slot = <i32>Mem.u16At(entry + MODEL_SLOT);
    // Reads two bytes: the byte after the flag must be 0.
    if (slot <= before || Mem.u16At(entry + MODEL_SLOT_STEMMED) > 1) return false;
    if (!isModelNumber(Mem.f32At(entry + MODEL_SLOT_WEIGHT))) return false;
    before = slot;
  }
  return true;
}
