// Manages data source runs. Queues them, starts them when a slot is free, follows them to their end and
// records the result. A source has at most one unfinished run. Run records survive a restart, which resumes
// queued runs and fails those that were running.
import { setTimeout as sleep } from "node:timers/promises";
import type { DocumentQuotas } from "../../access/tenants/document-quota.js";
import type { Catalog } from "../../catalog/catalog.js";
import type { DataSource } from "../../catalog/records/data-source.js";
import type { RunStatus, RunTrigger, SyncRun } from "../../catalog/records/sync-run.js";
import type { CatalogState, Command } from "../../catalog/state.js";
import type { Secrets } from "../../ground/data-dir/secrets.js";
import { FeedError, type FeedErrorCode, SkeinError } from "../../ground/errors.js";
import { fault } from "../../ground/fault.js";
import type { Jobs } from "../../ground/jobs/jobs.js";
import { Slots } from "../../ground/jobs/slots.js";
import { openCredentials } from "./passwords.js";
import {
  findRun,
  isUnfinished,
  presentSource,
  pruneRuns,
  putIncident,
  putRun,
  putSource,
  resolveIncidents,
  runsOf,
  unfinishedRun,
} from "./records.js";
import { type RunOutcome, type RunParts, RunProgress, runFeed } from "./run-feed.js";
import { NO_COUNTS, packErrors } from "./run-view.js";
import { scheduledAnew } from "./schedule.js";

/** Delay (ms) before retrying to store a record, for example after the disk was full. */
const RECORD_AGAIN_MS = 5_000;

export interface RunsOptions extends RunParts {
  readonly catalog: Catalog;
  readonly jobs: Jobs;
  readonly secrets: Secrets;
  readonly documentQuotas: DocumentQuotas;
}

/** Why a run was told to stop early. */
class RunStop extends Error {
  readonly why: "cancelled" | "deleted" | "moved";

  constructor(why: RunStop["why"]) {
    super(`the run was ${why}`);
    this.why = why;
  }
}

/** A run queued or started by this process. */
interface ActiveRun {
  /** The index that the run writes to, and the source's `updated_at` at the start. Null while queued. */
  begun: { readonly index: number; readonly updatedAt: string } | null;
  readonly source: number;
  readonly stop: AbortController;
  readonly progress: RunProgress;
  ended: Promise<void>;
}

/** How a run ended. */
interface Ending {
  readonly status: Exclude<RunStatus, "queued" | "running">;
  readonly error: string | null;
  readonly code: FeedErrorCode | null;
  readonly outcome: RunOutcome | null;
}

const INTERRUPTED: Ending = {
  status: "failed",
  error: "the run was interrupted when the server stopped",
  code: "SK-DS-503",
  outcome: null,
};

export class Runs {
  readonly #options: RunsOptions;
  readonly #slots: Slots;
  /** Active runs by run id. */
  readonly #active = new Map<number, ActiveRun>();
  /** The catalog's data sources as last seen by `#follow`. */
  #followed: CatalogState["owned"]["source"] | null = null;

