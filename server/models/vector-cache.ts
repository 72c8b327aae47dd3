// Recently requested vectors of all endpoints of a server, limited by bytes, with LRU eviction. A vector is
// determined by its endpoint and text, so it is never stale.
import type { CacheMeter } from "../ground/metrics/recorder.js";

/** Bytes of the objects around text and vector. */
const ENTRY_BYTES = 200;

export class VectorCache {
  readonly #bytesMax: number;
  readonly #meter: CacheMeter;
  /** By endpoint and text, the least recently used first. */
  readonly #vectors = new Map<string, Float32Array>();
  #bytes = 0;
  #endpoints = 0;

  constructor(bytesMax: number, meter: CacheMeter) {
    this.#bytesMax = bytesMax;
    this.#meter = meter;
  }

  /** A part for a new endpoint, initially empty. */
  part(): CachedVectors {
    const prefix = `${++this.#endpoints}:`;
    return {
      get: (text) => this.#get(prefix + text),
      put: (text, vector) => this.#put(prefix + text, vector),
    };
  }

  #get(key: string): Float32Array | undefined {
    const vector = this.#vectors.get(key);
    if (vector === undefined) {
      this.#meter.misses++;
      return undefined;
    }
    this.#meter.hits++;
    this.#vectors.delete(key);
    this.#vectors.set(key, vector);
    return vector;
  }

  #put(key: string, vector: Float32Array): void {
    this.#drop(key);
    this.#vectors.set(key, vector);
    this.#bytes += bytesOf(key, vector);
    for (const oldest of this.#vectors.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const vector = this.#vectors.get(key);
    if (vector === undefined) return;
    this.#bytes -= bytesOf(key, vector);
    this.#vectors.delete(key);
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
