// Average lengths of fields and documents. Scores are relative to these averages. Pure.
import type { KnownWords } from "../../question/words/typos/ranked-typos.js";

/** Average number of tokens per document in each queried field, in slot order. */
export interface AverageLengths {
  /** Averaged over the documents that have the field. */
  readonly present: readonly number[];
  /** Averaged over all documents. */
  readonly all: readonly number[];
}

export function averageLengths({ slots, liveRows }: Pick<KnownWords, "slots" | "liveRows">): AverageLengths {
  const per = (tokens: number, documents: number): number => (documents === 0 ? 0 : tokens / documents);
  return {
    present: slots.map(({ totalLength, documents }) => per(totalLength, documents)),
    all: slots.map(({ totalLength }) => per(totalLength, liveRows)),
  };
}
