// Runs a complete analysis: digests the log, then has each miner look for its own kind of advice.
import type { Advice } from "../catalog/records/recommendation.js";
import { digestLog } from "./digest.js";
import { catalogGaps } from "./miners/gaps.js";
import { topPerformers } from "./miners/performers.js";
import { rankingOpportunities } from "./miners/rankings.js";
import { missingSynonyms } from "./miners/synonyms.js";
import type { Shop } from "./shop.js";

export interface Analysis {
  /** Number of searches and events examined. */
  readonly rows: number;
  readonly advice: readonly Advice[];
}

export async function analyseLog(shop: Shop, fromMs: number, toMs: number): Promise<Analysis> {
  const digest = await digestLog(shop, fromMs, toMs);
  const synonyms = await missingSynonyms(digest, shop);
  const explained = new Set(
    synonyms.flatMap((advice) => (advice.type === "missing_synonym" ? [advice.payload.user_term] : [])),
  );
  return {
    rows: digest.rows,
    advice: [
      ...synonyms,
      ...(await catalogGaps(digest, shop, explained)),
      ...(await rankingOpportunities(digest, shop)),
      ...(await topPerformers(digest, shop)),
    ],
  };
}
