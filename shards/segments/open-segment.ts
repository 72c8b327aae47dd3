// A segment in an engine's memory, and the bitsets of its live rows. Snapshots share both, and the last
// snapshot that refers to them frees them; the Engine does not know about the sharing. Both move when the
// engine is renewed. After a trap, nothing is freed, because the whole engine is discarded.

import { type Engine, liveBytes } from "../../engine-wasm/host/instance/engine.js";
import type { Renewal } from "../../engine-wasm/host/instance/renewal.js";
import { codesLength } from "../../engine-wasm/host/vectors/codes.js";
import type { DeletedRows } from "./deleted-rows.js";
import type { SegmentRecord } from "./manifest.js";

/** A reference-counted region of engine memory. */
class Shared {
  readonly bytes: number;
  readonly #free: (address: number) => unknown;
  #address: number;
  #holders = 0;

  constructor(address: number, bytes: number, free: (address: number) => unknown) {
    this.#address = address;
    this.bytes = bytes;
    this.#free = free;
  }

  /** The region's current address, valid until the engine's next renewal. */
  get address(): number {
    return this.#address;
  }

  /** Sets the new address after a renewal has copied the region. */
  moved(address: number): void {
    this.#address = address;
  }

  take(): void {
    this.#holders++;
  }

  /** Releases one reference. Releasing the last reference frees the region. */
  drop(): void {
    this.#holders--;
    if (this.#holders === 0) this.#free(this.#address);
  }
}

/**
 * The codes of a segment's rows. Although snapshots and readers in other threads share them, a row without a
 * code may still get one later.
 */
export class SegmentCodes extends Shared {
  /** Origin (see Space) of the vectors from which the codes were made. */
  readonly origin: number;
  /** Seqs of rows still waiting for vectors; incomplete unless `settled`. */
  waiting: Set<number> = new Set();
  /**
   * True if it is known why each row without a code lacks one: either it is waiting for a vector, or it has
   * no vector.
   */
  settled = false;
  /** True if the database contains the codes in their present form. */
  stored = false;

  /** Takes ownership of one of the engine's codes regions. */
  constructor(engine: Engine, address: number, rows: number, origin: number) {
    super(address, codesLength(rows), (codes) => engine.usable && engine.releaseCodes(codes));
    this.origin = origin;
  }
}

export class OpenSegment extends Shared {
  readonly record: Readonly<SegmentRecord>;
  readonly terms: number;
  #codes: SegmentCodes | null = null;

  /** `address` was returned by `engine.attach`; `engine.detach` frees the segment. */
  constructor(engine: Engine, address: number, record: SegmentRecord, terms: number) {
    super(address, record.bytes, (handle) => {
      this.replaceCodes(null);
      if (engine.usable) engine.detach(handle);
    });
    this.record = record;
    this.terms = terms;
  }

  get codes(): SegmentCodes | null {
    return this.#codes;
  }

  /** Replaces the codes. The caller must then update the snapshots that contain the segment. */
  replaceCodes(codes: SegmentCodes | null): void {
    codes?.take();
    this.#codes?.drop();
    this.#codes = codes;
  }
}

class LiveRows extends Shared {
  /** Takes ownership of a bitset returned by `engine.liveAll` or `engine.liveCopy`. */
  constructor(engine: Engine, address: number, rows: number) {
    super(address, liveBytes(rows), (live) => engine.usable && engine.liveRelease(live));
  }
}

/** A segment as one snapshot sees it. If `live` is null, all rows live. */
export interface LiveSegment {
  segment: OpenSegment;
  live: LiveRows | null;
}

/**
 * Returns the segment's live rows after deleting `rows` as well. Null if no row of the segment is deleted.
 */
export function killRows(engine: Engine, entry: LiveSegment, rows: Iterable<number>): LiveRows | null {
  let copy = 0;
  const count = entry.segment.record.rows;
  for (const row of rows) {
    if (copy === 0) {
      copy = entry.live === null ? engine.liveAll(count) : engine.liveCopy(entry.live.address, count);
    }
    engine.kill(copy, row);
  }
  return copy === 0 ? entry.live : new LiveRows(engine, copy, count);
}

/** Returns the segment's live rows together with `rows`. Null if no row of the segment is deleted. */
export function reviveRows(
  engine: Engine,
  { segment, live }: LiveSegment,
  rows: readonly number[],
): LiveRows | null {
  if (live === null) return null;
  const count = segment.record.rows;
  const copy = engine.liveCopy(live.address, count);
  engine.revive(copy, rows);
  return new LiveRows(engine, copy, count);
}

export function liveOf(engine: Engine, deleted: DeletedRows, segment: OpenSegment): LiveRows | null {
  return killRows(engine, { segment, live: null }, deleted.rows());
}

/** Adds references to these entries' segments and bitsets, which keep them alive until `dropEntries`. */
export function takeEntries(entries: readonly LiveSegment[]): void {
  for (const { segment, live } of entries) {
    segment.take();
    live?.take();
  }
}

export function dropEntries(entries: readonly LiveSegment[]): void {
  for (const { segment, live } of entries) {
    segment.drop();
    live?.drop();
  }
}

/**
 * Moves the engine to a fresh instance that contains only these entries' segments and bitsets, their codes,
 * and the given `codes`. `renewal` may already have copied some of them.
 */
export function renewEngine(
  engine: Engine,
  entries: Iterable<LiveSegment>,
  codes: Iterable<SegmentCodes | null>,
  renewal?: Renewal,
): void {
  const regions = new Set<Shared>();
  for (const { segment, live } of entries) {
    regions.add(segment);
    if (segment.codes !== null) regions.add(segment.codes);
    if (live !== null) regions.add(live);
  }
  for (const one of codes) if (one !== null) regions.add(one);
  const moving = [...regions];
  for (const [i, address] of engine.renew(moving, renewal).entries()) moving[i]!.moved(address);
}

/** Converts the entries to addresses in the engine's memory. */
export function engineEntries(entries: readonly LiveSegment[]): { segment: number; live: number }[] {
  return entries.map(({ segment, live }) => ({ segment: segment.address, live: live?.address ?? 0 }));
}
