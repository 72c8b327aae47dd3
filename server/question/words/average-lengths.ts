// Computes the average lengths of fields and documents. Scoring compares a document's lengths to them. Pure
// functions.
import type { KnownWords } from "./typos/ranked-typos.js";

/** Average number of tokens in each queried field, in the order of the fields' slots. */
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
