// The engine instance for one index in one shard. It contains the index's attached segments and runs programs
// on snapshots of them. The caller keeps track of which segments belong together. Handles are addresses in
// this instance's memory and mean nothing to another instance. Linear memory never shrinks, so an instance
// that wastes much of it is renewed: the caller's regions move to a fresh instance.
import { SEG_BYTES, SEG_ROWS, SNAP_ENTRIES, SNAP_ENTRY_BYTES } from "../../assembly/layout.js";
import { statusError } from "../engine-error.js";
import { discardMemory } from "../runtime/discards.js";
import { CodeRegions, type CodesOf } from "../vectors/codes.js";
import type { EngineInstance } from "../wasm/memory.js";
import type { PublishedSnapshot } from "./board.js";
import { Merge, type MergeEntry } from "./merge.js";
import { type Region, Renewal } from "./renewal.js";
import { type LentMemory, Sharing } from "./sharing.js";

/** Address of an attached segment. */
export type SegmentHandle = number;

/**
 * A segment with its live bitset; 0 in `live` means that all rows are live. Without `codes`, no row has a
 * comparable code.
 */
export interface SnapshotEntry {
  segment: SegmentHandle;
  live: number;
  codes?: number;
}

/** A live row found by id hash. `entry` is an index into the snapshot's segments. */
export interface FoundId {
  /** The hash's index in the request. */
  hashIndex: number;
  entry: number;
  row: number;
  seq: number;
}

export interface RowLocation {
  /** Index into the snapshot's segments; -1 if no segment contains the seq. */
  entry: number;
  row: number;
}

/** Size (bytes) of a live bitset, which consists of u64 words. */
export function liveBytes(rows: number): number {
  return Math.ceil(rows / 64) * 8;
}

const NEVER = Number.POSITIVE_INFINITY;
const FOUND_ID_BYTES = 20;
const LOCATION_BYTES = 8;
const NOT_FOUND = 0xffffffff;

export class Engine {
  readonly #create: () => EngineInstance;
  #instance: EngineInstance;
  /**
   * Address of each segment's summary, which is created when a snapshot first uses the segment. 0 for a
   * segment that needs no summary.
   */
  #summaries = new Map<SegmentHandle, number>();

  #published: readonly PublishedSnapshot[] = [];
  #model = 0;
  /** Null until the memory is first lent to another thread. */
  #sharing: Sharing | null = null;

  /** `create` returns a fresh instance that only this engine uses. */
  constructor(create: () => EngineInstance) {
    this.#create = create;
    this.#instance = create();
  }

  /** Copies a segment into the engine. Throws EngineError("damaged") if it is inconsistent. */
  attach(bytes: Uint8Array): SegmentHandle {
    const segment = this.reserveSegment(bytes.length);
    this.fill(segment, 0, bytes);
    this.attachFilled(segment, bytes.length);
    return segment;
  }

  /**
   * Reserves space for a segment that arrives in parts. The caller writes all parts before `attachFilled`.
   */
  reserveSegment(bytes: number): SegmentHandle {
    return this.#instance.reserve(bytes);
  }

  fill(segment: SegmentHandle, at: number, part: Uint8Array): void {
    this.#instance.view().set(part, segment + at);
  }

  /** Attaches a segment in reserved space, or releases the space and throws EngineError("damaged"). */
  attachFilled(segment: SegmentHandle, bytes: number): void {
    const status = this.#instance.run((kernels) => kernels.checkSegment(segment, bytes));
    if (status === 0) return;
    this.#instance.release(segment);
    throw statusError(-status);
  }

  /** Frees a segment's memory. No snapshot may still refer to the segment. */
  detach(segment: SegmentHandle): void {
    const summary = this.#summaries.get(segment) ?? 0;
    this.#summaries.delete(segment);
    if (summary !== 0) this.#release(summary);
    this.#release(segment);
  }

  rows(segment: SegmentHandle): number {
    return this.#instance.view().readUInt32LE(segment + SEG_ROWS);
  }

