// The owner's state of one index: its record, generations, next sequence number, live documents per shard.
// Lives in memory only; a start rebuilds it from the shards. Other threads see the part in shared memory.
import type { OpenReply } from "../../../shards/protocol/control.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { Location, Locations } from "../../catalog/schema/placement.js";
import { IndexHandle, type Memories } from "../reads/index-handle.js";
import { IndexStanding } from "../reads/index-standing.js";
import { Generations } from "./generations.js";
import { WriteGate } from "./write-gate.js";

/** Subject of jobs that change a whole index, which run one after the other. */
export function indexSubject(uid: number): string {
  return `index ${uid}`;
}

/** How long spreading an index waits for running writes, and how long later writes wait for the spreading. */
export const SPREAD_WAIT_MS_MAX = 30_000;

export class IndexState extends IndexHandle<Generations> {
  /** True if the index did not open at its last use. */
  failing = false;
  /** Holds writes back while the index is being spread. */
  readonly writing: WriteGate;
  /**
   * True while the index is being spread: its documents are complete and open both at home and across the
   * shards.
   */
  isMoving = false;
  /** By shard of the newest location. */
  readonly #liveDocs = new Map<number, number>();

  /**
   * `told` is the standing of the index in each of its shards, in their order. `threads` is the number of
   * threads that may read it.
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
    this.reopened(told);
  }

  /** True if one shard of several holds all documents. */
  get isHome(): boolean {
    return this.newest === this.home;
  }

  /** The locations where its documents must be open. */
  get locations(): readonly Location[] {
    return this.isMoving ? [this.home, this.spread] : [this.newest];
  }

  /**
   * Spreads the documents from this generation on, which is not published yet. `told` is the standing in all
   * shards.
   */
  spreadFrom(generation: number, record: IndexRecord, told: readonly OpenReply[]): void {
    this.record = record;
    this.standing.spreadFrom = generation;
    this.#liveDocs.clear();
    this.reopened(told);
  }

  /** The part that other threads see. */
  get shared(): IndexStanding {
    return this.standing;
  }

  /** True if segments of an older schema wait to be re-indexed. */
  get rebuilding(): boolean {
    return this.standing.isRebuilding;
  }

  set rebuilding(rebuilding: boolean) {
    if (rebuilding && !this.standing.isRebuilding) this.standing.forget();
    this.standing.isRebuilding = rebuilding;
  }

  /** Lower bound of all sequence numbers assigned from now on; all earlier ones are smaller. */
  get nextSeq(): number {
    return this.standing.lastSeq + 1;
  }

  /** Returns the first of `count` consecutive sequence numbers, all larger than any before. */
  takeSeqs(count: number): number {
    const first = this.nextSeq;
    this.standing.lastSeq = first + count - 1;
    return first;
  }

  /** Updates the state after the index was opened again while unused. */
  reopened(told: readonly OpenReply[]): void {
    for (const [i, { liveDocs }] of told.entries()) this.setLiveDocs(this.newest.places[i]!, liveDocs);
  }

  setLiveDocs(shard: number, count: number): void {
    this.#liveDocs.set(shard, count);
    let sum = 0;
    for (const documents of this.#liveDocs.values()) sum += documents;
    this.standing.documents = sum;
  }
}
