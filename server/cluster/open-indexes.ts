// The indexes of the cluster: where each stands, which are loaded in the shards, what is damaged. Opens one in all
// shards when it is needed, unloads it when it is not, and brings a restarted shard back. Knows no reads and writes.
import { setTimeout as sleep } from "node:timers/promises";
import type { IndexSize, IndexStats, OpenReply } from "../../shards/protocol/control.js";
import { isUnreadable, type ShardError } from "../../shards/protocol/errors.js";
import type { IndexRecord } from "../catalog/types.js";
import { SkeinError } from "../errors.js";
import { fault } from "../fault.js";
import type { Jobs } from "../jobs/jobs.js";
import type { Limits } from "../limits.js";
import type { Logger } from "../log.js";
import type { IndexReading } from "../metrics/readings.js";
import type { Recorder } from "../metrics/recorder.js";
import type { AnswerCache } from "../reads/answer-cache.js";
import type { IndexUse, ReadIndexes } from "../reads/reads.js";
import { vectorPolicy } from "../schema/vector-policy.js";
import { damageSentence } from "../threads/shard-errors.js";
import type { Ask } from "../threads/shard-pool.js";
import { IndexMessages, type IndexMessagesOptions, sumStats } from "./index-messages.js";
import { IndexState } from "./index-state.js";
import { followRebuild, type Rebuild, rebuildSubject, repeatSchema } from "./rebuild.js";
import { Residency } from "./residency.js";

export interface OpenIndexesOptions extends Omit<IndexMessagesOptions, "onDamage" | "policyOf"> {
  /** How many threads may read indexes, this one among them. */
  readonly threads: number;
  /** An index was opened. */
  readonly onOpened: (uid: number) => void;
  readonly limits: Pick<Limits, "openIndexesMax" | "indexIdleMsMax">;
  readonly jobs: Jobs;
  readonly log: Logger;
  readonly recorder: Recorder;
  readonly answers: AnswerCache;
}

/** WebAssembly memories of a process: each takes 10 GiB of its address space, of which there are 128 TiB. */
const MEMORIES_MAX = 10_000;
const SWEEPS_PER_IDLE_TIME = 8;
const SWEEP_MS_MIN = 50;
const USES_LOOK_MS = 5;
const USED_NOWHERE = { isUsed: false, ended: 0 };
const NOTHING_STORED: OpenReply = { liveDocs: 0, maxSeq: 0, generation: 0, staleSegments: 0 };

export class OpenIndexes implements ReadIndexes {
  readonly #options: OpenIndexesOptions;
  readonly #shards: IndexMessages;
  readonly #states = new Map<number, IndexState>();
  /** By uid: what is damaged in an index, as the first shard that met it says. */
  readonly #damage = new Map<number, string>();
  readonly #residency: Residency;
  #stopped = false;
  #unseen = 0;

