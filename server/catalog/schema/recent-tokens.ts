// Caches the tokens of recently analysed short texts, for all indexes of a thread. Queries share their words,
// and calling the engine for each word costs ten times as much. The cache has two halves: a used entry moves
// to the young one, and when that is full, the old one is dropped.
import type { Token } from "../../../engine-wasm/host/instance/workbench.js";
import type { TextAnalyser } from "./text-analyser.js";

/** Longer texts are not words. */
const UNITS_MAX = 32;
const TEXTS_MAX = 8_192;

export class RecentTokens {
  #young = new Map<string, readonly Token[]>();
  #old = new Map<string, readonly Token[]>();

  /** The same analyser with cached `tokens`. */
  remembering(analyser: TextAnalyser): TextAnalyser {
    const { analysis } = analyser;
    const tokens = (text: string): readonly Token[] => {
      if (text.length > UNITS_MAX) return analyser.tokens(text);
      const key = analysis + text;
      const young = this.#young.get(key);
      if (young !== undefined) return young;
      const found = this.#old.get(key) ?? analyser.tokens(text);
      this.#keep(key, found);
      return found;
    };
    return { ...analyser, tokens };
  }

  #keep(key: string, tokens: readonly Token[]): void {
    if (this.#young.size >= TEXTS_MAX / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, tokens);
  }
}
