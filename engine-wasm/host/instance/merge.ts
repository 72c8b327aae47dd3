// A merge of adjacent segments that are attached to one engine instance. It runs in steps, and the instance
// may answer queries between two steps. The inputs must stay attached until `finish` or `cancel`; their live
// bits are read at the start.
import { MERGE_ENTRY_BYTES, SNAP_ENTRIES } from "../../assembly/layout.js";
import { statusError } from "../engine-error.js";
import type { EngineInstance } from "../wasm/memory.js";

export interface MergeEntry {
  /** Address of an attached segment. */
  segment: number;
  /** Address of its live bitset, 0 = all rows live. */
  live: number;
}

export class Merge {
  readonly #instance: EngineInstance;
  #state: number; // region of the merge, 0 once it has ended

  /**
   * Starts to merge `entries`, which are ordered by seq. Throws EngineError("program") if there are none, or
   * if two of them give the same slot different types or flags; in that case the documents must be indexed
   * again.
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
   * Works for about `microseconds`, at most one second. Returns true when the result is complete. If an input
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
   * Returns the address of the merged segment, after `step` returned true. The caller now owns that region of
   * the instance. The segment has no rows if no input row was live. Throws EngineError("program") if steps
   * are missing; the merge then continues.
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
