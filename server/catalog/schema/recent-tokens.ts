// Caches the tokens of recently analysed short texts, for all of a thread's indexes. The same words recur in
// many queries, and calling the engine for a word costs ten times as much as a cache hit.
import type { Token } from "../../../engine-wasm/host/instance/workbench.js";
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import { PLAIN, type TextAnalyser } from "./text-analyser.js";

/** Maximum length of a cached text in UTF-16 units. Longer texts are hardly ever single words. */
const UNITS_MAX = 32;
const TEXTS_MAX = 8_192;

export class RecentTokens {
  /** Tokens by text, for the analysis without an index's adjustments, which nearly all indexes use. */
  readonly #plain = new ClockCache<string, readonly Token[]>(TEXTS_MAX);
  /** Tokens by analysis and text. */
  readonly #adjusted = new ClockCache<string, readonly Token[]>(TEXTS_MAX / 4);

  /** Returns the same analyser, but with its `tokens` cached. */
  remembering(analyser: TextAnalyser): TextAnalyser {
    const { analysis } = analyser;
    const known = analysis === PLAIN ? this.#plain : this.#adjusted;
    const prefix = analysis === PLAIN ? "" : analysis;
    const tokens = (text: string): readonly Token[] => {
      if (text.length > UNITS_MAX) return analyser.tokens(text);
      const key = prefix + text;
      let found = known.get(key);
      if (found === undefined) {
        found = analyser.tokens(text);
        known.set(key, found);
      }
      return found;
    };
    return { ...analyser, tokens };
  }
}