  constructor(options: RunsOptions) {
    this.#options = options;
    this.#slots = new Slots(options.settings.concurrency);
    options.catalog.watch((state) => this.#follow(state));
  }

  /** Fails the runs that were running when the last process ended, and resumes the queued runs in order. */
  async begin(): Promise<void> {
    const runs = [...this.#options.catalog.state.owned.run.values()].flat().filter(isUnfinished);
    for (const run of runs.sort((a, b) => a.id - b.id)) {
      if (run.status === "queued") this.#launch(run);
      else if (!(await this.#interrupted(run))) {
        const job = { name: "record an interrupted run", subject: `data source ${run.source}` };
        void this.#options.jobs.start(job, (signal) => this.#interrupted(run, signal));
      }
    }
  }

  /**
   * Records that a run was interrupted. If the schedule had started the run, queues a run in its place, but
   * only once: a run queued here is not replaced if it is interrupted too, because it may be what killed the
   * server. Returns false if the interruption could not be recorded.
   */
  async #interrupted(run: SyncRun, signal?: AbortSignal): Promise<boolean> {
    const recorded = await this.#record(run.id, null, INTERRUPTED, signal);
    if (recorded && run.trigger === "schedule") await this.queue(run.source, "start");
    return recorded;
  }

  /**
   * Queues a run of a source. If the source already has an unfinished run, returns that run. The commands
   * returned by `also` are committed in the same change. Throws SK-DS-404 if the source has been deleted.
   */
  async queue(
    id: number,
    trigger: RunTrigger,
    also: (source: DataSource) => readonly Command[] = () => [],
  ): Promise<{ readonly run: SyncRun; readonly fresh: boolean }> {
    const { catalog } = this.#options;
    let run: SyncRun | undefined;
    let fresh = false;
    await catalog.change((state) => {
      const source = presentSource(state, id);
      if (source === undefined) throw new SkeinError("SK-DS-404", "the data source no longer exists");
      run = unfinishedRun(state, source);
      if (run !== undefined) return { type: "all", commands: also(source) };
      fresh = true;
      run = queuedRun(state, source, trigger);
      return { type: "all", commands: [...pruneRuns(state, source), putRun(run), ...also(source)] };
    });
    fault("run.after-queue");
    if (fresh) this.#launch(run!);
    return { run: run!, fresh };
  }

  /** Returns the run. If it is unfinished, its counts and errors are those of its progress so far. */
  present(run: SyncRun): SyncRun {
    const active = isUnfinished(run) ? this.#active.get(run.id) : undefined;
    if (active === undefined) return run;
    return { ...run, counts: active.progress.counts, packedErrors: packErrors(active.progress.errors) };
  }

  /** Cancels a run and resolves once it has stopped. Throws SK-DS-409 if the run has already ended. */
  async cancel(source: DataSource, run: SyncRun): Promise<SyncRun> {
    if (!isUnfinished(run)) throw isOver(run);
    const active = this.#active.get(run.id);
    active?.stop.abort(new RunStop("cancelled"));
    await active?.ended;
    const { state } = this.#options.catalog;
    const after = findRun(state, presentSource(state, source.id) ?? source, String(run.id));
    if (after.status !== "cancelled") throw isOver(after);
    return after;
  }

  /** Resolves once no run of the deleted source is active. */
  async ended(source: number): Promise<void> {
    const active = [...this.#active.values()].filter((run) => run.source === source);
    await Promise.all(active.map(({ ended }) => ended));
  }

  #launch({ id, source }: SyncRun): void {
    const { jobs } = this.#options;
    const active: ActiveRun = {
      begun: null,
      source,
      stop: new AbortController(),
      progress: new RunProgress(),
      ended: Promise.resolve(),
    };
    this.#active.set(id, active);
    const job = { name: "read a feed", subject: `data source ${source}` };
    active.ended = jobs
      .start(job, (signal) => this.#attend(id, active, signal))
      .finally(() => this.#active.delete(id));
  }

  /**
   * Stops the runs whose source has been deleted, and running ones whose source has been moved to another
   * index by a swap.
   */
  #follow(state: CatalogState): void {
    if (this.#active.size === 0 || state.owned.source === this.#followed) return;
    this.#followed = state.owned.source;
    const indexOf = new Map([...this.#followed.values()].flat().map(({ id, index }) => [id, index]));
    for (const { begun, source, stop } of this.#active.values()) {
      const index = indexOf.get(source);
      if (index === undefined) stop.abort(new RunStop("deleted"));
      else if (begun !== null && index !== begun.index) stop.abort(new RunStop("moved"));
    }
  }

  /** Runs a queued run and records its end. If the server stops first, the next start deals with the run. */
  async #attend(id: number, active: ActiveRun, stopped: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([stopped, active.stop.signal]);
    const ending = await this.#slots
      .run(signal, () => this.#run(id, active, signal))
      // Once the run has been told to stop, any failure is a consequence of that.
      .catch((error: unknown) => this.#endingOf(signal.aborted ? signal.reason : error));
    const { reason } = active.stop.signal as { reason: unknown };
    const why = reason instanceof RunStop ? reason.why : null;
    if (why === "deleted" || stopped.aborted) return;
    await this.#record(id, active, ending, stopped);
    if (why === "moved" && presentSource(this.#options.catalog.state, active.source) !== undefined)
      await this.queue(active.source, "start");
  }

  async #run(id: number, active: ActiveRun, signal: AbortSignal): Promise<Ending> {
    const { catalog } = this.#options;
    let run: SyncRun | undefined;
    const state = await catalog.change((before) => {
      const source = presentSource(before, active.source);
      if (source === undefined) throw new RunStop("deleted");
      run = {
        ...findRun(before, source, String(id)),
        status: "running",
        started_at: new Date().toISOString(),
      };
      return putRun(run);
    });
    fault("run.after-begin");
    const source = presentSource(state, active.source)!;
    active.begun = { index: source.index, updatedAt: source.updated_at };
    const record = state.indexes.get(source.index)!;
    const credentials = openCredentials(this.#options.secrets, source);
    const request = { source, record, credentials, quota: this.#options.documentQuotas.of(record.tenant) };
    const outcome = await runFeed(this.#options, request, active.progress, signal);
    return { status: "completed", error: null, code: null, outcome };
  }

  #endingOf(error: unknown): Ending {
    const failed = (code: FeedErrorCode, message: string): Ending => ({
      status: code === "SK-DS-401" ? "auth_failed" : "failed",
      error: message,
      code,
      outcome: null,
    });
    if (error instanceof RunStop && error.why === "cancelled")
      return { status: "cancelled", error: null, code: null, outcome: null };
    if (error instanceof RunStop)
      return failed("SK-DS-503", "the index was swapped while the feed was being read; another run follows");
    if (error instanceof FeedError) return failed(error.code, error.message);
    if (error instanceof SkeinError) return failed("SK-DS-503", error.message);
    this.#options.log.error({ err: error }, "a run of a data source failed unexpectedly");
    return failed("SK-DS-503", "an unexpected failure; see the server's log");
  }

  /**
   * Records how a run ended and updates its source and incidents. With a signal, retries until the record is
   * stored or the signal aborts; otherwise tries once. Returns false if nothing was recorded.
   */
  async #record(
    id: number,
    active: ActiveRun | null,
    ending: Ending,
    stopped?: AbortSignal,
  ): Promise<boolean> {
    const { catalog, log } = this.#options;
    for (;;) {
      try {
        await catalog.change((state) => endCommand(state, id, active, ending));
        break;
      } catch (error) {
        log.error({ err: error, run: id }, "the end of a run could not be recorded; trying again soon");
        if (stopped === undefined) return false;
        await sleep(RECORD_AGAIN_MS, undefined, { signal: stopped }).catch(() => undefined);
        if (stopped.aborted) return false;
      }
    }
    fault("run.after-end");
    this.#tell(id);
    return true;
  }

  /** Logs how a run ended, and counts it. */
  #tell(id: number): void {
    const { catalog, log, recorder } = this.#options;
    const run = runIn(catalog.state, id);
    if (run === undefined) return;
    recorder.feedRunEnded(run.status);
    const { index, source, status, trigger, counts, not_modified, error, error_code } = run;
    const record = catalog.state.indexes.get(index);
    const ms = run.started_at === null ? 0 : Date.parse(run.finished_at!) - Date.parse(run.started_at);
    const level = status === "failed" || status === "auth_failed" ? "warn" : "info";
    const line = {
      tenant: record?.tenant,
      index: record?.name,
      source,
      run: id,
      status,
      trigger,
      ms,
      ...counts,
    };
    log[level]({ ...line, not_modified, error, error_code }, "a run of a data source is over");
  }
}

/** The command that records how a run ended and updates its source and incidents. */
function endCommand(state: CatalogState, id: number, active: ActiveRun | null, ending: Ending): Command {
  const before = runIn(state, id);
  const source = before === undefined ? undefined : presentSource(state, before.source);
  if (before === undefined || source === undefined) return { type: "all", commands: [] };
  const now = new Date().toISOString();
  const { status, error, code, outcome } = ending;
  const run: SyncRun = {
    ...before,
    status,
    finished_at: now,
    counts: active?.progress.counts ?? before.counts,
    packedErrors: packErrors(active?.progress.errors ?? []),
    not_modified: outcome?.notModified ?? false,
    error,
    error_code: code,
  };
  // If the source was changed during the run, what the run found out about it (validators, refused
  // credentials) no longer applies.
  const unchanged = active?.begun?.updatedAt === source.updated_at;
  const validators = unchanged ? (outcome?.validators ?? null) : null;
  const commands: Command[] = [putRun(run)];
  if (status === "completed") {
    const working = { ...source, validators, suspended: false };
    commands.push(putSource(source.suspended ? scheduledAnew(working) : working));
    commands.push(...resolveIncidents(state, source, now));
  } else if (status === "auth_failed") {
    commands.push(putSource({ ...source, validators: null, suspended: unchanged }));
    const { index } = source;
    const incident = { index, source: source.id, run: id, created_at: now, resolved_at: null };
    commands.push(...putIncident(state, { ...incident, code: code!, message: error! }));
  } else commands.push(putSource({ ...source, validators: null }));
  return { type: "all", commands };
}

function runIn(state: CatalogState, id: number): SyncRun | undefined {
  for (const runs of state.owned.run.values()) {
    const run = runs.find((candidate) => candidate.id === id);
    if (run !== undefined) return run;
  }
  return undefined;
}

function queuedRun(state: CatalogState, { id, index }: DataSource, trigger: RunTrigger): SyncRun {
  return {
    id: state.nextRunId,
    index,
    source: id,
    status: "queued",
    trigger,
    created_at: new Date().toISOString(),
    started_at: null,
    finished_at: null,
    counts: NO_COUNTS,
    not_modified: false,
    error: null,
    error_code: null,
    packedErrors: null,
  };
}

function isOver({ status }: SyncRun): SkeinError {
  return new SkeinError("SK-DS-409", `the run is over (${status}), so it cannot be cancelled`);
}

/** When the source's last completed run ended, or null if there is none. */
export function lastSuccess(state: CatalogState, source: DataSource): string | null {
  return runsOf(state, source).find(({ status }) => status === "completed")?.finished_at ?? null;
}
