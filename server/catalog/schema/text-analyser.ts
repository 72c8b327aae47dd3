// The engine's analyser for one index, as used by queries and filters. Documents pass through the same code
// in the shards, so the two cannot disagree.
import type { Token, Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import type { IndexRecord } from "../records/index-record.js";
import type { IndexView } from "./index-view.js";

/** The analyser of an index. */
export type AnalyserOf = (record: IndexRecord) => TextAnalyser;

export interface TextAnalyser {
  /** Identifies how text is split: equal for analysers that produce the same terms. */
  readonly analysis: string;
  /** Words and joined words, with their UTF-8 byte offsets in the text. */
  tokens(text: string): readonly Token[];
  /** The terms of single words, without joined words. */
  terms(text: string): string[];
  /** The normalised form in which whole values are compared. */
  fold(text: string): Uint8Array;
  /** Hash of a document id. It selects the document's shard and is the id's key in id filters. */
  hash(id: string): bigint;
}

export function textAnalyser(workbench: Workbench, view: IndexView): TextAnalyser {
  const analysis = { symbolsToIndex: view.symbolsToIndex, tokenSeparators: view.tokenSeparators };
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
