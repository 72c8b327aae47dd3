// What the owner knows of one index: its record, generations, the next sequence number, live documents per shard. Lives in memory
// only; a start rebuilds it from the shards. Other threads see the part of it that stands in shared memory.
import type { OpenReply } from "../../../shards/protocol/control.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { Location, Locations } from "../../catalog/schema/placement.js";
import { IndexHandle, type Memories } from "../reads/index-handle.js";
import { IndexStanding } from "../reads/index-standing.js";
import { Generations } from "./generations.js";
import { WriteGate } from "./write-gate.js";

/** The subject of jobs that change an index as a whole, one after the other. */
export function indexSubject(uid: number): string {
  return `index ${uid}`;
}

/** How long the spreading of an index waits for the writes in flight, and later writes for it. */
export const SPREAD_WAIT_MS_MAX = 30_000;

export class IndexState extends IndexHandle<Generations> {
  /** It did not open when it was last needed. */
  failing = false;
  /** Writes wait here while the index is being spread. */
  readonly writing: WriteGate;
  /** It is being spread, and its documents are stored as a whole at home and spread, and open in both places. */
  isMoving = false;
  /** By shard of its newest location. */
  readonly #liveDocs = new Map<number, number>();

  /** `told`: where the index stands in each shard in which it lies, in their order. `threads`: how many may read it. */
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

  /** All its documents are in one shard of several. */
  get isHome(): boolean {
    return this.newest === this.home;
  }

  /** Where its documents are to be open. */
  get locations(): readonly Location[] {
    return this.isMoving ? [this.home, this.spread] : [this.newest];
  }

  /** From this generation on, which is not published yet, its documents are spread. `told`: where it stands in all shards. */
  spreadFrom(generation: number, record: IndexRecord, told: readonly OpenReply[]): void {
    this.record = record;
    this.standing.spreadFrom = generation;
    this.#liveDocs.clear();
    this.reopened(told);
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
