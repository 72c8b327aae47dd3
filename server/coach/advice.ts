// What the miners say alike: how sure they are, and shares of people.
import type { Confidence } from "../catalog/records/recommendation.js";

const HIGH_SEARCHES = 20;
const MEDIUM_SEARCHES = 5;

/** `strong`: the advice has no rival. */
export function confidenceOf(searches: number, strong: boolean): Confidence {
  if (searches >= HIGH_SEARCHES && strong) return "high";
  return searches >= MEDIUM_SEARCHES ? "medium" : "low";
}

/** A part of 1 as people read it: `37 %`. */
export function percent(part: number): string {
  return `${Math.round(part * 100)} %`;
}
