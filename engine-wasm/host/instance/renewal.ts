// Moves an engine's regions to a fresh instance. Segments never change, so they can be copied in advance, in
// small steps, while the old instance continues to serve. The other regions follow at the end.
import type { EngineInstance } from "../wasm/memory.js";

/** A segment, live bitset or codes region that survives a renewal. */
export interface Region {
  address: number;
  bytes: number;
}

/** Bytes copied per step, which takes a fraction of a millisecond. */
const STEP_BYTES = 1024 * 1024;

export class Renewal {
  readonly #from: EngineInstance;
  readonly #summariesBefore: ReadonlyMap<number, number>;
  readonly to: EngineInstance;
  /** Address of each copied summary, by its segment's new address. */
  readonly summaries = new Map<number, number>();
  /** New addresses of segments copied ahead, by old address. */
  readonly #ahead = new Map<number, number>();

  /** Only this renewal uses `to`. `summaries` maps the segments in `from` to their summaries. */
  constructor(from: EngineInstance, to: EngineInstance, summaries: ReadonlyMap<number, number>) {
    this.#from = from;
    this.to = to;
    this.#summariesBefore = summaries;
  }

  /** Copies these segments. They must stay attached until the renewal ends. Throws EngineError("memory"). */
  *copyAhead(segments: Iterable<Region>): Generator<void> {
    for (const { address, bytes } of segments) {
      const there = this.to.reserve(bytes);
      for (let at = 0; at < bytes; at += STEP_BYTES) {
        const end = Math.min(bytes, at + STEP_BYTES);
        this.to.view().set(this.#from.view().subarray(address + at, address + end), there + at);
        yield;
      }
      this.#ahead.set(address, there);
      const summary = this.#summariesBefore.get(address);
      if (summary !== undefined) this.summaries.set(there, summary === 0 ? 0 : this.#copy(summary));
    }
  }

  /**
   * Copies the remaining regions, and frees the copies of segments that are not in `regions`. Returns the new
   * addresses.
   */
  finish(regions: readonly Region[]): number[] {
    const addresses = regions.map(({ address, bytes }) => {
      const there = this.#ahead.get(address);
      this.#ahead.delete(address);
      return there ?? this.to.region(this.#from.view().subarray(address, address + bytes));
    });
    for (const there of this.#ahead.values()) this.#forget(there);
    this.#ahead.clear();
    return addresses;
  }

  /** Copies a whole region; its size is read from the old instance. */
  #copy(region: number): number {
    const bytes = this.#from.run((kernels) => kernels.sizeOf(region));
    return this.to.region(this.#from.view().subarray(region, region + bytes));
  }

  #forget(segment: number): void {
    const summary = this.summaries.get(segment) ?? 0;
    this.summaries.delete(segment);
    if (summary !== 0) this.to.release(summary);
    this.to.release(segment);
  }
}
