// The snapshots of one index. A snapshot is the state that reads of its generation see. A write adds one
// snapshot per generation, a merge replaces the newest snapshot, and a snapshot that no read can request is
// dropped. Vector codes do not belong to a generation: all snapshots show the current codes.
//
// Invariant: there is always at least one snapshot, and generations ascend.
import type { Engine } from "../../engine-wasm/host/instance/engine.js";
import type { Renewal } from "../../engine-wasm/host/instance/renewal.js";
import {
  dropEntries,
  engineEntries,
  type LiveSegment,
  type OpenSegment,
  renewEngine,
  type SegmentCodes,
  takeEntries,
} from "./open-segment.js";

/** Returns a segment's codes if queries may currently be compared with them. */
export type ComparableCodes = (segment: OpenSegment) => SegmentCodes | null;

/** A snapshot in the engine's memory. */
interface Placed {
  /** Address of the snapshot's region. Changes when the engine is renewed and when the codes are replaced. */
  address: number;
  /** Codes by entry. The snapshot keeps a reference to each. */
  codes: readonly (SegmentCodes | null)[];
}

export interface Snapshot extends Placed {
  readonly generation: number;
  /** Ascending by seq, without overlaps. */
  readonly entries: readonly LiveSegment[];
  /** The largest committed seq at the time when this snapshot was published. */
  readonly maxSeq: number;
}

export class Snapshots {
  readonly #engine: Engine;
  readonly #codesOf: ComparableCodes;
  readonly #snapshots: Snapshot[] = [];

  constructor(
    engine: Engine,
    generation: number,
    entries: readonly LiveSegment[],
    maxSeq: number,
    codesOf: ComparableCodes,
  ) {
    this.#engine = engine;
    this.#codesOf = codesOf;
    this.publish(generation, entries, maxSeq);
  }

  get newest(): Snapshot {
    return this.#snapshots.at(-1)!;
  }

  get count(): number {
    return this.#snapshots.length;
  }

  /** All snapshots' entries, concatenated. */
  get entries(): LiveSegment[] {
    return this.#snapshots.flatMap(({ entries }) => entries);
  }

  /**
   * Returns the newest snapshot whose generation is not above `generation`, or the oldest snapshot if all are
   * newer.
   */
  at(generation: number): Snapshot {
    for (let i = this.#snapshots.length - 1; i > 0; i--) {
      const snapshot = this.#snapshots[i]!;
      if (snapshot.generation <= generation) return snapshot;
    }
    return this.#snapshots[0]!;
  }

  /**
   * Adds a snapshot, replacing any snapshot of the same generation. Requires generation >= newest.generation.
   */
  publish(generation: number, entries: readonly LiveSegment[], maxSeq: number): void {
    takeEntries(entries);
    const placed = this.#placed(entries);
    const isReplaced = this.#snapshots.length > 0 && this.newest.generation === generation;
    const replaced = isReplaced ? this.#snapshots.pop()! : null;
    this.#snapshots.push({ generation, entries, maxSeq, ...placed });
    this.#show();
    if (replaced !== null) this.#drop(replaced);
  }

  /**
   * Drops the snapshots that no read of `oldestGeneration` or later can see. Returns true if it dropped any.
   */
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
   * Updates the snapshots. Must be called when a segment's codes, or the set of comparable codes, have
   * changed. Throws EngineError("memory").
   */
  showCodes(): void {
    const changed = this.#snapshots.filter(({ entries, codes }) =>
      entries.some(({ segment }, i) => codes[i] !== this.#codesOf(segment)),
    );
    if (changed.length === 0 || !this.#engine.usable) return;
    const before = changed.map(({ address, codes }) => ({ address, codes }));
    for (const snapshot of changed) Object.assign(snapshot, this.#placed(snapshot.entries));
    this.#show();
    for (const placed of before) this.#remove(placed);
  }

  /**
   * Renews the engine, keeping everything that the snapshots contain. Nothing else may refer to a segment, a
   * bitset or an address in the engine at this time.
   */
  renewEngine(renewal?: Renewal): void {
    const codes = this.#snapshots.flatMap((snapshot) => snapshot.codes);
    renewEngine(this.#engine, this.entries, codes, renewal);
    for (const snapshot of this.#snapshots) snapshot.address = this.#place(snapshot.entries, snapshot.codes);
    this.#show();
  }

  /**
   * Publishes the snapshots to readers in other threads. Must be called before freeing anything that is no
   * longer published.
   */
  #show(): void {
    this.#engine.publish(this.#snapshots.map(({ generation, address }) => ({ generation, address })));
  }

  #placed(entries: readonly LiveSegment[]): Placed {
    const codes = entries.map(({ segment }) => this.#codesOf(segment));
    const address = this.#place(entries, codes);
    for (const one of codes) one?.take();
    return { address, codes };
  }

  #place(entries: readonly LiveSegment[], codes: Placed["codes"]): number {
    const addressed = engineEntries(entries).map((entry, i) => ({ ...entry, codes: codes[i]?.address ?? 0 }));
    return this.#engine.setSnapshot(addressed);
  }

  #drop(snapshot: Snapshot): void {
    this.#remove(snapshot);
    dropEntries(snapshot.entries);
  }

  #remove({ address, codes }: Placed): void {
    this.#engine.releaseSnapshot(address);
    for (const one of codes) one?.drop();
  }
}
