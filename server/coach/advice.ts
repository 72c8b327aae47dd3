// Computes confidence levels and percentages for the miners.
import type { Confidence } from "../catalog/records/recommendation.js";

const HIGH_SEARCHES = 20;
const MEDIUM_SEARCHES = 5;

/**
 * `strong` is the miner's verdict on its own evidence. Confidence is high only with `strong` and enough
 * searches.
 */
export function confidenceOf(searches: number, strong: boolean): Confidence {
  if (searches >= HIGH_SEARCHES && strong) return "high";
  return searches >= MEDIUM_SEARCHES ? "medium" : "low";
}

/** Formats a fraction as a percentage: 0.37 becomes `37 %`. */
export function percent(part: number): string {
  return `${Math.round(part * 100)} %`;
}
