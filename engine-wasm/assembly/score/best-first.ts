// A heap of candidate rows that yields the most promising row first: the one with the highest upper bound on
// text match plus bonus or, among equals, the newest one. Works on plain numbers and does not know how they
// were computed.
//
//   entry: | f64 bound | u32 row | u32 the row's number in the set that was scored |
import { scratch, scratchZeroed } from "../memory/arena";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";

const ENTRY_ROW: usize = 8;
const ENTRY_NUMBER: usize = 12;
const ENTRY_BYTES: usize = 16;
const ENTRIES_FIRST: u32 = 1024;

function before(entry: usize, bound: f64, row: u32): bool {
  const own = Mem.f64At(entry);
  return own > bound || (own == bound && Mem.u32At(entry + ENTRY_ROW) > row);
}

/** One search's candidate rows, and the heap that `kthLargest` uses. Allocated in scratch memory. */
@unmanaged
export class BestFirst {
  entries: usize;
  capacity: u32;
  held: u32;
  largest: usize; // f64[]: min-heap of the k largest numbers
  largestRoom: u32;

  static make(): BestFirst {
    return changetype<BestFirst>(scratchZeroed(offsetof<BestFirst>()));
  }

  clear(): void {
    this.held = 0;
  }

  /** Adds a row. Call `ready` before removing rows. */
  add(bound: f64, row: u32, number: u32): void {
    if (this.held == this.capacity) this.grow();
    const entry = this.entries + <usize>this.held * ENTRY_BYTES;
    this.held++;
    Mem.putF64(entry, bound);
    Mem.putU32(entry + ENTRY_ROW, row);
    Mem.putU32(entry + ENTRY_NUMBER, number);
  }

  private grow(): void {
    this.capacity = max(ENTRIES_FIRST, this.capacity * 2);
    const grown = scratch(<usize>this.capacity * ENTRY_BYTES);
    Mem.copy(grown, this.entries, <usize>this.held * ENTRY_BYTES);
    this.entries = grown;
  }

  count(): u32 {
    return this.held;
  }

  /** Number of the i-th row added. Valid until `ready`. */
  numberAt(i: u32): u32 {
    return Mem.u32At(this.entries + <usize>i * ENTRY_BYTES + ENTRY_NUMBER);
  }

  /** Turns the rows into a heap. */
  ready(): void {
    for (let i = this.held >> 1; i > 0; i--)
      this.sink(i - 1, Mem.v128At(this.entries + <usize>(i - 1) * ENTRY_BYTES));
  }

  any(): bool {
    return this.held > 0;
  }

  bound(): f64 {
    return Mem.f64At(this.entries);
  }

  row(): u32 {
    return Mem.u32At(this.entries + ENTRY_ROW);
  }

  number(): u32 {
    return Mem.u32At(this.entries + ENTRY_NUMBER);
  }

  /** Removes the most promising row. */
  drop(): void {
    const bound = CHECKED ? this.bound() : 0;
    this.held--;
    if (this.held > 0) this.sink(0, Mem.v128At(this.entries + <usize>this.held * ENTRY_BYTES));
    if (CHECKED)
      assert(this.held == 0 || this.bound() <= bound, "rows are taken out the most promising first");
  }

  /** Puts an entry at position i and sifts it down. */
  private sink(i: u32, entry: v128): void {
    const bound = f64x2.extract_lane(entry, 0);
    const row = <u32>i32x4.extract_lane(entry, 2);
    while (true) {
      let child: u32 = 2 * i + 1;
      if (child >= this.held) break;
      let at = this.entries + <usize>child * ENTRY_BYTES;
      if (child + 1 < this.held && before(at + ENTRY_BYTES, Mem.f64At(at), Mem.u32At(at + ENTRY_ROW))) {
        child++;
        at += ENTRY_BYTES;
      }
      if (!before(at, bound, row)) break;
      Mem.putV128(this.entries + <usize>i * ENTRY_BYTES, Mem.v128At(at));
      i = child;
    }
    Mem.putV128(this.entries + <usize>i * ENTRY_BYTES, entry);
  }

  /**
   * Returns the k-th largest of `count` numbers at `values`, or -Infinity if there are fewer. Ignores NaN.
   */
  kthLargest(values: usize, count: u32, k: u32): f64 {
    if (k == 0 || count < k) return -Infinity;
    if (k > this.largestRoom) {
      this.largest = scratch((<usize>k) << 3);
      this.largestRoom = k;
    }
    for (let i: usize = 0; i < <usize>k; i++) Mem.putF64(this.largest + (i << 3), -Infinity);
    let least = -Infinity;
    for (let i: usize = 0; i < <usize>count; i++) {
      const value = Mem.f64At(values + (i << 3));
      if (!(value > least)) continue;
      this.replaceLeast(value, k);
      least = Mem.f64At(this.largest);
    }
    return least;
  }

  private replaceLeast(value: f64, k: u32): void {
    let i: u32 = 0;
    while (true) {
      let child: u32 = 2 * i + 1;
      if (child >= k) break;
      if (
        child + 1 < k &&
        Mem.f64At(this.largest + ((<usize>(child + 1)) << 3)) <
          Mem.f64At(this.largest + ((<usize>child) << 3))
      )
        child++;
      const below = Mem.f64At(this.largest + ((<usize>child) << 3));
      if (below >= value) break;
      Mem.putF64(this.largest + ((<usize>i) << 3), below);
      i = child;
    }
    Mem.putF64(this.largest + ((<usize>i) << 3), value);
  }
}
