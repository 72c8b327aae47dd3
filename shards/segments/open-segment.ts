// A segment in an engine's memory, and the bitsets of its live rows. Snapshots share both, and the last
// snapshot that names them frees them; an Engine knows nothing about sharing. They move when the engine is
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
 * The codes of a segment's rows. A row without a code may get one later, even though snapshots and readers of
 * other threads share them.
 */
export class SegmentCodes extends Shared {
  /** Origin of the oldest of their vectors. */
  readonly origin: number;
  /** Seqs of rows still waiting for vectors; incomplete unless `settled`. */
  waiting: Set<number> = new Set();
  /** The rows without a code are known: those waiting, and those without a vector. */
  settled = false;
  /** The database has them in their present form. */
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

/** The live rows of a segment after also deleting `rows`. Null while no row of it is deleted. */
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

/** References the segments and bitsets of these entries until `dropEntries`. */
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
 * Moves the engine to a fresh instance that holds only the segments and bitsets of these entries, their codes
 * and these `codes`. The renewal may have copied some of them already.
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
