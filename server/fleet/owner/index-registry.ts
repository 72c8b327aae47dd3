// The owner's list of indexes. Contains the state of those that can be opened, and the damage of those whose
// stored data is unreadable.

import { setTimeout as sleep } from "node:timers/promises";
import type { ShardError } from "../../../shards/protocol/errors.js";
import { SkeinError } from "../../ground/errors.js";
import type { Logger } from "../../ground/log.js";
import type { IndexReading } from "../../ground/metrics/readings.js";
import { Damage } from "./damage.js";
import type { IndexState } from "./index-state.js";
import type { UsesElsewhere } from "./residency.js";

const USES_LOOK_MS = 5;
const USED_NOWHERE = { isUsed: false, ended: 0 };

export class IndexRegistry {
  /** States of the indexes that can be opened, by uid. */
  protected readonly states = new Map<number, IndexState>();
  protected readonly damage: Damage;

  constructor(log: Logger) {
    this.damage = new Damage(log);
  }

  /** Number of indexes that are damaged or could not be opened when they were last needed. */
  protected get failing(): number {
    const failing = new Set(this.damage.uids);
    for (const [uid, state] of this.states) if (state.failing) failing.add(uid);
    return failing.size;
  }

  /** True if the index is damaged or could not be opened when it was last needed. */
  isFailing(uid: number): boolean {
    return this.damage.of(uid) !== undefined || (this.states.get(uid)?.failing ?? false);
  }

  /**
   * Returns why the index cannot be opened, or undefined if it can. A damaged index may be open and serve its
   * intact parts.
   */
  unopenable(uid: number): string | undefined {
    return this.states.has(uid) ? undefined : this.damage.of(uid);
  }

  /** Number of live documents, or 0 if the index cannot be opened. */
  documents(uid: number): number {
    return this.states.get(uid)?.documents ?? 0;
  }

  isRebuilding(uid: number): boolean {
    return this.states.get(uid)?.rebuilding ?? false;
  }

  /**
   * The index's document count, published generation and pending writes. Null if the index cannot be opened.
   */
  progress(uid: number): Pick<IndexReading, "documents" | "generation" | "pendingWrites"> | null {
    const state = this.states.get(uid);
    if (state === undefined) return null;
    const { published, pending } = state.generations;
    return { documents: state.documents, generation: published, pendingWrites: pending };
  }

  /** Returns the index's state, or undefined if the index cannot be opened. */
  find(uid: number): IndexState | undefined {
    return this.states.get(uid);
  }

  /** Returns the index's state. Throws SK-SE-503 if the index cannot be opened. */
  state(uid: number): IndexState {
    const state = this.states.get(uid);
    if (state !== undefined) return state;
    const damage = this.damage.of(uid);
    if (damage !== undefined) throw new SkeinError("SK-SE-503", damage, { retryAfter: 60 });
    throw new SkeinError("SK-SE-503", "the index is not open; retry in a moment", { retryAfter: 1 });
  }

  /** Clears an ended thread's place in every index's standing. */
  clearPlace(place: number): void {
    for (const state of this.states.values()) state.shared.clear(place);
  }

  /**
   * Resolves when no other thread uses the index, after `msMax` milliseconds, or when `signal` aborts,
   * whichever comes first.
   */
  async unusedElsewhere(uid: number, msMax: number, signal: AbortSignal): Promise<void> {
    const standing = this.states.get(uid)?.shared;
    const endMs = performance.now() + msMax;
    while (standing?.isUsedElsewhere && !signal.aborted && performance.now() < endMs)
      await sleep(USES_LOOK_MS);
  }

  /** Called when a shard finds damage in an index. */
  onDamage(shard: number, error: ShardError): void {
    this.damage.met(shard, error, (uid) => this.states.get(uid)?.record.name);
  }

  /** The index's uses by other threads. */
  protected usesElsewhere(uid: number): UsesElsewhere {
    const standing = this.states.get(uid)?.shared;
    return standing === undefined
      ? USED_NOWHERE
      : { isUsed: standing.isUsedElsewhere, ended: standing.endedElsewhere };
  }

  /** True if `state` is still the current state of its index and the index has no damage. */
  protected isSound(state: IndexState): boolean {
    const { uid } = state.record;
    return this.states.get(uid) === state && this.damage.of(uid) === undefined;
  }
}