  /** Returns a view of a segment's bytes, valid until the next call to the engine. */
  segmentView(segment: SegmentHandle, bytes = this.segmentBytes(segment)): Uint8Array {
    return this.#instance.view().subarray(segment, segment + bytes);
  }

  segmentBytes(segment: SegmentHandle): number {
    return this.#instance.view().readUInt32LE(segment + SEG_BYTES);
  }

  /** A bitset with all rows live. The caller frees it with liveRelease. */
  liveAll(rows: number): number {
    return this.#instance.run((kernels) => kernels.liveAll(rows)) >>> 0;
  }

  liveCopy(live: number, rows: number): number {
    return this.#instance.run((kernels) => kernels.liveCopy(live, rows)) >>> 0;
  }

  /** A copy of the bitset's bytes: ceil(rows / 64) little-endian u64 words. */
  liveBytes(live: number, rows: number): Uint8Array {
    return new Uint8Array(this.#instance.view().subarray(live, live + liveBytes(rows)));
  }

  liveRelease(live: number): void {
    this.#release(live);
  }

  /** Marks a row as deleted. `row` must be below the bitset's row count. Returns true if the row was live. */
  kill(live: number, row: number): boolean {
    return this.#instance.run((kernels) => kernels.liveKill(live, row)) === 1;
  }

  /** Marks deleted rows as live again. They must be below the bitset's row count. */
  revive(live: number, rows: readonly number[]): void {
    const bits = this.#instance.view();
    for (const row of rows) bits[live + (row >> 3)] = bits[live + (row >> 3)]! | (1 << (row & 7));
  }

  liveCount(live: number, rows: number): number {
    return this.#instance.run((kernels) => kernels.liveCount(live, rows));
  }

  /**
   * Stores a snapshot of segments, which must be sorted by seq and must not overlap. The caller keeps
   * ownership of segments, bitsets and codes, which must outlive the snapshot. Returns the snapshot's
   * address, to be passed to queries.
   */
  setSnapshot(entries: readonly SnapshotEntry[]): number {
    const summaries = entries.map(({ segment }) => this.#summaryOf(segment));
    const bytes = Buffer.alloc(SNAP_ENTRIES + entries.length * SNAP_ENTRY_BYTES);
    let at = bytes.writeUInt32LE(entries.length, 0);
    for (const [i, { segment, live, codes }] of entries.entries()) {
      at = bytes.writeUInt32LE(segment, at);
      at = bytes.writeUInt32LE(live, at);
      at = bytes.writeUInt32LE(summaries[i] as number, at);
      at = bytes.writeUInt32LE(codes ?? 0, at);
    }
    return this.#instance.region(bytes);
  }

  /**
   * Creates the summary of an attached segment in small steps. Without this, `setSnapshot` creates a missing
   * summary in one go. The segment must stay attached until the generator ends.
   */
  *summarise(segment: SegmentHandle): Generator<void> {
    if (this.#summaries.has(segment)) return;
    const summary = this.#instance.run((kernels) => kernels.summarise(segment)) >>> 0;
    let more = summary !== 0;
    try {
      for (let step = 0; more; step++) {
        const answer = this.#instance.run((kernels) => kernels.summariseStep(segment, summary, step));
        if (answer < 0) throw statusError(answer);
        more = answer === 1;
        if (more) yield;
      }
      this.#summaries.set(segment, summary);
    } finally {
      if (more && this.usable) this.#instance.release(summary);
    }
  }

  #summaryOf(segment: SegmentHandle): number {
    for (const _ of this.summarise(segment));
    return this.#summaries.get(segment) as number;
  }

  /**
   * Publishes these snapshots, sorted by ascending generation, to readers in other threads. Must be called
   * before any snapshot that is not among them is released.
   */
  publish(snapshots: readonly PublishedSnapshot[]): void {
    this.#published = snapshots;
    this.#sharing?.publish(snapshots);
  }

  /** Publishes the current vector model's number, which must never repeat; 0 means no model. */
  showModel(model: number): void {
    this.#model = model;
    this.#sharing?.showModel(model);
  }

  /** Signals to readers that stored vectors, or the set of comparable vectors, have changed. */
  vectorsChanged(): void {
    this.#sharing?.vectorsChanged();
  }

  /**
   * Lets another thread read the published snapshots until `takeBack`, or until this engine abandons the
   * memory and calls `onEnd`. Returns null if there are already READERS_MAX readers. Throws
   * EngineError("memory").
   */
  lend(scratchBytes: number, onEnd: () => void): LentMemory | null {
    this.#sharing ??= new Sharing(this.#instance, this.#published, this.#model);
    return this.#sharing.lend(scratchBytes, onEnd);
  }

  /** Ends a loan, after the other thread has stopped reading. */
  takeBack(lent: LentMemory): void {
    if (this.usable) this.#sharing?.takeBack(lent);
  }

  /** Changes whenever other threads complete reads. */
  get lentReads(): number {
    return this.#sharing?.reads ?? 0;
  }

  /** Ends all loans. Called when the engine abandons this memory or its contents are no longer known. */
  end(): void {
    this.#sharing?.end();
    this.#sharing = null;
  }

  releaseSnapshot(snapshot: number): void {
    this.#release(snapshot);
  }

  /** Runs an expand program. See `search` for results and errors. */
  expand(snapshot: number, program: Uint8Array, deadline = NEVER): Uint8Array {
    return this.#instance.answer("expand", snapshot, program, deadline);
  }

  /**
   * Runs a search program and returns a copy of the result. Throws EngineError("program" | "damaged" |
   * "memory" | "late").
   */
  search(snapshot: number, program: Uint8Array, deadline = NEVER): Uint8Array {
    return this.#instance.answer("search", snapshot, program, deadline);
  }

  /** Runs an explain request (explain-program.ts). See `search` for results and errors. */
  explain(snapshot: number, question: Uint8Array, deadline = NEVER): Uint8Array {
    return this.#instance.answer("explain", snapshot, question, deadline);
  }

  /** Runs a company program. See `search` for results and errors. */
  company(snapshot: number, program: Uint8Array, deadline = NEVER): Uint8Array {
    return this.#instance.answer("company", snapshot, program, deadline);
  }

  /**
   * Creates a codes region for `rows` rows, none of which has a code yet. The caller owns the region. Throws
   * EngineError("memory").
   */
  newCodes(rows: number): number {
    return this.#codes.create(rows);
  }

  /** Copies a stored codes region into the engine. Throws EngineError("damaged") if it is inconsistent. */
  attachCodes(bytes: Uint8Array): number {
    const codes = this.#instance.region(bytes);
    this.attachFilledCodes(codes, bytes.length);
    return codes;
  }

  /** Like `attachCodes`, for a region from `reserveSegment` that the caller has filled with `fill`. */
  attachFilledCodes(codes: number, bytes: number): void {
    this.#codes.check(codes, bytes);
  }

  /** Yields a codes region's bytes in small views, each valid until the next call to the engine. */
  codesParts(codes: number): Generator<Uint8Array> {
    return this.#codes.parts(codes);
  }

  /** Returns a copy of a whole codes region. `rows` is the row count of the segment it belongs to. */
  codesBytes(codes: number, rows: number): Uint8Array<ArrayBuffer> {
    return this.#codes.bytes(codes, rows);
  }

  /**
   * Sets the codes of consecutive rows, starting at `firstRow`, from vector records. An empty record removes
   * the row's code.
   */
  fillCodes(codes: number, firstRow: number, records: Uint8Array): void {
    this.#codes.fill(codes, firstRow, records);
  }

  /**
   * Copies the codes of all rows that both segments contain, in small steps. Until the generator ends, both
   * segments and both codes regions must stay in place.
   */
  copyCodes(to: CodesOf, from: CodesOf): Generator<void> {
    return this.#codes.copy(to, from);
  }

  /** Number of live rows with a code. 0 as `live` means that all rows are live. */
  codesCount(codes: number, live = 0): number {
    return this.#codes.count(codes, live);
  }

  releaseCodes(codes: number): void {
    this.#release(codes);
  }

  /** Runs a nearest request (nearest-program.ts). See `search` for results and errors. */
  nearest(snapshot: number, question: Uint8Array, deadline = NEVER): Uint8Array {
    return this.#instance.answer("nearest", snapshot, question, deadline);
  }

  /** Returns the live rows whose id hash is among `hashes` (consecutive little-endian u64). */
  findIds(snapshot: number, hashes: Uint8Array): FoundId[] {
    const result = this.#exchangeView(hashes, (kernels, p, bytes) => kernels.findIds(snapshot, p, bytes));
    const found: FoundId[] = [];
    for (let at = 0; at < result.length; at += FOUND_ID_BYTES) {
      found.push({
        hashIndex: result.readUInt32LE(at),
        entry: result.readUInt32LE(at + 4),
        row: result.readUInt32LE(at + 8),
        seq: result.readDoubleLE(at + 12),
      });
    }
    return found;
  }

  /** Locates rows by sequence number, whether live or deleted. Returns them in the order of `seqs`. */
  locate(snapshot: number, seqs: Float64Array): RowLocation[] {
    const input = new Uint8Array(seqs.buffer, seqs.byteOffset, seqs.byteLength);
    const result = this.#exchangeView(input, (kernels, p, bytes) => kernels.locate(snapshot, p, bytes));
    const locations: RowLocation[] = [];
    for (let at = 0; at < result.length; at += LOCATION_BYTES) {
      const entry = result.readUInt32LE(at);
      locations.push({ entry: entry === NOT_FOUND ? -1 : entry, row: result.readUInt32LE(at + 4) });
    }
    return locations;
  }

  /** Merges adjacent segments in steps between queries; merge.ts lists the caller's obligations. */
  beginMerge(entries: readonly MergeEntry[]): Merge {
    return new Merge(this.#instance, entries);
  }

  /** Peak linear memory usage, which never shrinks until the engine is renewed. */
  memoryBytes(): number {
    return this.#instance.memoryBytes();
  }

  /**
   * Total bytes of regions in use, such as segments, bitsets, codes and snapshots: roughly the memory that a
   * renewal would leave in use.
   */
  usedBytes(): number {
    this.#sharing?.sweep();
    return this.#instance.run((kernels) => kernels.regionBytes() - kernels.freeBytes());
  }

  /**
   * Starts a renewal, so that segments can be copied ahead of `renew`. Changes nothing in this engine. Throws
   * EngineError("memory").
   */
  beginRenewal(): Renewal {
    return new Renewal(this.#instance, this.#create(), this.#summaries);
  }

  /**
   * Moves to a fresh instance with only these regions, and returns their new addresses. All other handles,
   * including snapshots and running merges, become invalid. If it throws EngineError("memory"), nothing has
   * changed.
   */
  renew(regions: readonly Region[], renewal = this.beginRenewal()): number[] {
    const addresses = renewal.finish(regions);
    discardMemory(this.memoryBytes());
    this.end();
    this.#instance = renewal.to;
    this.#summaries = renewal.summaries;
    return addresses;
  }

  /** False after a trap; the engine must then be rebuilt from stored segments. */
  get usable(): boolean {
    return this.#instance.usable;
  }

  get #codes(): CodeRegions {
    return new CodeRegions(this.#instance);
  }

  /** Frees a region once no reader in another thread can still see it. */
  #release(region: number): void {
    if (this.#sharing === null) this.#instance.release(region);
    else this.#sharing.release(region);
  }

  #exchangeView(input: Uint8Array, kernel: Parameters<EngineInstance["exchange"]>[1]): Buffer {
    return Buffer.from(this.#instance.exchange(input, kernel).buffer);
  }
}
