// Sorted lists of dictionary terms with their document frequencies. They are collected segment by segment,
// then merged across the segments of a snapshot. A list is one contiguous block of scratch memory: a header,
// then the entries. It is sorted in byte order, or by length and then in byte order.
//
//   list:  | u32 slots, u32 bytes of an entry, u32 count, u32 0 | entry ... |
//   entry: | u32 address, u32 length, u8 distance, u8 isPrefix, u16 0, u32 0 | u32 frequency by slot ... |
import { scratch } from "../memory/arena";
import { Mem } from "../memory/mem";
import { compareBytes } from "../memory/order";
import { Seg } from "../segment/segment";

@unmanaged
export class TermEntry {
  at: usize;
  length: u32;
  distance: u8;
  isPrefix: u8;
  padding: u16;
  reserved: u32;

  @inline frequencies(): usize {
    return changetype<usize>(this) + offsetof<TermEntry>();
  }
}

@unmanaged
export class TermList {
  slotCount: u32;
  entryBytes: u32;
  count: u32;
  padding: u32;

  /** Creates an empty list. Nothing else may allocate scratch memory until its last entry is added. */
  static begin(slotCount: u32): TermList {
    const list = changetype<TermList>(scratch(offsetof<TermList>()));
    list.slotCount = slotCount;
    list.entryBytes = (<u32>offsetof<TermEntry>() + (slotCount << 2) + 15) & ~15;
    list.count = 0;
    return list;
  }

  @inline entry(index: u32): TermEntry {
    return changetype<TermEntry>(
      changetype<usize>(this) + offsetof<TermList>() + <usize>index * <usize>this.entryBytes,
    );
  }

  /** Appends a term from the segment; `frequencies` is u32[slots]. */
  add(segment: usize, term: u32, distance: u32, isPrefix: bool, frequencies: usize): void {
    const entry = changetype<TermEntry>(scratch(this.entryBytes));
    entry.at = Seg.termAt(segment, term);
    entry.length = Seg.termLength(segment, term);
    entry.distance = <u8>distance;
    entry.isPrefix = <u8>isPrefix;
    Mem.copy(entry.frequencies(), frequencies, (<usize>this.slotCount) << 2);
    this.count++;
  }

  /** Merges two lists that have the same order. If a term is in both, its frequencies are added. */
  static merged(a: TermList, b: TermList, byLength: bool): TermList {
    if (a.count == 0) return b;
    const list = TermList.begin(a.slotCount);
    scratch(<usize>(a.count + b.count) * <usize>a.entryBytes);
    let i: u32 = 0;
    let j: u32 = 0;
    while (i < a.count || j < b.count) {
      const x = a.entry(i);
      const y = b.entry(j);
      const order = i == a.count ? 1 : j == b.count ? -1 : compare(x, y, byLength);
      const entry = list.entry(list.count++);
      Mem.copy(changetype<usize>(entry), changetype<usize>(order <= 0 ? x : y), a.entryBytes);
      if (order == 0) addFrequencies(entry.frequencies(), y.frequencies(), a.slotCount);
      if (order <= 0) i++;
      if (order >= 0) j++;
    }
    return list;
  }
}

function compare(x: TermEntry, y: TermEntry, byLength: bool): i32 {
  if (byLength && x.length != y.length) return x.length < y.length ? -1 : 1;
  return compareBytes(x.at, x.length, y.at, y.length);
}

function addFrequencies(to: usize, from: usize, slotCount: u32): void {
  for (let slot: usize = 0; slot < <usize>slotCount; slot++) {
    const sum = to + (slot << 2);
    Mem.putU32(sum, Mem.u32At(sum) + Mem.u32At(from + (slot << 2)));
  }
}
