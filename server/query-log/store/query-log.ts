// The query log manages the journal, open rows, blocks and rollups of all logs in one database. The journal
// makes rows durable, and rows are applied in journal order. Used by one thread, the only one that opens the
// database.
//
// Changes (applying rows, checkpoints, rollups, deletions) run one at a time. Each of them changes the state
// in memory only at its end and without awaiting anything, so a reader that plans without awaiting sees a
// consistent state. If a block in its plan has been deleted before the reader gets to it (BlockGoneError),
// the reader plans again.
import { Lane } from "../../../engine-wasm/host/runtime/lane.js";
import { type BackupFileSums, writeBackupFile } from "../../../shards/storage/backup-file.js";
import { DamagedBytesError } from "../../../shards/storage/envelope.js";
import { LevelStore } from "../../../shards/storage/level-store.js";
import type { Store } from "../../../shards/storage/store.js";
import { readChunk } from "../rows/journal.js";
import { allLogs, journalKey, journalNumber, journalRange, logOfKey, logRange } from "../rows/keys.js";
import { openJournal, putJournal } from "../rows/records.js";
import { hourOf } from "../rows/time.js";
import { Blocks } from "./blocks.js";
import { checkpointOf } from "./checkpoint.js";
import { LogState } from "./log-state.js";
import { forgetOldRows } from "./retention.js";
import { daysToRollUp, hoursToRollUp, type RollUp, rollUpDay, rollUpHour } from "./roll-up.js";

/** Number of open rows that triggers a checkpoint. */
const OPEN_ROWS_MAX = 20_000;
/** Maximum time (ms) for which rows stay open, even if there are only a few. */
const CHECKPOINT_MS = 10 * 60_000;
/**
 * Maximum number of hours in all log states in memory. Beyond that, the least recently used states are
 * dropped, except those with unstored changes.
 */
const HOURS_KNOWN_MAX = 200_000;
const MIB = 1024 * 1024;

export class QueryLog {
  readonly store: Store;
  readonly blocks: Blocks;
  /** One error message per damaged journal entry. */
  readonly damage: string[] = [];
  /** Log states in memory, least recently used first. */
  readonly #logs = new Map<number, LogState>();
  readonly #changes = new Lane();
  /** Serialises writes to the journal. */
  readonly #journaling = new Lane();
  #nextJournal = 1;
  /** Number of the last applied journal entry. */
  #applied = 0;
  #storedJournal = 0;
  #openRows = 0;
  #openSinceMs = 0;

  private constructor(store: Store) {
    this.store = store;
    this.blocks = new Blocks(store);
  }

  /**
   * Opens or creates the query log in a directory. Throws StoreDamagedError, EnvelopeError and other errors
   * of the store.
   */
  static async open(location: string): Promise<QueryLog> {
    const store = await LevelStore.open(location, { cacheBytes: 2 * MIB, writeBufferBytes: 4 * MIB });
    return QueryLog.on(store);
  }

