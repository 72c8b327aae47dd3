// Caches the tokens of recently analysed short texts, for all indexes of a thread. The same words recur in
// many queries, and calling the engine for a word costs ten times as much as a cache hit. The cache has two
// generations: a used entry moves to the young generation, and when that is full, it replaces the old one.
import type { Token } from "../../../engine-wasm/host/instance/workbench.js";
import type { TextAnalyser } from "./text-analyser.js";

/** Maximum length of a cached text in UTF-16 units. Longer texts are not words. */
const UNITS_MAX = 32;
const TEXTS_MAX = 8_192;

export class RecentTokens {
  #young = new Map<string, readonly Token[]>();
  #old = new Map<string, readonly Token[]>();

  /** The same analyser with its `tokens` cached. */
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
