// Caches the tokens of recently analysed short texts, for all of a thread's indexes. The same words recur in
// many queries, and calling the engine for a word costs ten times as much as a cache hit.
import type { Token } from "../../../engine-wasm/host/instance/workbench.js";
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import type { TextAnalyser } from "./text-analyser.js";

/** Maximum length of a cached text in UTF-16 units. Longer texts are hardly ever single words. */
const UNITS_MAX = 32;
const TEXTS_MAX = 8_192;

export class RecentTokens {
  readonly #tokens = new ClockCache<string, readonly Token[]>(TEXTS_MAX);

  /** Returns the same analyser, but with its `tokens` cached. */
  remembering(analyser: TextAnalyser): TextAnalyser {
    const { analysis } = analyser;
    const tokens = (text: string): readonly Token[] => {
      if (text.length > UNITS_MAX) return analyser.tokens(text);
      const key = analysis + text;
      const known = this.#tokens.get(key);
      if (known !== undefined) return known;
      const found = analyser.tokens(text);
      this.#tokens.set(key, found);
      return found;
    };
    return { ...analyser, tokens };
  }
}
