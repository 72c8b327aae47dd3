// Applies the engine's analyser to the text of queries and filters for one index. Documents pass through the
// same code in the shards, so the two cannot disagree.
import { PLAIN_ANALYSIS, type Token, type Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import type { IndexRecord } from "../records/index-record.js";
import type { ResolvedSchema } from "./resolved-schema.js";

/** Returns an index's analyser. */
export type AnalyserOf = (record: IndexRecord) => TextAnalyser;

export interface TextAnalyser {
  /**
   * Identifies the way the analyser splits text: two analysers with the same value produce the same terms.
   */
  readonly analysis: string;
  /** Words and joined words, with their UTF-8 byte offsets in the text. */
  tokens(text: string): readonly Token[];
  /** The terms of the words, leaving out joined words. */
  terms(text: string): string[];
  /** Normalises a whole value. Two values are compared in this form. */
  fold(text: string): Uint8Array;
  /** Hash of a document id. It determines the document's shard, and id filters look the document up by it. */
  hash(id: string): bigint;
}

/** The value of `analysis` for indexes that do not adjust the analyser. */
export const PLAIN = JSON.stringify(PLAIN_ANALYSIS);

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
