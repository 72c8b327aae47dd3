// The indexes of the fleet: where each stands, which are loaded in the shards, what is damaged. Opens one in
// its shards when it is needed, unloads it when it is not, and brings a restarted shard back. Knows no reads
// and writes.
import { setTimeout as sleep } from "node:timers/promises";
import type { IndexSize, IndexStats, OpenReply } from "../../../shards/protocol/control.js";
import { isUnreadable, type ShardError } from "../../../shards/protocol/errors.js";
import { vectorPolicy } from "../../catalog/definition/embedder-sources.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { SkeinError } from "../../ground/errors.js";
import { fault } from "../../ground/fault.js";
import type { Jobs } from "../../ground/jobs/jobs.js";
import type { Limits } from "../../ground/limits.js";
import type { Logger } from "../../ground/log.js";
import type { IndexReading } from "../../ground/metrics/readings.js";
import type { Recorder } from "../../ground/metrics/recorder.js";
import type { AnswerCache } from "../reads/answer-cache.js";
import type { IndexHandles, IndexUse } from "../reads/reads.js";
import type { Ask } from "../threads/shard-pool.js";
import { Damage } from "./damage.js";
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

export class OpenIndexes implements IndexHandles {
  readonly #options: OpenIndexesOptions;
  readonly messages: IndexMessages;
  readonly #states = new Map<number, IndexState>();
  readonly #damage: Damage;
  readonly #residency: Residency;
  #stopped = false;
  #unseen = 0;