  constructor(options: OpenIndexesOptions) {
    this.#options = options;
    const { limits, shards } = options;
    this.#shards = new IndexMessages({
      shards,
      ask: options.ask,
      policyOf: (record) => vectorPolicy(record, this.documents(record.uid)),
      onDamage: (shard, error) => this.onDamage(shard, error),
    });
    this.#residency = new Residency({
      loadedMax: Math.max(1, Math.min(limits.openIndexesMax, Math.floor(MEMORIES_MAX / shards))),
      idleMs: limits.indexIdleMsMax,
      now: () => performance.now(),
      open: (uid) => this.#open(uid),
      close: (uid) => this.#close(uid),
      mark: (uid, isOpen) => {
        const state = this.#states.get(uid);
        if (state !== undefined) state.shared.isOpen = isOpen;
      },
      elsewhere: (uid) => {
        const standing = this.#states.get(uid)?.shared;
        return standing === undefined
          ? USED_NOWHERE
          : { isUsed: standing.isUsedElsewhere, ended: standing.endedElsewhere };
      },
    });
    const sweepMs = Math.max(SWEEP_MS_MIN, limits.indexIdleMsMax / SWEEPS_PER_IDLE_TIME);
    options.jobs.every(sweepMs, { name: "unload idle indexes", subject: "loaded indexes" }, () =>
      this.#residency.sweep(),
    );
  }

  /**
   * Numbers of indexes. `failing`: with damage, or they did not open when they were last needed. `unseen`: not opened
   * since the start, so that what is damaged in them is not known.
   */
  get counts() {
    const failing = new Set(this.#damage.keys());
    for (const [uid, state] of this.#states) if (state.failing) failing.add(uid);
    const { loaded, openings, unloads } = this.#residency;
    return { failing: failing.size, unseen: this.#unseen, loaded, openings, unloads };
  }

  /** Damage was met in the index, or it did not open when it was last needed. */
  isFailing(uid: number): boolean {
    return this.#damage.has(uid) || (this.#states.get(uid)?.failing ?? false);
  }

  /** Why the index cannot be opened; undefined for one that can. One with damage may be open and serve what is whole. */
  unopenable(uid: number): string | undefined {
    return this.#states.has(uid) ? undefined : this.#damage.get(uid);
  }

  /** Live documents; 0 for an index that cannot be opened. */
  documents(uid: number): number {
    return this.#states.get(uid)?.documents ?? 0;
  }

  isRebuilding(uid: number): boolean {
    return this.#states.get(uid)?.rebuilding ?? false;
  }

  /** How far an index is, null for one that cannot be opened. */
  progress(uid: number): Pick<IndexReading, "documents" | "generation" | "pendingWrites"> | null {
    const state = this.#states.get(uid);
    if (state === undefined) return null;
    const { published, pending } = state.generations;
    return { documents: state.documents, generation: published, pendingWrites: pending };
  }

  /** Undefined for one that cannot be opened. */
  find(uid: number): IndexState | undefined {
    return this.#states.get(uid);
  }

  /** Throws SK-SE-503 for an index that cannot be opened. */
  state(uid: number): IndexState {
    const state = this.#states.get(uid);
    if (state !== undefined) return state;
    const damage = this.#damage.get(uid);
    if (damage !== undefined) throw new SkeinError("SK-SE-503", damage, { retryAfter: 60 });
    throw new SkeinError("SK-SE-503", "the index is not open; retry in a moment", { retryAfter: 1 });
  }

  /** Opens the index unless it is open; `end` must be called. Throws SkeinError. */
  async use(uid: number): Promise<IndexUse<IndexState>> {
    this.state(uid);
    const end = await this.#residency.begin(uid);
    try {
      return { state: this.state(uid), end };
    } catch (error) {
      end(); // it was dropped meanwhile
      throw error;
    }
  }

  /** As `use`, at once; undefined for an index that is not open. */
  useOpen(uid: number): IndexUse<IndexState> | undefined {
    const state = this.#states.get(uid);
    if (state === undefined || !this.#residency.isOpen(uid)) return undefined;
    return { state, end: this.#residency.keep(uid) };
  }

  /** As `use` of an index that is open, or that stays open although it was to be unloaded; undefined for others. */
  async useLoaded(uid: number): Promise<IndexUse<IndexState> | undefined> {
    const end = await this.#residency.beginLoaded(uid);
    if (end === undefined) return undefined;
    const state = this.#states.get(uid);
    if (state === undefined) end(); // it was dropped meanwhile
    return state && { state, end };
  }

  /** Learns where stored indexes stand, without opening them. */
  async adopt(records: readonly IndexRecord[]): Promise<void> {
    const told = await this.#shards.standingEverywhere(records);
    for (const [i, record] of records.entries()) {
      const standing = told.flatMap((replies) => replies[i] ?? []);
      if (standing.length < told.length) continue;
      const state = new IndexState(record, standing, this.#options.threads, this.#options);
      state.rebuilding = staleSegments(standing) > 0;
      this.#states.set(record.uid, state);
    }
  }

  /**
   * Opens every adopted index once, those to be re-indexed first, then the largest, so that damage is found and large
   * indexes are loaded before somebody asks. One after the other; those that do not fit are unloaded again.
   */
  async lookAtAll(signal: AbortSignal): Promise<void> {
    const waiting = [...this.#states.values()].sort(
      (a, b) => Number(b.rebuilding) - Number(a.rebuilding) || b.documents - a.documents,
    );
    this.#unseen = waiting.length;
    for (const { record } of waiting) {
      if (signal.aborted) return;
      if (this.#states.has(record.uid)) await this.#residency.visit(record.uid).catch(() => undefined);
      this.#unseen--;
    }
  }

  /** Makes a new index in all shards. */
  async create(record: IndexRecord): Promise<void> {
    const standing = Array.from({ length: this.#options.shards }, () => NOTHING_STORED);
    const state = new IndexState({ ...record, making: true }, standing, this.#options.threads, this.#options);
    this.#states.set(record.uid, state);
    try {
      const { end } = await this.use(record.uid);
      state.record = record;
      end();
    } catch (error) {
      this.#residency.forget(record.uid);
      this.#states.delete(record.uid);
      throw error;
    }
  }

  /** Removes the index and all its stored data. */
  async drop(uid: number): Promise<void> {
    this.#residency.forget(uid);
    this.#states.delete(uid);
    this.#options.jobs.cancel(rebuildSubject(uid));
    await this.#shards.drop(uid);
    this.#damage.delete(uid);
  }

  /**
   * The fields or the analysis settings changed; the shards re-index in the background. Rejects when a shard did not
   * take it: it is told again until it does, and "rebuilding" until then.
   */
  async applySchema(record: IndexRecord): Promise<void> {
    const { uid } = record;
    this.state(uid).record = record; // whatever opens the index from now on opens it with the new schema
    const { state, end } = await this.use(uid);
    this.#options.jobs.cancel(rebuildSubject(uid)); // what follows an older schema
    state.rebuilding = true;
    const rebuild = this.#rebuild(state);
    try {
      await this.#tellSchema(record);
      await followRebuild(state, rebuild);
    } catch (error) {
      repeatSchema(state, rebuild, () => this.#tellSchema(record));
      throw error;
    } finally {
      end();
    }
  }

  async #tellSchema(record: IndexRecord): Promise<void> {
    fault("schema.before-shards");
    await this.#shards.changeSchema(record);
    fault("schema.after-shards");
  }

  /** Resolves when no other thread uses the index any more, at the latest after `msMax` or when `signal` says so. */
  async unusedElsewhere(uid: number, msMax: number, signal: AbortSignal): Promise<void> {
    const standing = this.#states.get(uid)?.shared;
    const endMs = performance.now() + msMax;
    while (standing?.isUsedElsewhere && !signal.aborted && performance.now() < endMs)
      await sleep(USES_LOOK_MS);
  }

  /** The thread at this place has ended: it reads nothing any more. */
  clearPlace(place: number): void {
    for (const state of this.#states.values()) state.shared.clear(place);
  }

  /** Summed over the shards. */
  async stats(uid: number): Promise<IndexStats> {
    return sumStats(await this.statsByShard(uid));
  }

  async statsByShard(uid: number): Promise<IndexStats[]> {
    const { end } = await this.use(uid);
    try {
      return await this.#shards.stats(uid);
    } finally {
      end();
    }
  }

  /** What each of these indexes takes, open or not, by the order of the uids. */
  sizes(uids: readonly number[]): Promise<IndexSize[]> {
    return this.#shards.sizes(uids);
  }

  onDamage(shard: number, error: ShardError): void {
    const { uid, message } = error;
    if (uid === undefined || this.#damage.has(uid)) return;
    this.#damage.set(uid, damageSentence(error));
    const index = this.#states.get(uid)?.record.name;
    this.#options.log.error({ index, uid, shard, found: message }, "stored data of an index cannot be read");
  }

  /** A new thread of the shard has nothing open: opens there what is in use; the rest waits until it is needed. */
  async recover(shard: number, ask: Ask): Promise<void> {
    const used = new Set(this.#residency.lost());
    for (const state of this.#states.values()) state.forget();
    const others = [...this.#states.values()].filter(({ record }) => !used.has(record.uid));
    const standing = await this.#shards.standing(
      shard,
      others.map(({ record }) => record),
      ask,
    );
    for (const [i, state] of others.entries()) {
      const stands = standing[i];
      if (stands !== null && stands !== undefined && !this.#residency.isOpen(state.record.uid))
        state.setLiveDocs(shard, stands.liveDocs);
    }
    for (const uid of used) {
      const state = this.#states.get(uid);
      if (state === undefined) continue;
      // of a damaged one the shard answers every request with what is damaged; the other indexes go on
      const reply = await this.#shards.openIn(shard, state.record, ask);
      if (reply !== null) state.setLiveDocs(shard, reply.liveDocs);
    }
  }

  /** Nothing is opened or unloaded any more. */
  stop(): void {
    this.#stopped = true;
    this.#states.clear();
  }

  async #open(uid: number): Promise<void> {
    const state = this.state(uid);
    const startedMs = performance.now();
    try {
      const replies = await this.#shards.open(state.record);
      fault("open.after-shards");
      state.reopened(replies);
      state.failing = false;
      if (state.rebuilding || staleSegments(replies) > 0) await followRebuild(state, this.#rebuild(state));
    } catch (error) {
      await this.#closeEverywhere(uid);
      this.#onNotOpened(state, error);
      throw error;
    }
    this.#options.recorder.openings.observe((performance.now() - startedMs) / 1000);
    this.#options.onOpened(uid);
  }

  /** Damage stays until somebody repairs it; for anything else the next use tries again. */
  #onNotOpened(state: IndexState, error: unknown): void {
    const { uid, name } = state.record;
    if (this.#stopped || this.#states.get(uid) !== state) return;
    if (!state.failing) this.#options.log.error({ err: error, index: name, uid }, "an index does not open");
    state.failing = true;
    if (error instanceof SkeinError && isUnreadable(error.cause)) this.#states.delete(uid);
  }

  /** False while a shard has work to do for the index. */
  async #close(uid: number): Promise<boolean> {
    const state = this.#states.get(uid);
    if (state === undefined || this.#stopped) return state === undefined;
    if (state.shared.isUsedElsewhere) return false; // since it was looked at
    if (!this.#damage.has(uid)) {
      const stats = await this.#shards.statsWhereOpen(uid);
      if (stats.some(({ merging, queuedBytes }) => merging || queuedBytes > 0)) return false;
    }
    fault("unload.before-shards");
    await this.#shards.close(uid);
    state.forget();
    return true;
  }

  /** Gives back what some shards have loaded of an index that another one could not open. */
  async #closeEverywhere(uid: number): Promise<void> {
    try {
      await this.#shards.close(uid);
    } catch (error) {
      this.#options.log.debug({ err: error, uid }, "an index that did not open could not be unloaded");
    }
  }

  #wanted(state: IndexState): boolean {
    const { uid } = state.record;
    return this.#states.get(uid) === state && !this.#damage.has(uid);
  }

  #rebuild(state: IndexState): Rebuild {
    const { uid } = state.record;
    const { jobs, log } = this.#options;
    return {
      staleSegments: async () => sumStats(await this.#shards.stats(uid)).staleSegments,
      wanted: () => this.#wanted(state),
      keep: () => this.#residency.keep(uid),
      jobs,
      log,
    };
  }
}

function staleSegments(standing: readonly OpenReply[]): number {
  return standing.reduce((sum, one) => sum + one.staleSegments, 0);
}
