// Makes backups of a running server. A backup shows the catalog and all shards at a single moment. Writes are
// paused only while that moment is fixed; then the backup is streamed to a directory while writes continue.
// Only one backup runs at a time. Backup names are generated here, so no path ever comes from a client.
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { writeBackupFile } from "../../../shards/storage/backup-file.js";
import type { StoreSnapshot } from "../../../shards/storage/store.js";
import type { Catalog } from "../../catalog/catalog.js";
import type { OpenIndexes } from "../../fleet/owner/open-indexes.js";
import type { ShardMoments } from "../../fleet/owner/shard-moments.js";
import type { Writes } from "../../fleet/owner/writes.js";
import { renameDurably, syncDirectory } from "../../ground/data-dir/durable-files.js";
import { SkeinError } from "../../ground/errors.js";
import { fault } from "../../ground/fault.js";
import type { Jobs } from "../../ground/jobs/jobs.js";
import type { Logger } from "../../ground/log.js";
import type { Analytics } from "../../query-log/analytics/analytics.js";
import {
  ANALYTICS_FILE,
  BackupError,
  type BackupManifest,
  bytesOf,
  CATALOG_FILE,
  readManifest,
  shardFile,
  writeManifest,
} from "./manifest.js";

/**
 * Maximum time (ms) that a new backup waits for running writes to finish. New writes are paused during that
 * time.
 */
const WRITES_WAIT_MS_MAX = 10_000;

const ID = /^\d{8}-\d{6}-[0-9a-f]{6}$/;
/** Directory suffix of an unfinished backup. The next start removes the directory. */
const UNFINISHED = ".partial";
/** All backups have the same job subject, so only one runs at a time. */
const JOB = { name: "write a backup", subject: "backups" } as const;

export type BackupStatus = "running" | "complete" | "damaged" | "failed";

export interface Backup {
  readonly id: string;
  readonly createdAt: string;
  readonly status: BackupStatus;
  /** Total size of the files; 0 until the backup is complete. */
  readonly bytes: number;
  readonly shards: number;
  readonly indexes: number;
  readonly documents: number;
  /** The backup's directory on the server's machine. */
  readonly path: string;
  /** Why the backup failed or cannot be used; null otherwise. */
  readonly error: string | null;
}

interface Services {
  readonly directory: string;
  readonly catalog: Catalog;
  readonly indexes: OpenIndexes;
  readonly writes: Writes;
  readonly moments: ShardMoments;
  readonly analytics: Pick<Analytics, "backup">;
  readonly jobs: Jobs;
  readonly log: Logger;
}

export class Backups {
  readonly #services: Services;
  /**
   * The running backup, and backups of this process that have failed. They have no complete directory that
   * `list` could read.
   */
  readonly #unfinished = new Map<string, Backup>();

  constructor(services: Services) {
    this.#services = services;
  }

