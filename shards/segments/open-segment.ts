// A segment in an engine's memory and the bitsets that say which of its rows live. Snapshots share both and the last
// snapshot that names them frees them; an Engine knows nothing of sharing. They move when the engine is renewed. Nothing
// is freed in an engine that has trapped, because the whole engine is thrown away.

import { type Engine, liveBytes } from "../../engine-wasm/host/instance/engine.js";
import type { Renewal } from "../../engine-wasm/host/instance/renewal.js";
import { codesLength } from "../../engine-wasm/host/vectors/codes.js";
import type { DeletedRows } from "./deleted-rows.js";
import type { SegmentRecord } from "./manifest.js";

/** A region of engine memory with a count of its holders. */
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

  /** Where the region is now. The address is valid until the engine's next renewal. */
  get address(): number {
    return this.#address;
  }

  /** Tells the new address after the engine was renewed and has copied the region. */
  moved(address: number): void {
    this.#address = address;
  }

  take(): void {
    this.#holders++;
  }

  /** Frees the region when the last holder leaves. */
  drop(): void {
    this.#holders--;
    if (this.#holders === 0) this.#free(this.#address);
  }
}

/** The codes of a segment's rows. A row without one may get one later; snapshots, and readers of other threads, share them even so. */
export class SegmentCodes extends Shared {
  /** What made the oldest of their vectors. */
  readonly origin: number;
  /** The seqs of rows whose vectors are still to come; not all of them unless `settled`. */
  waiting: Set<number> = new Set();
  /** Rows without a code are known: those that wait, and those that have no vector. */
  settled = false;
  /** They lie in the database as they are. */
  stored = false;

  /** Takes over a codes region of the engine. */
  constructor(engine: Engine, address: number, rows: number, origin: number) {
    super(address, codesLength(rows), (codes) => engine.usable && engine.releaseCodes(codes));
    this.origin = origin;
  }
}

export class OpenSegment extends Shared {
  readonly record: Readonly<SegmentRecord>;
  readonly terms: number;
  #codes: SegmentCodes | null = null;

  /** `address` is what `engine.attach` returned. The segment is freed by `engine.detach`. */
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

  /** Holds these codes in the place of those before. The caller has the snapshots of the segment show them. */
  replaceCodes(codes: SegmentCodes | null): void {
    codes?.take();
    this.#codes?.drop();
    this.#codes = codes;
  }
}

class LiveRows extends Shared {
  /** Takes over a bitset of `engine.liveAll` or `engine.liveCopy`. */
  constructor(engine: Engine, address: number, rows: number) {
    super(address, liveBytes(rows), (live) => engine.usable && engine.liveRelease(live));
  }
}

/** A segment as one snapshot sees it. When `live` is null, every row lives. */
export interface LiveSegment {
  segment: OpenSegment;
  live: LiveRows | null;
}

/** The live rows of a segment once `rows` are deleted as well. Null while no row of it is deleted. */
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

/** Takes hold of the segments and bitsets of these entries until `dropEntries`. */
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
 * Moves the engine to a fresh instance that holds only the segments and bitsets of these entries, their codes and these `codes`.
 * The renewal may have copied some of them already.
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
