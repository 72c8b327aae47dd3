// The indexes that can be opened, as their owner knows them: where each stands, and which have stored data
// that cannot be read.

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
  /** By uid. */
  protected readonly states = new Map<number, IndexState>();
  protected readonly damage: Damage;

  constructor(log: Logger) {
    this.damage = new Damage(log);
  }

  /** Indexes with damage, and those that did not open when they were last needed. */
  protected get failing(): number {
    const failing = new Set(this.damage.uids);
    for (const [uid, state] of this.states) if (state.failing) failing.add(uid);
    return failing.size;
  }

  /** Damage was met in the index, or it did not open when it was last needed. */
  isFailing(uid: number): boolean {
    return this.damage.of(uid) !== undefined || (this.states.get(uid)?.failing ?? false);
  }

  /**
   * Why the index cannot be opened; undefined for one that can. One with damage may be open and serve what is
   * whole.
   */
  unopenable(uid: number): string | undefined {
    return this.states.has(uid) ? undefined : this.damage.of(uid);
  }

  /** Live documents; 0 for an index that cannot be opened. */
  documents(uid: number): number {
    return this.states.get(uid)?.documents ?? 0;
  }

  isRebuilding(uid: number): boolean {
    return this.states.get(uid)?.rebuilding ?? false;
  }

  /** How far an index is, null for one that cannot be opened. */
  progress(uid: number): Pick<IndexReading, "documents" | "generation" | "pendingWrites"> | null {
    const state = this.states.get(uid);
    if (state === undefined) return null;
    const { published, pending } = state.generations;
    return { documents: state.documents, generation: published, pendingWrites: pending };
  }

  /** Undefined for one that cannot be opened. */
  find(uid: number): IndexState | undefined {
    return this.states.get(uid);
  }

  /** Throws SK-SE-503 for an index that cannot be opened. */
  state(uid: number): IndexState {
    const state = this.states.get(uid);
    if (state !== undefined) return state;
    const damage = this.damage.of(uid);
    if (damage !== undefined) throw new SkeinError("SK-SE-503", damage, { retryAfter: 60 });
    throw new SkeinError("SK-SE-503", "the index is not open; retry in a moment", { retryAfter: 1 });
  }

  /** The thread at this place has ended: it reads nothing any more. */
  clearPlace(place: number): void {
    for (const state of this.states.values()) state.shared.clear(place);
  }

  /**
   * Resolves when no other thread uses the index any more, at the latest after `msMax` or when `signal` says
   * so.
   */
  async unusedElsewhere(uid: number, msMax: number, signal: AbortSignal): Promise<void> {
    const standing = this.states.get(uid)?.shared;
    const endMs = performance.now() + msMax;
    while (standing?.isUsedElsewhere && !signal.aborted && performance.now() < endMs)
      await sleep(USES_LOOK_MS);
  }

  /** A shard has met damage in an index. */
  onDamage(shard: number, error: ShardError): void {
    this.damage.met(shard, error, (uid) => this.states.get(uid)?.record.name);
  }

  /** Uses of the index by other threads. */
  protected usesElsewhere(uid: number): UsesElsewhere {
    const standing = this.states.get(uid)?.shared;
    return standing === undefined
      ? USED_NOWHERE
      : { isUsed: standing.isUsedElsewhere, ended: standing.endedElsewhere };
  }

  /** The state is still that of its index, which has no damage. */
  protected isSound(state: IndexState): boolean {
    const { uid } = state.record;
    return this.states.get(uid) === state && this.damage.of(uid) === undefined;
  }
}
