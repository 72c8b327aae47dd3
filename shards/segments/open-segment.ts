// A segment in an engine's memory, and the bitsets of its live rows. Snapshots share both, and the last
// snapshot that refers to them frees them; sharing is invisible to the Engine. Both move when the engine is
// renewed. Nothing is freed in an engine that has trapped, because the whole engine is discarded.

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

  /** Current address of the region, valid until the engine's next renewal. */
  get address(): number {
    return this.#address;
  }

  /** Sets the new address after a renewal copied the region. */
  moved(address: number): void {
    this.#address = address;
  }

  take(): void {
    this.#holders++;
  }

  /** Releases one reference; the last one frees the region. */
  drop(): void {
    this.#holders--;
    if (this.#holders === 0) this.#free(this.#address);
  }
}

/**
 * The codes of a segment's rows. Snapshots and readers in other threads share them; nevertheless, a row
 * without a code may get one later.
 */
export class SegmentCodes extends Shared {
  /** Origin of the oldest vector that the codes were made from. */
  readonly origin: number;
  /** Seqs of rows still waiting for vectors; incomplete unless `settled`. */
  waiting: Set<number> = new Set();
  /**
   * True if it is known why each row without a code has none: it is waiting for a vector, or it has no
   * vector.
   */
  settled = false;
  /** True if the codes are stored in the database in their present form. */
  stored = false;

  /** Takes ownership of a codes region of the engine. */
  constructor(engine: Engine, address: number, rows: number, origin: number) {
    super(address, codesLength(rows), (codes) => engine.usable && engine.releaseCodes(codes));
    this.origin = origin;
  }
}

export class OpenSegment extends Shared {
  readonly record: Readonly<SegmentRecord>;
  readonly terms: number;
  #codes: SegmentCodes | null = null;

  /** `address` was returned by `engine.attach`. The segment is freed by `engine.detach`. */
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

  /** Replaces the codes. The caller updates the snapshots of the segment. */
  replaceCodes(codes: SegmentCodes | null): void {
    codes?.take();
    this.#codes?.drop();
    this.#codes = codes;
  }
}

class LiveRows extends Shared {
  /** Takes ownership of a bitset from `engine.liveAll` or `engine.liveCopy`. */
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
 * Returns the live rows of a segment after also deleting `rows`. Null if no row of the segment is deleted.
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

export function liveOf(engine: Engine, deleted: DeletedRows, segment: OpenSegment): LiveRows | null {
  return killRows(engine, { segment, live: null }, deleted.rows());
}

/** Takes references to the segments and bitsets of these entries until `dropEntries`. */
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
 * Moves the engine to a fresh instance that contains only the segments and bitsets of these entries, their
 * codes and the given `codes`. `renewal` may have copied some of them already.
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

/** The entries as addresses in the engine's memory. */
export function engineEntries(entries: readonly LiveSegment[]): { segment: number; live: number }[] {
  return entries.map(({ segment, live }) => ({ segment: segment.address, live: live?.address ?? 0 }));
}
