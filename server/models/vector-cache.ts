// Caches recently requested vectors for all endpoints, up to a total number of bytes. An endpoint and a text
// fully determine a vector, so an entry is never stale.
import { ClockCache } from "../../engine-wasm/host/runtime/clock-cache.js";
import type { CacheMeter } from "../ground/metrics/recorder.js";

/** Approximate overhead in bytes of the objects for a cached vector. */
const ENTRY_BYTES = 200;

export class VectorCache {
  readonly #meter: CacheMeter;
  /** Keyed by endpoint and text. */
  readonly #vectors: ClockCache<string, Float32Array>;
  #endpoints = 0;

  constructor(bytesMax: number, meter: CacheMeter) {
    this.#vectors = new ClockCache(bytesMax);
    this.#meter = meter;
  }

  /** Returns a view of the cache for a new endpoint. Nothing is cached in it yet. */
  part(): CachedVectors {
    const prefix = `${++this.#endpoints}:`;
    return {
      get: (text) => this.#get(prefix + text),
      put: (text, vector) => this.#vectors.set(prefix + text, vector, bytesOf(prefix + text, vector)),
    };
  }

  #get(key: string): Float32Array | undefined {
    const vector = this.#vectors.get(key);
    if (vector === undefined) this.#meter.misses++;
    else this.#meter.hits++;
    return vector;
  }
}

/** One endpoint's view of the cache. Vectors must not be modified. */
export interface CachedVectors {
  get(text: string): Float32Array | undefined;
  put(text: string, vector: Float32Array): void;
}

function bytesOf(key: string, vector: Float32Array): number {
  return 2 * key.length + vector.byteLength + ENTRY_BYTES;
}
