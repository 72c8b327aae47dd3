// The snapshots of one index: what a read of a generation sees. A write adds one per generation, a merge replaces the
// newest one, and a snapshot that no read can ask for any more is dropped.
//
// Invariant: there is always at least one snapshot, and generations ascend.
import type { Engine } from "../../engine-wasm/host/instance/engine.js";
import type { Renewal } from "../../engine-wasm/host/instance/renewal.js";
import { dropEntries, engineEntries, type LiveSegment, renewEngine, takeEntries } from "./open-segment.js";

export interface Snapshot {
  readonly generation: number;
  /** Ascending by seq, without overlap. */
  readonly entries: readonly LiveSegment[];
  /** The address of the engine's snapshot region. It changes when the engine is renewed. */
  address: number;
  /** Largest seq that was committed when this was published. */
  readonly maxSeq: number;
}

export class Snapshots {
  readonly #engine: Engine;
  readonly #snapshots: Snapshot[] = [];

  constructor(engine: Engine, generation: number, entries: LiveSegment[], maxSeq: number) {
    this.#engine = engine;
    this.publish(generation, entries, maxSeq);
  }

  get newest(): Snapshot {
    return this.#snapshots.at(-1)!;
  }

  get count(): number {
    return this.#snapshots.length;
  }

  /** The entries of all snapshots, one after the other. */
  get entries(): LiveSegment[] {
    return this.#snapshots.flatMap(({ entries }) => entries);
  }

  /** The newest snapshot that is not younger than this generation, or the oldest one if all are younger. */
  at(generation: number): Snapshot {
    for (let i = this.#snapshots.length - 1; i > 0; i--) {
      const snapshot = this.#snapshots[i]!;
      if (snapshot.generation <= generation) return snapshot;
    }
    return this.#snapshots[0]!;
  }

  /** Adds a snapshot; one of the same generation is replaced. Requires generation >= newest.generation. */
  publish(generation: number, entries: readonly LiveSegment[], maxSeq: number): void {
    takeEntries(entries);
    const address = this.#engine.setSnapshot(engineEntries(entries));
    const isReplaced = this.#snapshots.length > 0 && this.newest.generation === generation;
    const replaced = isReplaced ? this.#snapshots.pop()! : null;
    this.#snapshots.push({ generation, entries, address, maxSeq });
    this.#show();
    if (replaced !== null) this.#drop(replaced);
  }

  /** Drops the snapshots that a read of `oldestGeneration` or later cannot get. True when there were any. */
  retire(oldestGeneration: number): boolean {
    let count = 0;
    while (count + 1 < this.count && this.#snapshots[count + 1]!.generation <= oldestGeneration) count++;
    if (count === 0) return false;
    const retired = this.#snapshots.splice(0, count);
    this.#show();
    for (const snapshot of retired) this.#drop(snapshot);
    return true;
  }

  /**
   * Renews the engine with all that the snapshots see. Requires that nobody else holds a segment, a bitset or an address
   * of the engine at this moment.
   */
  renewEngine(renewal?: Renewal): void {
    renewEngine(this.#engine, this.entries, renewal);
    for (const snapshot of this.#snapshots) {
      snapshot.address = this.#engine.setSnapshot(engineEntries(snapshot.entries));
    }
    this.#show();
  }

  /** Shows readers in other threads what there is. It comes before anything that is not shown is freed. */
  #show(): void {
    this.#engine.publish(this.#snapshots.map(({ generation, address }) => ({ generation, address })));
  }

  #drop(snapshot: Snapshot): void {
    this.#engine.releaseSnapshot(snapshot.address);
    dropEntries(snapshot.entries);
  }
}
