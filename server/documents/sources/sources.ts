// Creates, changes and deletes data sources for the routes, each with a single catalog command. A source is
// validated against the index when its command runs. Sources are queued when due; runs.ts does the rest.
import type { Catalog } from "../../catalog/catalog.js";
import type { DataSource } from "../../catalog/records/data-source.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { RunTrigger } from "../../catalog/records/sync-run.js";
import type { CatalogState } from "../../catalog/state.js";
import type { Secrets } from "../../ground/data-dir/secrets.js";
import { SkeinError } from "../../ground/errors.js";
import type { Jobs } from "../../ground/jobs/jobs.js";
import type { Limits } from "../../ground/limits.js";
import type { Logger } from "../../ground/log.js";
import { readSource, type SourceDraft } from "./data-source.js";
import type { FeedSettings } from "./feed-settings.js";
import { sealPassword } from "./passwords.js";
import { deleteSource, findSource, presentSource, putSource, sourcesOf } from "./records.js";
import { lastSuccess, type Runs } from "./runs.js";
import { periodMs, scheduledAnew, scheduledNearer } from "./schedule.js";

/** Interval (ms) at which to look for due sources. */
const LOOK_EVERY_MS = 1_000;
const REST_MS = 60_000;
const OVERDUE_PERIODS = 3;

export interface OverdueSource {
  readonly index: string;
  readonly tenant: number;
  readonly source: number;
}

export interface SourcesOptions {
  readonly catalog: Catalog;
  readonly runs: Runs;
  readonly secrets: Secrets;
  readonly settings: FeedSettings;
  readonly limits: Limits;
  readonly jobs: Jobs;
  readonly log: Logger;
}

export class Sources {
  readonly #options: SourcesOptions;
  /** After a refusal, no sources are queued until this time on the monotonic clock. */
  #restsUntilMs = 0;
  /** Time on the wall clock when due sources were last queued. */
  #lookedAtMs = Number.POSITIVE_INFINITY;

  constructor(options: SourcesOptions) {
    this.#options = options;
  }

  /**
   * Queues one run for each source that became due while the server was down. From then on, queues each
   * source when it becomes due.
   */
  async begin(): Promise<void> {
    await this.#queueDue("start");
    const job = { name: "queue the feeds that are due", subject: "data sources" };
    this.#options.jobs.every(LOOK_EVERY_MS, job, () => this.#queueDue("schedule"));
  }

  /** Creates a data source. Throws SK-DS-400, SK-IX-404. */
  async create(index: IndexRecord, body: unknown): Promise<DataSource> {
    const { catalog, settings, limits } = this.#options;
    const draft = readSource(body, null, settings, limits);
    let made: DataSource | undefined;
    await catalog.change((state) => {
      if (!state.indexes.has(index.uid))
        throw new SkeinError("SK-IX-404", `the index "${index.name}" does not exist`);
      const count = sourcesOf(state, index.uid).length;
      if (count >= limits.dataSourcesPerIndexMax)
        throw new SkeinError("SK-DS-400", `the index has ${count} data sources, which is the maximum`);
      const id = state.nextSourceId;
      const now = new Date().toISOString();
      made = scheduledAnew({
        id,
        index: index.uid,
        ...draft,
        credentials: this.#sealed(id, draft, null),
        suspended: false,
        created_at: now,
        updated_at: now,
        next_due: null,
        last_due: null,
        validators: null,
      });
      return putSource(made);
    });
    return made!;
  }

