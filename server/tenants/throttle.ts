// Token buckets: a name may make `perSecond` requests per second, and a second's worth of them at once. The number of buckets is
// bounded. The least recently used one is forgotten first; its name then begins with a full bucket.
import type { RateLimiter } from "./limiter.js";

interface Bucket {
  tokens: number;
  /** Milliseconds of the last refill. */
  at: number;
}

export class Throttle implements RateLimiter {
  readonly #buckets = new Map<string, Bucket>();

  constructor(readonly bucketsMax: number) {}

  take(name: string, perSecond: number, nowMs: number): number {
    const tokens = this.#tokens(name, perSecond, nowMs);
    const allowed = tokens >= 1;
    this.#buckets.delete(name);
    this.#buckets.set(name, { tokens: allowed ? tokens - 1 : tokens, at: nowMs });
    if (this.#buckets.size > this.bucketsMax) this.#buckets.delete(this.#buckets.keys().next().value!);
    return allowed ? 0 : secondsFor(tokens, perSecond);
  }

  wait(name: string, perSecond: number, nowMs: number): number {
    const tokens = this.#tokens(name, perSecond, nowMs);
    return tokens >= 1 ? 0 : secondsFor(tokens, perSecond);
  }

  #tokens(name: string, perSecond: number, nowMs: number): number {
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) return perSecond;
    return Math.min(perSecond, bucket.tokens + (Math.max(0, nowMs - bucket.at) / 1000) * perSecond);
  }
}

/** Whole seconds until a bucket with so many tokens has one. */
function secondsFor(tokens: number, perSecond: number): number {
  return Math.max(1, Math.ceil((1 - tokens) / perSecond));
}
