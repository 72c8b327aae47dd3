// Spreads an index that has grown over all shards while it is in use: its documents are copied from its home, under another number
// and a generation that nobody reads yet. Its writes wait for that, one or two seconds; reads go on. The step that decides is the
// record in the catalog. Reads of older generations ask the home, which is dropped when there are none left.
import { setTimeout as sleep } from "node:timers/promises";
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import type { Catalog } from "../catalog/catalog.js";
import { type IndexState, indexSubject } from "../cluster/index-state.js";
import type { OpenIndexes } from "../cluster/open-indexes.js";
import type { Writes } from "../cluster/writes.js";
import { fault } from "../fault.js";
import type { Room } from "../ingest/room.js";
import type { Jobs } from "../jobs/jobs.js";
import type { Limits } from "../limits.js";
import type { Logger } from "../log.js";
import type { ShardCalls } from "../threads/shard-calls.js";
import { moveIndex } from "./move-index.js";
import type { AskShard } from "./new-part.js";

export interface SpreadingOptions {
  readonly catalog: Catalog;
  readonly indexes: OpenIndexes;
  readonly writes: Writes;
  readonly calls: ShardCalls;
  readonly room: Room;
  readonly workbench: Workbench;
  readonly jobs: Jobs;
  readonly limits: Pick<Limits, "homeDocumentsMax" | "spreadWaitMsMax">;
  readonly log: Logger;
  /** The index lies in other shards now. */
  readonly onSpread: (uid: number) => void;
}

const TURNS = "spreading of indexes";
/** What failed or has to wait is tried again after the first of these, and what fails again after twice as long each time. */
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 5 * 60_000;
const LOOK_MS = 100;

export class Spreading {
  readonly #options: SpreadingOptions;
  readonly #ask: AskShard;
  /** Of indexes that could not be spread yet, by uid: how long the last pause was. */
  readonly #paused = new Map<number, number>();

  constructor(options: SpreadingOptions) {
    this.#options = options;
    this.#ask = (shard, request) => options.calls.ask(shard, request);
  }