  /** Changes a data source. Throws SK-DS-400, SK-DS-404. */
  async change(index: IndexRecord, id: string, body: unknown): Promise<DataSource> {
    const { catalog, settings, limits } = this.#options;
    let changed: DataSource | undefined;
    await catalog.change((state) => {
      const source = findSource(state, index, id);
      const draft = readSource(body, source, settings, limits);
      const credentials = this.#sealed(source.id, draft, source);
      // Many feeds carry a key in their URL, so a new URL may contain new credentials. It therefore ends a
      // suspension, as new credentials do.
      const refused = credentials === source.credentials && draft.url === source.url;
      const suspended = source.suspended && refused;
      const updated_at = new Date().toISOString();
      const after: DataSource = { ...source, ...draft, credentials, suspended, updated_at, validators: null };
      const goesOn = after.schedule === source.schedule && isResting(after) === isResting(source);
      changed = goesOn ? after : scheduledAnew(after);
      return putSource(changed);
    });
    return changed!;
  }

  /** Deletes the source with its runs and incidents. Its imported documents stay. Throws SK-DS-404. */
  async remove(index: IndexRecord, id: string): Promise<number> {
    const { catalog, runs } = this.#options;
    let removed = 0;
    await catalog.change((state) => {
      const source = findSource(state, index, id);
      removed = source.id;
      return deleteSource(state, source);
    });
    await runs.ended(removed);
    return removed;
  }

  /**
   * Finds enabled sources that have not completed a run for more than three schedule periods, counted from
   * their creation if they have never completed one. Returns at most `count`.
   */
  overdue(count: number): OverdueSource[] {
    const { state } = this.#options.catalog;
    const nowMs = Date.now();
    const overdue: OverdueSource[] = [];
    for (const source of allSources(state)) {
      if (overdue.length === count) break;
      const { id, index, enabled, created_at } = source;
      const period = enabled ? periodMs(source) : null;
      if (period === null) continue;
      const sinceMs = Date.parse(lastSuccess(state, source) ?? created_at);
      const { name, tenant } = state.indexes.get(index)!;
      if (nowMs - sinceMs > OVERDUE_PERIODS * period) overdue.push({ index: name, tenant, source: id });
    }
    return overdue;
  }

  /**
   * Queues all due sources. If one is refused, for example because the disk is full, no sources are queued
   * for a minute.
   */
  async #queueDue(trigger: "start" | "schedule"): Promise<void> {
    const { catalog, log } = this.#options;
    if (performance.now() < this.#restsUntilMs) return;
    const nowMs = Date.now();
    const clockWentBack = nowMs < this.#lookedAtMs;
    for (const source of allSources(catalog.state)) {
      const { next_due } = source;
      if (isResting(source) || next_due === null) continue;
      try {
        if (Date.parse(next_due) <= nowMs) await this.#queue(source, next_due, trigger);
        else if (clockWentBack && scheduledNearer(source) !== null) await this.#bringNearer(source);
      } catch (error) {
        if (!(error instanceof SkeinError)) throw error;
        log.error(
          { err: error, source: source.id },
          "a feed that is due could not be queued; trying again soon",
        );
        this.#restsUntilMs = performance.now() + REST_MS;
        return;
      }
    }
    this.#lookedAtMs = nowMs;
  }

  async #bringNearer({ id }: DataSource): Promise<void> {
    await this.#options.catalog.change((state) => {
      const present = presentSource(state, id);
      const nearer = present === undefined ? null : scheduledNearer(present);
      return nearer === null ? { type: "all", commands: [] } : putSource(nearer);
    });
  }

  async #queue({ id }: DataSource, due: string, trigger: RunTrigger): Promise<void> {
    await this.#options.runs.queue(id, trigger, (present) => {
      if (present.next_due !== due) return [];
      return [putSource(scheduledAnew({ ...present, last_due: due }))];
    });
  }

  #sealed(id: number, { credentials }: SourceDraft, current: DataSource | null): DataSource["credentials"] {
    if (credentials === null) return null;
    const { username, password } = credentials;
    if (password === null) return current?.credentials ?? null;
    return { username, sealedPassword: sealPassword(this.#options.secrets, id, password) };
  }
}

function allSources(state: CatalogState): DataSource[] {
  return [...state.owned.source.values()].flat();
}

/** True if the schedule does not start runs for this source. */
function isResting({ enabled, suspended }: DataSource): boolean {
  return !enabled || suspended;
}
