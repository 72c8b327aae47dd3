// The engine's analyser for one index, as used by queries and filters. Documents pass through the same code
// in the shards, so the two cannot disagree.
import type { Token, Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import type { IndexRecord } from "../records/index-record.js";
import type { ResolvedSchema } from "./resolved-schema.js";

/** Returns an index's analyser. */
export type AnalyserOf = (record: IndexRecord) => TextAnalyser;

export interface TextAnalyser {
  /** Identifies how text is split. Analysers that produce the same terms have the same value. */
  readonly analysis: string;
  /** Words and joined words, with their UTF-8 byte offsets in the text. */
  tokens(text: string): readonly Token[];
  /** Terms of the single words, without joined words. */
  terms(text: string): string[];
  /** The normalised form in which whole values are compared. */
  fold(text: string): Uint8Array;
  /** A document id's hash. It selects the document's shard and is the id's key in id filters. */
  hash(id: string): bigint;
}

export function textAnalyser(workbench: Workbench, schema: ResolvedSchema): TextAnalyser {
  const analysis = { symbolsToIndex: schema.symbolsToIndex, tokenSeparators: schema.tokenSeparators };
  return {
    analysis: JSON.stringify(analysis),
    tokens: (text) => workbench.analyse(text, analysis),
    terms: (text) =>
      workbench
        .analyse(text, analysis)
        .filter(({ parts }) => parts === 1)
        .map(({ term }) => term),
    fold: (text) => workbench.fold(text),
    hash: (id) => workbench.hash(id),
  };
}
