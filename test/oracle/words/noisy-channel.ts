// Chooses the near terms that were probably meant, as specified in docs/ranking.md: a term costs less if it
// often occurs together with the query's other words.
import type { Typo } from "./expand.js";

export interface RankedTypo extends Typo {
  typos: number;
  /** Cost of the edits. */
  edits: number;
}

export interface LikelyTypo extends RankedTypo {
  cost: number;
  confidence: number;
}

/** A query word and the documents that contain it. */
export interface QueryWordDocuments {
  i: number;
  documents: Set<number>;
}

export interface Judged extends QueryWordDocuments {
  /** Upper bound on the number of documents that contain the word in a known form. */
  frequency: number;
  typos: RankedTypo[];
  /** True if `documents` has every document that contains the word in a known form. */
  complete: boolean;
  /** A near term is kept if its cost exceeds the typed word's cost by at most this. */
  doubt: number;
}

const JUDGED_MAX = 6;
const CONTEXT_MAX = 8;
const CANDIDATES_MAX = 8;
const UNKNOWN_WORD = 145;
const LIKELY_MAX = 16;

/**
 * Returns, by word number, the near terms that may have been meant. `documentsOf` returns the documents that
 * contain a near term in any form.
 */
export function judge(
  words: Judged[],
  context: (QueryWordDocuments & { frequency: number })[],
  liveRows: number,
  documentsOf: (typo: Typo) => Set<number>,
): Map<number, LikelyTypo[]> {
  const rarest = [...context].sort((a, b) => a.frequency - b.frequency || a.i - b.i).slice(0, CONTEXT_MAX);
  const isClear = ({ frequency, typos }: Judged): boolean => {
    const costs = typos
      .map((typo) => typo.edits + costOf(Math.max(...typo.frequencies), [], liveRows))
      .sort((a, b) => a - b);
    return frequency === 0 && (costs.length < 2 || costs[1]! > costs[0]! + 30);
  };
  const withOthers = words.filter(
    (word) => word.complete && !isClear(word) && rarest.some(({ i }) => i !== word.i),
  );
  const inCompany = withOthers.slice(0, JUDGED_MAX);
  return new Map(
    words.map((word) => {
      const others = inCompany.includes(word) ? rarest.filter(({ i }) => i !== word.i) : [];
      const cost = (count: number, together: (other: Set<number>) => number): number =>
        costOf(
          count,
          others.map(({ documents }) => [documents.size, together(documents)]),
          liveRows,
        );
      const costAmong = (documents: Set<number>): number =>
        cost(documents.size, (other) => [...other].filter((seq) => documents.has(seq)).length);
      const own = others.length === 0 ? cost(word.frequency, () => 0) : costAmong(word.documents);
      const typed = word.frequency === 0 ? UNKNOWN_WORD : own;
      const priced = word.typos.map((typo, at): LikelyTypo => {
        const asked = others.length > 0 && at < CANDIDATES_MAX;
        const itself = asked ? costAmong(documentsOf(typo)) : cost(Math.max(...typo.frequencies), () => 0);
        const total = typo.edits + itself;
        return { ...typo, cost: total, confidence: 0.2 + (0.9 - 0.2) / (1 + 2 ** ((total - typed) / 10)) };
      });
      const wanted = priced
        .filter((typo) => typo.cost <= typed + word.doubt)
        .sort((a, b) => a.typos - b.typos || a.cost - b.cost);
      return [word.i, wanted.slice(0, LIKELY_MAX)];
    }),
  );
}

/**
 * The cost of a term in `documents` documents. `others` has, for each other word, the number of documents
 * that contain it and the number that contain both.
 */
function costOf(
  documents: number,
  others: [documents: number, together: number][],
  liveRows: number,
): number {
  const alone = (documents + 0.5) / liveRows;
  let sum = 0;
  let weights = 0;
  for (const [count, together] of others) {
    if (count === 0) continue;
    const weight = Math.log(1 + (liveRows - count + 0.5) / (count + 0.5));
    weights += weight;
    sum += (weight * together) / count;
  }
  return -5 * Math.log2(weights === 0 ? alone : 0.1 * alone + (1 - 0.1) * (sum / weights));
}