  /** In the background, if the index has grown, one index after the other. To be called when it was opened or written. */
  look(uid: number): void {
    if (!this.#paused.has(uid)) this.#lookNow(uid);
  }

  #lookNow(uid: number): void {
    const { indexes, jobs } = this.#options;
    if (!this.#hasGrown(uid)) this.#paused.delete(uid);
    else if (indexes.isRebuilding(uid)) this.#pause(uid, PAUSE_MS);
    else {
      const turn = { name: `spread index ${uid}`, subject: TURNS };
      const job = { name: "spread an index", subject: indexSubject(uid) };
      if (!jobs.has(turn)) void jobs.start(turn, () => jobs.run(job, (signal) => this.#spread(uid, signal)));
    }
  }

  #hasGrown(uid: number): boolean {
    const { indexes, limits } = this.#options;
    const state = indexes.find(uid);
    if (state === undefined || !this.#isThere(state) || indexes.isFailing(uid)) return false;
    return state.isHome && state.documents > limits.homeDocumentsMax;
  }

  /** A swap may have deleted it, and its data is dropped when the spreading is over. */
  #isThere(state: IndexState): boolean {
    const { catalog, indexes } = this.#options;
    const { uid } = state.record;
    return indexes.find(uid) === state && catalog.state.indexes.has(uid);
  }

  async #spread(uid: number, signal: AbortSignal): Promise<void> {
    const { indexes, limits, log } = this.#options;
    if (!this.#hasGrown(uid) || indexes.isRebuilding(uid)) return this.#lookNow(uid); // it waited for its turn
    const startedMs = performance.now();
    try {
      const { state, end } = await indexes.use(uid);
      try {
        const done = await state.writing.quiet(limits.spreadWaitMsMax, () => this.#move(state, signal));
        if (done === undefined) throw new Error("the writes under way did not end");
        const tookMs = Math.round(performance.now() - startedMs);
        const { documents, record } = state;
        log.info({ index: record.name, documents, tookMs }, "an index was spread over all shards");
        this.#paused.delete(uid);
      } finally {
        end();
      }
    } catch (error) {
      if (!signal.aborted) this.#failed(uid, error);
    }
  }

  #failed(uid: number, error: unknown): void {
    const { indexes, log } = this.#options;
    if (indexes.find(uid) === undefined) return;
    const retryMs = Math.min(2 * (this.#paused.get(uid) ?? PAUSE_MS / 2), PAUSE_MS_MAX);
    log.warn({ err: error, uid, retryMs }, "an index could not be spread over all shards; trying again");
    this.#pause(uid, retryMs);
  }

  #pause(uid: number, ms: number): void {
    this.#paused.set(uid, ms);
    const job = { name: `look at index ${uid} again`, subject: TURNS };
    this.#options.jobs.after(ms, job, async () => this.#lookNow(uid));
  }

  /** Nobody writes to the index meanwhile. */
  async #move(state: IndexState, signal: AbortSignal): Promise<true> {
    const { indexes, writes, room, workbench, onSpread } = this.#options;
    const { record, home, spread, generations } = state;
    room.check(); // for the copy
    await this.#dropCopy(state);
    const generation = generations.begin();
    let mayBeDecided = false;
    try {
      fault("spread.before-copy");
      const [source, target] = [home, spread].map((location) => ({ ask: this.#ask, location }));
      await moveIndex({ record, workbench, source: source!, target: target!, generation });
      fault("spread.after-copy");
      state.isMoving = true; // a shard that is restarted from now on opens the copy
      const told = await indexes.messages.open(record, spread); // and one that was has lost it
      mayBeDecided = true;
      // A backup has the step as a whole or not at all.
      await writes.asOne(() => this.#decide(state, signal));
      state.spreadFrom(generation, told);
    } finally {
      generations.finish(generation);
      if (!mayBeDecided) {
        state.isMoving = false;
        await this.#dropCopy(state).catch(() => undefined); // the next attempt does
      }
    }
    onSpread(record.uid);
    const job = { name: "drop what was at home", subject: `home of index ${record.uid}` };
    void this.#options.jobs.start(job, (stop) => this.#dropHome(state, generation, stop));
    return true;
  }

  /** What an attempt has copied that came to nothing. */
  async #dropCopy({ spread }: IndexState): Promise<void> {
    const { messages } = this.#options.indexes;
    const [stored] = await messages.sizes([spread]);
    if (stored!.diskBytes > 0 || stored!.memoryBytes > 0) await messages.drop(spread);
  }

  /** A refusal may have stored it all the same, so nobody writes to the home before it is clear that it is stored. */
  async #decide(state: IndexState, signal: AbortSignal): Promise<void> {
    const { catalog, indexes, log } = this.#options;
    const { uid } = state.record;
    for (;;) {
      try {
        await catalog.change(({ indexes: present }) => {
          if (!present.has(uid)) throw new Error(`index ${uid} is deleted`);
          return { type: "index.spread", uid, home: state.home.data };
        });
        fault("spread.after-decision");
        return;
      } catch (error) {
        if (!this.#isThere(state)) throw error;
        if (signal.aborted) {
          indexes.forget(uid); // the next start knows where it lies
          throw error;
        }
        log.warn({ err: error, uid }, "the catalog does not take that an index is spread; trying again");
        await sleep(PAUSE_MS, undefined, { ref: false, signal }).catch(() => undefined);
      }
    }
  }

  /** Once no read of an older generation is left. The next start does it, too. */
  async #dropHome(state: IndexState, generation: number, signal: AbortSignal): Promise<void> {
    const { catalog, indexes, log } = this.#options;
    const { home, record } = state;
    for (;;) {
      await sleep(state.generations.oldest < generation ? LOOK_MS : 0, undefined, { ref: false, signal });
      if (state.generations.oldest < generation && indexes.find(record.uid) === state) continue;
      state.isMoving = false;
      try {
        fault("spread.before-drop");
        await indexes.messages.drop(home);
        await catalog.change(() => ({ type: "index.dropped", uid: home.data }));
        return;
      } catch (error) {
        log.warn(
          { err: error, uid: record.uid },
          "what a spread index had at home could not be dropped; trying again",
        );
        await sleep(PAUSE_MS, undefined, { ref: false, signal });
      }
    }
  }
}
