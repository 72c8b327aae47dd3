// A merge of adjacent segments attached to one engine instance. It runs in steps, between which the instance
// may answer queries. The inputs must stay attached until `finish` or `cancel`; their live bits are read at
// the start.
import { MERGE_ENTRY_BYTES, SNAP_ENTRIES } from "../../assembly/layout.js";
import { statusError } from "../engine-error.js";
import type { EngineInstance } from "../wasm/memory.js";

export interface MergeEntry {
  /** Address of an attached segment. */
  segment: number;
  /** Address of the segment's live bitset; 0 means all rows are live. */
  live: number;
}

export class Merge {
  readonly #instance: EngineInstance;
  #state: number; // the merge's region, 0 once it has ended

  /**
   * Starts to merge `entries`, which are sorted by seq. Throws EngineError("program") if there are none, or
   * if two of them disagree about a slot's type or flags (except FLAG_REQUIRED); in that case the documents
   * must be indexed again.
   */
  constructor(instance: EngineInstance, entries: readonly MergeEntry[]) {
    const input = Buffer.alloc(SNAP_ENTRIES + entries.length * MERGE_ENTRY_BYTES);
    let at = input.writeUInt32LE(entries.length, 0);
    for (const entry of entries) {
      at = input.writeUInt32LE(entry.segment, at);
      at = input.writeUInt32LE(entry.live, at);
    }
    const p = instance.input(input);
    this.#instance = instance;
    this.#state = instance.address(instance.run((kernels) => kernels.mergeBegin(p)));
  }

  /**
   * Works for about `microseconds`, at most one second. Returns true once the result is complete. If an input
   * is inconsistent, cancels the merge and throws EngineError("damaged").
   */
  step(microseconds: number): boolean {
    const answer = this.#instance.run((kernels) => kernels.mergeStep(this.#running(), microseconds));
    if (answer < 0) {
      this.cancel();
      throw statusError(answer);
    }
    return answer === 1;
  }

  /**
   * Returns the address of the merged segment. May be called once `step` has returned true; before that, it
   * throws EngineError("program") and the merge continues. The caller owns the returned region. The segment
   * has no rows if no input row was live.
   */
  finish(): number {
    const segment = this.#instance.address(
      this.#instance.run((kernels) => kernels.mergeFinish(this.#running())),
    );
    this.#state = 0;
    return segment;
  }

  /** Ends the merge without a result. Does nothing if it has ended. */
  cancel(): void {
    if (this.#state === 0) return;
    const state = this.#state;
    this.#state = 0;
    this.#instance.run((kernels) => kernels.mergeCancel(state));
  }

  #running(): number {
    if (this.#state === 0) throw new Error("The merge has ended");
    return this.#state;
  }
}
