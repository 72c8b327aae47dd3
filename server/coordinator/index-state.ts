// What the coordinator knows of one open index: its record, generations, the next sequence number, live
// documents per shard, remembered expansions. Lives in memory only; a start rebuilds it from the shards.
import type { OpenReply } from "../../shards/protocol/control.js";
import type { IndexRecord } from "../catalog/types.js";
import type { CacheMeter } from "../metrics/recorder.js";
import { ExpansionCache } from "./expansion-cache.js";
import { Generations } from "./generations.js";

export class IndexState {
  record: IndexRecord;
  readonly generations: Generations;
  /** The task that follows a rebuild is running. */
  followed = false;
  readonly #expansionMeter: CacheMeter;
  #expansions: ExpansionCache | null;
  #nextSeq: number;
  readonly #liveDocs: number[];

  /** `shards`: what each shard answered to OPEN, by its number. */
  constructor(record: IndexRecord, shards: readonly OpenReply[], expansionMeter: CacheMeter) {
    this.record = record;
    this.#expansionMeter = expansionMeter;
    this.#expansions = new ExpansionCache(expansionMeter);
    this.generations = new Generations(Math.max(0, ...shards.map((shard) => shard.generation)));
    this.#nextSeq = Math.max(0, ...shards.map((shard) => shard.maxSeq)) + 1;
    this.#liveDocs = shards.map((shard) => shard.liveDocs);
  }

  /** Segments of an older schema wait to be re-indexed. */
  get rebuilding(): boolean {
    return this.#expansions === null;
  }

  set rebuilding(rebuilding: boolean) {
    if (rebuilding) this.#expansions = null;
    else this.#expansions ??= new ExpansionCache(this.#expansionMeter);
  }

  /** None during a rebuild: re-indexing changes what dictionaries answer without a new generation. */
  get expansions(): ExpansionCache | null {
    return this.#expansions;
  }

  /** Live documents, exact once the writes that were answered are published. */
  get documents(): number {
    return this.#liveDocs.reduce((sum, count) => sum + count, 0);
  }

  /** No snapshot holds more documents: each has a sequence number of its own. */
  get documentsMax(): number {
    return this.#nextSeq - 1;
  }

  /** The first of `count` ascending sequence numbers, all larger than any given before. */
  takeSeqs(count: number): number {
    const first = this.#nextSeq;
    this.#nextSeq += count;
    return first;
  }

  setLiveDocs(shard: number, count: number): void {
    this.#liveDocs[shard] = count;
  }
}
