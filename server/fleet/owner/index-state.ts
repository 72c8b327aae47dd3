// The owner's state of one index, which contains its record, generations, next sequence number, and live
// documents per shard. Exists only in memory and is rebuilt from the shards at startup. The part that other
// threads see is in shared memory.
import type { OpenReply } from "../../../shards/protocol/control.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { Location, Locations } from "../../catalog/schema/placement.js";
import { IndexHandle, type Memories } from "../reads/index-handle.js";
import { IndexStanding } from "../reads/index-standing.js";
import { Generations } from "./generations.js";
import { WriteGate } from "./write-gate.js";

/**
 * Subject of the jobs that change a whole index. Jobs with the same subject run one after another, so such
 * changes never overlap.
 */
export function indexSubject(uid: number): string {
  return `index ${uid}`;
}

/** How long (ms) a spread waits for running writes, and how long later writes wait for the spread. */
export const SPREAD_WAIT_MS_MAX = 30_000;

export class IndexState extends IndexHandle<Generations> {
  /** True if the index could not be opened when it was last needed. */
  failing = false;
  /** Holds back writes while the index is being spread. */
  readonly writing: WriteGate;
  /**
   * True while the index is being spread. Its documents are then open in both places: all of them at home,
   * and all of them spread over the shards.
   */
  isMoving = false;
  /**
   * Generation of the last write that not all of its shards have, until a shard has recorded that it is
   * published; 0 if there is none. Before that, a restart would take it back, together with later writes.
   */
  inDoubt = 0;
  /** Number of live documents in each shard of the newest location. */
  readonly #liveDocs = new Map<number, number>();

  /**
   * `told` is what each shard reported about its documents, in shard order. `threads` is the number of
   * threads that may read the index.
   */
  constructor(
    record: IndexRecord,
    told: readonly OpenReply[],
    threads: number,
    locations: Locations,
    memories: Memories,
  ) {
    const standing = IndexStanding.make(threads, Math.max(0, ...told.map((shard) => shard.generation)));
    standing.lastSeq = Math.max(0, ...told.map((shard) => shard.maxSeq));
    if (record.isHome) standing.spreadFrom = Number.POSITIVE_INFINITY;
    super(record, standing, new Generations(standing), locations, memories);
    this.writing = new WriteGate(SPREAD_WAIT_MS_MAX);
    this.setAllLiveDocs(told);
  }

  /** True if the index's documents are all in one of several shards. */
  get isHome(): boolean {
    return this.newest === this.home;
  }

  /** The locations where the index's documents must be open. */
  get locations(): readonly Location[] {
    return this.isMoving ? [this.home, this.spread] : [this.newest];
  }

  /**
   * Records that the index is spread over all shards from `generation` on, which is not published yet. `told`
   * is what each shard reported about its documents.
   */
  spreadFrom(generation: number, record: IndexRecord, told: readonly OpenReply[]): void {
    this.record = record;
    this.standing.spreadFrom = generation;
    this.#liveDocs.clear();
    this.setAllLiveDocs(told);
  }

  /** The standing in shared memory, which other threads see. */
  get shared(): IndexStanding {
    return this.standing;
  }

  /** True if some segments still have an older schema and must be re-indexed. */
  get rebuilding(): boolean {
    return this.standing.isRebuilding;
  }

  set rebuilding(rebuilding: boolean) {
    if (rebuilding && !this.standing.isRebuilding) this.standing.forget();
    this.standing.isRebuilding = rebuilding;
  }

  /** The next sequence number to assign, larger than all numbers assigned so far. */
  get nextSeq(): number {
    return this.standing.lastSeq + 1;
  }

  /** Reserves `count` consecutive sequence numbers, larger than all earlier ones, and returns the first. */
  takeSeqs(count: number): number {
    const first = this.nextSeq;
    this.standing.lastSeq = first + count - 1;
    return first;
  }

  /** Replaces the counts of live documents by those that the index's current shards reported. */
  setAllLiveDocs(told: readonly OpenReply[]): void {
    for (const [i, { liveDocs }] of told.entries()) this.#liveDocs.set(this.newest.places[i]!, liveDocs);
    this.#showDocuments();
  }

  setLiveDocs(shard: number, count: number): void {
    this.#liveDocs.set(shard, count);
    this.#showDocuments();
  }

  /** Other threads see the sum at once, so a caller that replaces all counts must set them all first. */
  #showDocuments(): void {
    let sum = 0;
    for (const documents of this.#liveDocs.values()) sum += documents;
    this.standing.documents = sum;
  }
}