  /** Removes the unfinished backups that a killed server left behind. */
  async clean(): Promise<void> {
    for (const name of await this.#names()) {
      if (ID.test(name.slice(0, -UNFINISHED.length)) && name.endsWith(UNFINISHED))
        await rm(join(this.#services.directory, name), { recursive: true, force: true });
    }
  }

  /**
   * Starts a backup. Resolves once its moment is fixed: it contains every write acknowledged before that
   * moment and no later write. The files are written in the background. Throws SK-SYS-409 if another backup
   * is running, and SK-SYS-503 if running writes do not finish in time.
   */
  async create(): Promise<Backup> {
    const { jobs } = this.#services;
    if (jobs.has(JOB)) throw new SkeinError("SK-SYS-409", "another snapshot is being written");
    return await new Promise((taken, refused) => {
      const work = async (signal: AbortSignal): Promise<void> => {
        const { entry, catalog } = await this.#begin();
        taken(entry);
        await this.#write(entry, catalog, signal);
      };
      jobs.run(JOB, work).catch(refused);
    });
  }

  /** Returns all backups, oldest first. */
  async list(): Promise<Backup[]> {
    // Copy this list before reading the directory: a backup that finishes in between is then in at least one
    // of the two lists.
    const unfinished = [...this.#unfinished.values()];
    const ids = (await this.#names()).filter((name) => ID.test(name));
    const stored = await Promise.all(ids.map((id) => this.#read(id)));
    // A running backup's directory gets its final name shortly before the job ends. Until then, list the
    // backup as running, because the server still refuses another one.
    const running = new Set(unfinished.filter(({ status }) => status === "running").map(({ id }) => id));
    const known = new Set(ids);
    const others = unfinished.filter(({ id }) => running.has(id) || !known.has(id));
    const whole = stored.filter(({ id }) => !running.has(id));
    return [...whole, ...others].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Returns one backup. Throws SK-SYS-404. */
  async get(id: string): Promise<Backup> {
    const entry = (await this.list()).find((one) => one.id === id);
    if (entry === undefined) throw new SkeinError("SK-SYS-404", "there is no such snapshot");
    return entry;
  }

  /** Deletes a backup. Throws SK-SYS-404, or SK-SYS-409 while it is being written. */
  async remove(id: string): Promise<void> {
    const entry = await this.get(id);
    if (entry.status === "running") throw new SkeinError("SK-SYS-409", "the snapshot is being written");
    this.#unfinished.delete(id);
    // Rename the directory first, so that it no longer counts as a backup even if the removal stops halfway.
    const { directory } = this.#services;
    const going = join(directory, id + UNFINISHED);
    if (entry.status !== "failed") await renameDurably(join(directory, id), going);
    fault("backup.during-removal");
    await rm(going, { recursive: true, force: true });
  }

  async #begin(): Promise<{ entry: Backup; catalog: StoreSnapshot }> {
    const { moments, directory } = this.#services;
    const id = newId(new Date());
    try {
      const { entry, catalog } = await this.#take(id);
      const placed = { ...entry, path: join(directory, id) };
      this.#unfinished.set(id, placed);
      return { entry: placed, catalog };
    } catch (error) {
      await moments.drop(id);
      throw error;
    }
  }

  async #take(id: string): Promise<{ entry: Omit<Backup, "path">; catalog: StoreSnapshot }> {
    const { catalog, indexes: open, writes, moments } = this.#services;
    const pausedMs = performance.now();
    const taken = await writes.between(WRITES_WAIT_MS_MAX, () =>
      catalog.frozen(async (state, view) => {
        await moments.take(id);
        fault("backup.after-take");
        const indexes = [...state.indexes.keys()];
        const documents = indexes.reduce((sum, uid) => sum + open.documents(uid), 0);
        const createdAt = new Date().toISOString();
        const counts = { bytes: 0, shards: moments.shards, indexes: indexes.length, documents };
        const entry = { id, createdAt, status: "running", error: null, ...counts } as const;
        return { entry, catalog: view() };
      }),
    );
    if (taken === undefined) {
      throw new SkeinError(
        "SK-SYS-503",
        "the writes in progress did not finish in time for a snapshot; retry in a moment",
        {
          retryAfter: 10,
        },
      );
    }
    const ms = Math.round(performance.now() - pausedMs);
    this.#services.log.info({ backup: id, pausedMs: ms }, "backup taken");
    return taken;
  }

  /**
   * Writes the files. If that fails, the list of backups shows the failure; never rejects. If `signal`
   * aborts, discards the backup.
   */
  async #write(entry: Backup, catalog: StoreSnapshot, signal: AbortSignal): Promise<void> {
    const { directory, moments, analytics, log } = this.#services;
    const { id } = entry;
    const partial = join(directory, id + UNFINISHED);
    const giveUp = (): void => void moments.drop(id); // also stops the shards from writing their files
    signal.addEventListener("abort", giveUp);
    try {
      signal.throwIfAborted();
      await mkdir(partial, { recursive: true, mode: 0o700 });
      const pause = async (): Promise<void> => {
        signal.throwIfAborted();
        await yieldToEventLoop();
      };
      const files = await Promise.allSettled([
        writeBackupFile(join(partial, CATALOG_FILE), catalog, pause).then((sums) => [
          { name: CATALOG_FILE, ...sums },
        ]),
        ...Array.from({ length: entry.shards }, async (_, shard) => {
          const name = shardFile(shard);
          return [{ name, ...(await moments.write(shard, id, join(partial, name))) }];
        }),
        analytics
          .backup(join(partial, ANALYTICS_FILE), signal)
          .then((sums) => (sums === null ? [] : [{ name: ANALYTICS_FILE, ...sums }])),
      ]);
      const failed = files.find((file) => file.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      const manifest: BackupManifest = {
        ...entry,
        files: files.flatMap((file) => (file.status === "fulfilled" ? file.value : [])),
      };
      fault("backup.after-files");
      await writeManifest(partial, manifest);
      fault("backup.after-manifest");
      await syncDirectory(partial);
      await renameDurably(partial, entry.path);
      fault("backup.after-rename");
      log.info({ backup: id, bytes: bytesOf(manifest), documents: entry.documents }, "backup complete");
    } catch (error) {
      if (signal.aborted) log.warn({ backup: id }, "a backup was given up: it was cancelled");
      else log.error({ err: error, backup: id }, "a backup could not be written");
      const reason = error instanceof Error ? error.message : String(error);
      this.#unfinished.set(id, { ...entry, status: "failed", error: reason });
      await moments.drop(id);
      await rm(partial, { recursive: true, force: true }).catch(() => undefined);
    } finally {
      signal.removeEventListener("abort", giveUp);
      await catalog
        .close()
        .catch((error: unknown) => log.error({ err: error, backup: id }, "a view was not closed"));
      if (this.#unfinished.get(id)?.status === "running") this.#unfinished.delete(id);
    }
  }

  async #read(id: string): Promise<Backup> {
    const path = join(this.#services.directory, id);
    try {
      const manifest = await readManifest(path);
      const { createdAt, shards, indexes, documents } = manifest;
      const counts = { bytes: bytesOf(manifest), shards, indexes, documents };
      return { id, createdAt, status: "complete", path, error: null, ...counts };
    } catch (error) {
      if (!(error instanceof BackupError)) throw error;
      const counts = { bytes: 0, shards: 0, indexes: 0, documents: 0 };
      return { id, createdAt: timeOf(id), status: "damaged", path, error: error.message, ...counts };
    }
  }

  async #names(): Promise<string[]> {
    try {
      return await readdir(this.#services.directory);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  }
}

/** Returns an id that sorts by time, for example 20261121-233245-1a2b3c. */
function newId(now: Date): string {
  const [date, time] = now.toISOString().replaceAll(/[-:]/g, "").slice(0, 15).split("T");
  return `${date}-${time}-${randomBytes(3).toString("hex")}`;
}

function timeOf(id: string): string {
  const part = (from: number, length: number): string => id.slice(from, from + length);
  return `${part(0, 4)}-${part(4, 2)}-${part(6, 2)}T${part(9, 2)}:${part(11, 2)}:${part(13, 2)}.000Z`;
}
