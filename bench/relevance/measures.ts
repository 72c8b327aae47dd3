// Measures a ranking against judgments as trec_eval does. Pure functions of document ids, best first; no
// servers or files. The gain is linear in the grade: grade 3 counts three times as much as grade 1.

/** Grade by document id. A document missing from the map was not judged and counts as grade 0. */
export type Judgments = ReadonlyMap<string, number>;

export interface Measures {
  readonly ndcg10: number;
  /**
   * nDCG@10 of the ranking without its unjudged documents, a fair figure for an engine whose results were not
   * pooled for judging.
   */
  readonly ndcg10Judged: number;
  readonly averagePrecision: number;
  readonly recall100: number;
}

const NDCG_DEPTH = 10;
const RECALL_DEPTH = 100;

/** Computes one query's measures. Needs at least one relevant document. */
export function measure(ranking: readonly string[], judgments: Judgments): Measures {
  return {
    ndcg10: ndcg(ranking, judgments, NDCG_DEPTH),
    ndcg10Judged: ndcg(
      ranking.filter((id) => judgments.has(id)),
      judgments,
      NDCG_DEPTH,
    ),
    averagePrecision: averagePrecision(ranking, judgments),
    recall100: recall(ranking, judgments, RECALL_DEPTH),
  };
}

/**
 * nDCG as defined by Jarvelin and Kekalainen 2002, with trec_eval's logarithmic discount: rank 1 counts in
 * full.
 */
export function ndcg(ranking: readonly string[], judgments: Judgments, depth: number): number {
  const gains = ranking.slice(0, depth).map((id) => Math.max(0, judgments.get(id) ?? 0));
  const ideal = [...judgments.values()]
    .filter((grade) => grade > 0)
    .sort((a, b) => b - a)
    .slice(0, depth);
  return discounted(gains) / discounted(ideal);
}

/** Mean of the precision at each relevant document; a relevant document missing from the ranking adds 0. */
export function averagePrecision(ranking: readonly string[], judgments: Judgments): number {
  let found = 0;
  let sum = 0;
  ranking.forEach((id, i) => {
    if ((judgments.get(id) ?? 0) <= 0) return;
    found++;
    sum += found / (i + 1);
  });
  return sum / relevantCount(judgments);
}

/** Share of the relevant documents that are among the first `depth`. */
export function recall(ranking: readonly string[], judgments: Judgments, depth: number): number {
  const found = ranking.slice(0, depth).filter((id) => (judgments.get(id) ?? 0) > 0).length;
  return found / relevantCount(judgments);
}

/** Number of documents graded above 0. */
export function relevantCount(judgments: Judgments): number {
  let count = 0;
  for (const grade of judgments.values()) if (grade > 0) count++;
  return count;
}

/** Averages every measure over all queries. Needs at least one query. */
export function meanOf(all: readonly Measures[]): Measures {
  return {
    ndcg10: mean(all.map((one) => one.ndcg10)),
    ndcg10Judged: mean(all.map((one) => one.ndcg10Judged)),
    averagePrecision: mean(all.map((one) => one.averagePrecision)),
    recall100: mean(all.map((one) => one.recall100)),
  };
}

/** Needs at least one number. */
export function mean(all: readonly number[]): number {
  return all.reduce((sum, one) => sum + one, 0) / all.length;
}

function discounted(gains: readonly number[]): number {
  return gains.reduce((sum, gain, i) => sum + gain / Math.log2(i + 2), 0);
}
