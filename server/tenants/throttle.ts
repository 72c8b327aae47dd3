// Token buckets: a name may make `rate` requests per second, and a second's worth of them at once. The number of buckets is
// bounded. The least recently used one is forgotten first; its name then begins with a full bucket.

interface Bucket {
  tokens: number;
  /** Milliseconds of the last refill. */
  at: number;
}

export class Throttle {
  readonly #buckets = new Map<string, Bucket>();

  constructor(readonly bucketsMax: number) {}

  /** Takes a token. Returns 0, or the whole seconds after which one will be there. `now` in milliseconds. */
  take(name: string, rate: number, now: number): number {
    const bucket = this.#buckets.get(name) ?? { tokens: rate, at: now };
    const tokens = Math.min(rate, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * rate);
    const allowed = tokens >= 1;
    this.#buckets.delete(name);
    this.#buckets.set(name, { tokens: allowed ? tokens - 1 : tokens, at: now });
    if (this.#buckets.size > this.bucketsMax) this.#buckets.delete(this.#buckets.keys().next().value!);
    return allowed ? 0 : Math.max(1, Math.ceil((1 - tokens) / rate));
  }
}