  /** Creates a query log on an open store and takes ownership of the store. */
  static async on(store: Store): Promise<QueryLog> {
    const log = new QueryLog(store);
    try {
      for await (const [key, value] of store.entries(journalRange())) {
        const number = journalNumber(key);
        if (log.#nextJournal === 1) log.#storedJournal = number - 1;
        await log.#applyStored(number, value);
        log.#nextJournal = number + 1;
      }
      return log;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /**
   * Stores a chunk of rows. Resolves when they are durable and visible to reports. Throws StoreWriteError if
   * they cannot be stored.
   */
  async append(chunk: Uint8Array, nowMs: number): Promise<void> {
    const { applied } = await this.#journaling.run(() => this.#journal(chunk));
    await applied;
    if (this.#openSinceMs === 0) this.#openSinceMs = nowMs;
    if (this.#openRows >= OPEN_ROWS_MAX) await this.checkpoint();
  }

  /** Waits for all queued changes, then returns the log's state. */
  async state(log: number): Promise<LogState> {
    await this.#changes.idle();
    return this.#load(log);
  }

  /** Turns all open rows into blocks. Throws StoreWriteError. */
  checkpoint(): Promise<void> {
    return this.#changes.run(async () => {
      const upTo = this.#applied;
      const parts = [...this.#logs.values()]
        .map((state) => checkpointOf(state, this.blocks))
        .filter((part) => part !== null);
      const journal = Array.from({ length: upTo - this.#storedJournal }, (_, i) => ({
        type: "del" as const,
        key: journalKey(this.#storedJournal + 1 + i),
      }));
      await this.store.batch([...parts.flatMap(({ ops }) => ops), ...journal], { sync: true });
      for (const part of parts) part.stored();
      this.#storedJournal = upTo;
      this.#openRows = 0;
      this.#openSinceMs = 0;
    });
  }

  /** Periodic work: a checkpoint if it is due, then rollups and merges. */
  async upkeep(nowMs: number): Promise<void> {
    const hourIsOver = hourOf(this.#openSinceMs) < hourOf(nowMs);
    if (this.#openRows > 0 && (hourIsOver || this.#openSinceMs + CHECKPOINT_MS <= nowMs))
      await this.checkpoint();
    for (const log of [...this.#logs.keys()]) await this.#rollUp(log, nowMs);
  }

  /**
   * Writes a checkpoint, computes the missing rollups of every stored log, and then applies retention. Logs
   * for which `isLive` returns false belong to no existing index and are deleted.
   */
  async sweep(nowMs: number, bytesMax: number, isLive: (log: number) => boolean): Promise<void> {
    await this.checkpoint();
    for (const log of await this.#storedLogs()) {
      if (isLive(log)) await this.#rollUp(log, nowMs);
      else await this.drop(log);
    }
    await forgetOldRows(this, await this.#storedLogs(), nowMs, bytesMax);
  }

  /** Deletes a log. */
  drop(log: number): Promise<void> {
    return this.#changes.run(async () => {
      this.#forget(log);
      await this.store.clear(logRange(log));
    });
  }

  /**
   * Runs `work` while no other change runs. `work` must change the log's state only at its end, without
   * awaiting in between, and must not change it if it throws.
   */
  change<T>(log: number, work: (state: LogState) => Promise<T>): Promise<T> {
    return this.#changes.run(async () => work(await this.#load(log)));
  }

  /**
   * Writes all logs' current contents to a new file. Regularly awaits `pause`; if `pause` throws, the backup
   * fails with that error.
   */
  async backup(path: string, pause: () => Promise<void>): Promise<BackupFileSums> {
    await this.#changes.idle();
    const view = this.store.view();
    try {
      return await writeBackupFile(path, view, pause);
    } finally {
      await view.close();
    }
  }

  async close(): Promise<void> {
    await this.#journaling.idle();
    await this.#changes.idle();
    await this.store.close();
  }

  /**
   * Stores a chunk in the journal and queues it to be applied. Calls must not overlap, so that chunks are
   * applied in the order of their numbers.
   */
  async #journal(chunk: Uint8Array): Promise<{ readonly applied: Promise<void> }> {
    const number = this.#nextJournal++;
    await this.store.batch([putJournal(number, chunk)], { sync: true, adds: true });
    return { applied: this.#changes.run(() => this.#apply(number, chunk)) };
  }

  /** Applies a chunk read from the journal. If it is damaged, skips it and records the damage. */
  async #applyStored(number: number, value: Uint8Array): Promise<void> {
    try {
      await this.#apply(number, openJournal(value));
    } catch (error) {
      if (!(error instanceof DamagedBytesError)) throw error;
      this.damage.push(error.message);
    }
  }

  async #apply(number: number, chunk: Uint8Array): Promise<void> {
    const rows = [...readChunk(chunk)];
    for (const log of new Set(rows.map(({ row }) => row.log))) await this.#load(log);
    for (const { kind, row } of rows) {
      const state = this.#logs.get(row.log) ?? (await this.#load(row.log));
      if (kind === "search") state.addSearch(row);
      else state.addEvent(row);
    }
    this.#openRows += rows.length;
    this.#applied = number;
  }

  async #rollUp(log: number, nowMs: number): Promise<void> {
    const state = await this.state(log);
    const store = async (rollUp: RollUp): Promise<void> => {
      await this.#changes.run(async () => {
        if (this.#logs.get(log) !== state || !rollUp.isCurrent()) return;
        await this.store.batch(rollUp.ops, { sync: false });
        rollUp.stored();
      });
    };
    for (const hour of hoursToRollUp(state, this.blocks, nowMs))
      await store(await rollUpHour(state, this.blocks, hour));
    for (const day of daysToRollUp(state, nowMs)) await store(await rollUpDay(state, this.store, day));
  }

  async #load(log: number): Promise<LogState> {
    const state = this.#logs.get(log) ?? (await LogState.load(log, this.store, this.blocks));
    this.#logs.delete(log);
    this.#logs.set(log, state);
    let hours = 0;
    for (const { hours: known } of this.#logs.values()) hours += known.size;
    for (const [oldest, other] of this.#logs) {
      if (hours <= HOURS_KNOWN_MAX) break;
      if (oldest === log || other.open.size > 0 || this.blocks.changedOf(oldest).length > 0) continue;
      hours -= other.hours.size;
      this.#forget(oldest);
    }
    return state;
  }

  #forget(log: number): void {
    this.#openRows -= this.#logs.get(log)?.open.size ?? 0;
    this.#logs.delete(log);
    this.blocks.forget(log);
  }

  /** Returns the numbers of all logs that have stored data. */
  async #storedLogs(): Promise<number[]> {
    const logs: number[] = [];
    const { from, to } = allLogs();
    for (let next: Uint8Array | null = from; next !== null; ) {
      let found: number | null = null;
      for await (const key of this.store.keys({ from: next, to })) {
        found = logOfKey(key);
        break;
      }
      if (found !== null) logs.push(found);
      next = found === null ? null : logRange(found).to;
    }
    return logs;
  }
}