  constructor(options: OpenIndexesOptions) {
    this.#options = options;
    const { limits, locations } = options;
    this.#damage = new Damage(options.log);
    this.messages = new IndexMessages({
      locations,
      ask: options.ask,
      policyOf: (record) => vectorPolicy(record, this.documents(record.uid)),
      onDamage: (shard, error) => this.onDamage(shard, error),
    });
    this.#residency = new Residency({
      loadedMax: Math.max(
        1,
        Math.min(limits.openIndexesMax, Math.floor(MEMORIES_MAX / locations.all.length)),
      ),
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
   * Numbers of indexes. `failing`: with damage, or they did not open when they were last needed. `unseen`:
   * not opened since the start, so that what is damaged in them is not known.
   */
  get counts() {
    const failing = new Set(this.#damage.uids);
    for (const [uid, state] of this.#states) if (state.failing) failing.add(uid);
    const { loaded, openings, unloads } = this.#residency;
    return { failing: failing.size, unseen: this.#unseen, loaded, openings, unloads };
  }

  /** Damage was met in the index, or it did not open when it was last needed. */
  isFailing(uid: number): boolean {
    return this.#damage.of(uid) !== undefined || (this.#states.get(uid)?.failing ?? false);
  }

  /**
   * Why the index cannot be opened; undefined for one that can. One with damage may be open and serve what is
   * whole.
   */
  unopenable(uid: number): string | undefined {
    return this.#states.has(uid) ? undefined : this.#damage.of(uid);
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
    const damage = this.#damage.of(uid);
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

  /**
   * As `use` of an index that is open or being opened, or stays open although it was to be unloaded;
   * undefined for others.
   */
  async useLoaded(uid: number): Promise<IndexUse<IndexState> | undefined> {
    const end = await this.#residency.beginLoaded(uid);
    if (end === undefined) return undefined;
    const state = this.#states.get(uid);
    if (state === undefined) end(); // it was dropped meanwhile
    return state && { state, end };
  }

  /** Learns where stored indexes stand, without opening them. */
  async adopt(records: readonly IndexRecord[]): Promise<void> {
    const told = await this.messages.standingOf(records);
    for (const [i, record] of records.entries()) {
      const standing = told[i]!.filter((one) => one !== null);
      if (standing.length < told[i]!.length) continue;
      const state = this.#newState(record, standing);
      state.rebuilding = staleSegments(standing) > 0;
      this.#states.set(record.uid, state);
    }
  }

  /**
   * Opens every adopted index once, those to be re-indexed first, then the largest, so that damage is found
   * and large indexes are loaded before somebody asks. One after the other; those that do not fit are
   * unloaded again.
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

  /** Makes a new index in the shards in which it is to lie. */
  async create(record: IndexRecord): Promise<void> {
    const standing = this.#options.locations.of(record).places.map(() => NOTHING_STORED);
    const state = this.#newState({ ...record, making: true }, standing);
    this.#states.set(record.uid, state);
    try {
      const { end } = await this.use(record.uid);
      state.record = record;
      end();
    } catch (error) {
      this.forget(record.uid);
      throw error;
    }
  }

  /** As if it had not been adopted. */
  forget(uid: number): void {
    this.#residency.forget(uid);
    this.#states.delete(uid);
  }

  /**
   * Removes the index and all its stored data, or what stands under a number of documents at home
   * (schema/placement.ts).
   */
  async drop(uid: number): Promise<void> {
    this.forget(uid);
    this.#options.jobs.cancel(rebuildSubject(uid));
    for (const location of this.#options.locations.every(uid)) await this.messages.drop(location);
    this.#damage.forget(uid);
  }

  /**
   * The fields or the analysis settings changed; the shards re-index in the background. Rejects when a shard
   * did not take it: it is told again until it does, and "rebuilding" until then.
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
    await this.messages.changeSchema(record, this.state(record.uid).newest);
    fault("schema.after-shards");
  }

  /**
   * Resolves when no other thread uses the index any more, at the latest after `msMax` or when `signal` says
   * so.
   */
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

  /** In the order of its shards. */
  async statsByShard(uid: number): Promise<IndexStats[]> {
    const { state, end } = await this.use(uid);
    try {
      return await state.withNewest((newest) => this.messages.stats(newest));
    } finally {
      end();
    }
  }

  /** What each of these indexes takes, open or not, in their order. */
  sizes(records: readonly IndexRecord[]): Promise<IndexSize[]> {
    return this.messages.sizes(records.map((record) => this.#options.locations.of(record)));
  }

  onDamage(shard: number, error: ShardError): void {
    this.#damage.met(shard, error, (uid) => this.#states.get(uid)?.record.name);
  }

  /**
   * A new thread of the shard has nothing open: opens there what is in use; the rest waits until it is
   * needed.
   */
  async recover(shard: number, ask: Ask): Promise<void> {
    const used = new Set(this.#residency.lost());
    for (const state of this.#states.values()) state.forget();
    const states = [...this.#states.values()].filter(({ newest }) => newest.places.includes(shard));
    const others = states.filter(({ record }) => !used.has(record.uid));
    const standing = await this.messages.standing(
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
      for (const location of state?.locations.filter(({ places }) => places.includes(shard)) ?? []) {
        // of a damaged one the shard answers every request with what is damaged; the other indexes go on
        const reply = await this.messages.openIn(shard, state!.record, location.data, ask);
        if (reply !== null && location === state!.newest) state!.setLiveDocs(shard, reply.liveDocs);
      }
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
      const replies = await this.messages.open(state.record, state.newest);
      fault("open.after-shards");
      state.reopened(replies);
      state.failing = false;
      if (state.rebuilding || staleSegments(replies) > 0) await followRebuild(state, this.#rebuild(state));
    } catch (error) {
      await this.#closeEverywhere(state);
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
    if (this.#damage.of(uid) === undefined) {
      const stats = await this.messages.statsWhereOpen(state.newest);
      if (stats.some(({ merging, queuedBytes }) => merging || queuedBytes > 0)) return false;
    }
    fault("unload.before-shards");
    await this.messages.close(state.newest);
    state.forget();
    return true;
  }

  /** Gives back what some shards have loaded of an index that another one could not open. */
  async #closeEverywhere({ record, newest }: IndexState): Promise<void> {
    const { uid } = record;
    try {
      await this.messages.close(newest);
    } catch (error) {
      this.#options.log.debug({ err: error, uid }, "an index that did not open could not be unloaded");
    }
  }

  #newState(record: IndexRecord, told: readonly OpenReply[]): IndexState {
    const { threads, locations } = this.#options;
    return new IndexState(record, told, threads, locations, this.#options);
  }

  #wanted(state: IndexState): boolean {
    const { uid } = state.record;
    return this.#states.get(uid) === state && this.#damage.of(uid) === undefined;
  }

  #rebuild(state: IndexState): Rebuild {
    const { uid } = state.record;
    const { jobs, log } = this.#options;
    return {
      staleSegments: async () => sumStats(await this.messages.stats(state.newest)).staleSegments,
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
