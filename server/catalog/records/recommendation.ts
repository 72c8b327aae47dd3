// The record of a coach's recommendation, and its storage. server/coach creates recommendations.
import type { StoredKind } from "./kind.js";
import type { RuleDraft } from "./rule.js";

export const ADVICE_TYPES = [
  "missing_synonym",
  "catalog_gap",
  "ranking_opportunity",
  "top_performer",
] as const;

export const CONFIDENCES = ["high", "medium", "low"] as const;
export type Confidence = (typeof CONFIDENCES)[number];

export const RECOMMENDATION_STATUSES = ["pending", "applied", "dismissed"] as const;
export type RecommendationStatus = (typeof RECOMMENDATION_STATUSES)[number];

interface AdviceBase {
  readonly title: string;
  /** Written for the shop's owner. */
  readonly description: string;
  readonly confidence: Confidence;
  /** Number of searches that led to the advice. */
  readonly search_count: number;
  /** Numbers and examples that support the advice. */
  readonly evidence: Readonly<Record<string, unknown>>;
}

interface SynonymPayload {
  readonly user_term: string;
  readonly your_term: string;
  readonly kind: "multi_way" | "one_way";
}

interface GapPayload {
  readonly query: string;
  readonly search_count: number;
  readonly nearest_terms: readonly string[];
}

interface RankingPayload {
  readonly query: string;
  readonly rule: RuleDraft;
  readonly evidence: Readonly<Record<string, unknown>>;
}

interface PerformerPayload {
  readonly query: string;
  readonly ctr: number;
  readonly document_ids: readonly string[];
}

/** A finding by one of the coach's miners, before it is saved as a recommendation. */
export type Advice = AdviceBase &
  (
    | { readonly type: "missing_synonym"; readonly payload: SynonymPayload }
    | { readonly type: "catalog_gap"; readonly payload: GapPayload }
    | { readonly type: "ranking_opportunity"; readonly payload: RankingPayload }
    | { readonly type: "top_performer"; readonly payload: PerformerPayload }
  );

/** The record created when a recommendation was applied. */
export interface CreatedRecord {
  readonly kind: "synonym" | "ranking_rule";
  readonly id: number;
}

export type Recommendation = Advice & {
  readonly id: number;
  /** The index's uid. */
  readonly index: number;
  readonly status: RecommendationStatus;
  readonly created: CreatedRecord | null;
  /**
   * ISO 8601 UTC. `updated_at` is when an analysis last found the recommendation, or when it was applied or
   * dismissed.
   */
  readonly created_at: string;
  readonly updated_at: string;
};

export const RECOMMENDATION_KIND = {
  name: "recommendation",
  counter: "nextRecommendationId",
  of: "index",
  vital: false,
  copiedAs: null,
  goesWith: "name",
} as const satisfies StoredKind;
