// What the owner knows of one index: its record, generations, the next sequence number, live documents per shard. Lives in memory
// only; a start rebuilds it from the shards. Other threads see the part of it that stands in shared memory.
import type { OpenReply } from "../../shards/protocol/control.js";
import type { IndexRecord } from "../catalog/types.js";
import { IndexStanding } from "../reads/index-standing.js";
import { type Memories, ReadIndex } from "../reads/read-index.js";
import { Generations } from "./generations.js";

export class IndexState extends ReadIndex<Generations> {
  /** It did not open when it was last needed. */
  failing = false;
  readonly #liveDocs: number[];

  /** `shards`: where the index stands in each shard, by its number. `threads`: how many may read it. */
  constructor(record: IndexRecord, shards: readonly OpenReply[], threads: number, memories: Memories) {
    const standing = IndexStanding.make(threads, Math.max(0, ...shards.map((shard) => shard.generation)));
    standing.lastSeq = Math.max(0, ...shards.map((shard) => shard.maxSeq));
    super(record, standing, new Generations(standing), memories);
    this.#liveDocs = shards.map((shard) => shard.liveDocs);
    this.#sumLiveDocs();
  }

  /** For other threads. */
  get shared(): IndexStanding {
    return this.standing;
  }

  /** Segments of an older schema wait to be re-indexed. */
  get rebuilding(): boolean {
    return this.standing.isRebuilding;
  }

  set rebuilding(rebuilding: boolean) {
    if (rebuilding && !this.standing.isRebuilding) this.standing.forget();
    this.standing.isRebuilding = rebuilding;
  }

  /** All sequence numbers that are given from now on are this or larger, and all given before are smaller. */
  get nextSeq(): number {
    return this.standing.lastSeq + 1;
  }

  /** The first of `count` ascending sequence numbers, all larger than any given before. */
  takeSeqs(count: number): number {
    const first = this.nextSeq;
    this.standing.lastSeq = first + count - 1;
    return first;
  }

  /** Was opened again while nobody used it. */
  reopened(shards: readonly OpenReply[]): void {
    for (const [shard, { liveDocs }] of shards.entries()) this.#liveDocs[shard] = liveDocs;
    this.#sumLiveDocs();
  }

  setLiveDocs(shard: number, count: number): void {
    this.#liveDocs[shard] = count;
    this.#sumLiveDocs();
  }

  #sumLiveDocs(): void {
    this.standing.documents = this.#liveDocs.reduce((sum, count) => sum + count, 0);
  }
}
