// Remembers what the dictionaries answered to expand programs, for one index and its latest generation:
// a newer generation empties it, the least recently used answer goes first.
import type { ExpandResult } from "../../engine-wasm/host/expand-result.js";
import type { CacheMeter } from "../metrics/recorder.js";

const ENTRIES_MAX = 2_000;
/** Answers with more typo candidates than this are not worth their memory. */
const TYPOS_MAX = 2_000;

export class ExpansionCache {
  readonly #answers = new Map<string, ExpandResult>();
  readonly #meter: CacheMeter;
  #generation = -1;

  constructor(meter: CacheMeter) {
    this.#meter = meter;
  }

  get(generation: number, program: Uint8Array): ExpandResult | undefined {
    const key = keyOf(program);
    const answer = generation === this.#generation ? this.#answers.get(key) : undefined;
    if (answer === undefined) {
      this.#meter.misses++;
      return undefined;
    }
    this.#meter.hits++;
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    return answer;
  }

  /** Keeps an answer unless a newer generation has been seen. */
  put(generation: number, program: Uint8Array, answer: ExpandResult): void {
    if (generation < this.#generation) return;
    if (generation > this.#generation) {
      this.#answers.clear();
      this.#generation = generation;
    }
    if (answer.words.some((word) => (word.typos?.length ?? 0) > TYPOS_MAX)) return;
    this.#answers.set(keyOf(program), answer);
    if (this.#answers.size <= ENTRIES_MAX) return;
    const oldest = this.#answers.keys().next();
    if (oldest.done !== true) this.#answers.delete(oldest.value);
  }
}

function keyOf(program: Uint8Array): string {
  return Buffer.from(program.buffer, program.byteOffset, program.byteLength).toString("latin1");
}
