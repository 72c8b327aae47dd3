// Coordinates catalog and shards from an index's creation to its deletion, in an order that survives a crash
// at any point. Both creation and deletion change the catalog first; data without a record is dropped at the
// next start. Makes one change at a time per index.
import type { Plan } from "../access/tenants/plans.js";
import type { Catalog } from "../catalog/catalog.js";
import { type CopyCommand, type CopyRequest, copyCommand, type SwapRequest } from "../catalog/copy-swap.js";
import type { ModelServers } from "../catalog/definition/model-servers.js";
import { readChangedIndex, readChangedSettings, readNewIndex } from "../catalog/indexes.js";
import { indexNamed, nameKey } from "../catalog/lookups.js";
import { type IndexRecord, isMade } from "../catalog/records/index-record.js";
import { checkRuleFilter } from "../catalog/records/rule.js";
import { startsAtHome } from "../catalog/schema/placement.js";
import type { AnalyserOf } from "../catalog/schema/text-analyser.js";
import type { CatalogState } from "../catalog/state.js";
import type { IndexStatus } from "../catalog/view.js";
import { indexSubject } from "../fleet/owner/index-state.js";
import type { OpenIndexes } from "../fleet/owner/open-indexes.js";
import type { Writes } from "../fleet/owner/writes.js";
import { SkeinError } from "../ground/errors.js";
import { fault } from "../ground/fault.js";
import type { Jobs } from "../ground/jobs/jobs.js";
import type { Limits } from "../ground/limits.js";
import type { Logger } from "../ground/log.js";
import { Uses } from "../ground/uses.js";
import { ruleTexts } from "./curated-kinds.js";

export interface LifecycleOptions {
  readonly jobs: Jobs;
  readonly catalog: Catalog;
  readonly indexes: OpenIndexes;
  readonly writes: Writes;
  readonly analyserOf: AnalyserOf;
  /** Returns the address rules and key sealing that apply to model servers in a tenant's settings. */
  readonly serversOf: (tenant: number) => ModelServers;
  readonly planOf: (tenant: number) => Plan;
  readonly limits: Limits;
  readonly log: Logger;
}

/** Delay (ms) before a failed removal is retried. */
const REPEAT_MS = 1_000;

export class Lifecycle {
  readonly #catalog: Catalog;
  readonly #indexes: OpenIndexes;
  readonly #writes: Writes;
  readonly #analyserOf: AnalyserOf;
  readonly #serversOf: LifecycleOptions["serversOf"];
  readonly #planOf: LifecycleOptions["planOf"];
  readonly #limits: Limits;
  readonly #log: Logger;
  #begun = false;
  readonly #jobs: Jobs;
  /**
   * Running requests that read or write documents, by the uid of the index that they found when they began.
   */
  readonly uses = new Uses();

  constructor({
    jobs,
    catalog,
    indexes,
    writes,
    analyserOf,
    serversOf,
    planOf,
    limits,
    log,
  }: LifecycleOptions) {
    this.#jobs = jobs;
    this.#catalog = catalog;
    this.#indexes = indexes;
    this.#writes = writes;
    this.#analyserOf = analyserOf;
    this.#serversOf = serversOf;
    this.#planOf = planOf;
    this.#limits = limits;
    this.#log = log;
  }

  /**
   * Rolls back interrupted creations, finishes interrupted deletions, drops the copies that interrupted
   * spreads left behind, and loads every index's counters without opening any index.
   */
  async begin(): Promise<void> {
    const records = [...this.#catalog.state.indexes.values()];
    for (const record of records) if (!isMade(record)) await this.#takeBack(record.uid);
    for (const uid of this.#catalog.state.toDrop) await this.#drop(uid);
    await this.#indexes.messages.dropCopies(records).catch((error: unknown) => {
      this.#log.error({ err: error }, "copies of indexes could not be dropped; the next start tries again");
    });
    await this.#indexes.adopt(records.filter(isMade));
    this.#begun = true;
  }

  /** True once indexes may be used. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Returns the tenant's index with this name, or undefined if there is none. */
  find(tenant: number, name: string): IndexRecord | undefined {
    return indexNamed(this.#catalog.state, tenant, name);
  }

  /** Returns the tenant's indexes, sorted by name. */
  list(tenant: number): IndexRecord[] {
    return [...this.#catalog.state.indexes.values()]
      .filter((record) => record.tenant === tenant && isMade(record))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** "error" means that the index failed to open when it was last needed, or that it is damaged. */
  status(record: IndexRecord): IndexStatus {
    if (this.#indexes.isFailing(record.uid)) return "error";
    return this.#indexes.isRebuilding(record.uid) ? "rebuilding" : "active";
  }

  /** Number of live documents; 0 while it is unknown because the index cannot be opened. */
  records(record: IndexRecord): number {
    return this.#indexes.documents(record.uid);
  }

  /** Throws SK-SE-503 if the index could not be opened when it was last needed. */
  checkOpen(record: IndexRecord): void {
    const reason = this.#indexes.unopenable(record.uid);
    if (reason !== undefined) {
      throw new SkeinError("SK-SE-503", `the index "${record.name}" could not be opened: ${reason}`, {
        retryAfter: 60,
      });
    }
  }

  /** Number of live documents in all of the tenant's indexes. */
  recordsOf(tenant: number): number {
    return this.list(tenant).reduce((sum, record) => sum + this.records(record), 0);
  }

  /**
   * Creates an index. `checkName` may throw to reject the name. A backup contains either the whole new index
   * or none of it. Throws SK-IX-400, SK-IX-409.
   */
  create(tenant: number, body: unknown, checkName: (name: string) => void): Promise<IndexRecord> {
    return this.#writes.asOne(() => this.#create(tenant, body, checkName));
  }

  async #create(tenant: number, body: unknown, checkName: (name: string) => void): Promise<IndexRecord> {
    const draft = readNewIndex(body, this.#limits, this.#serversOf(tenant));
    checkName(draft.name);
    if (this.#catalog.damage.indexes > 0) {
      throw new SkeinError(
        "SK-SYS-503",
        "a damaged record of the catalog may have this name; see the server's log",
        {
          retryAfter: 60,
        },
      );
    }
    const createdAt = new Date().toISOString();
    let made: IndexRecord | undefined;
    await this.#catalog.change((state) => {
      if (!state.tenants.has(tenant)) throw new SkeinError("SK-SYS-404", "the tenant no longer exists");
      if (state.indexByName.has(nameKey(tenant, draft.name))) {
        throw new SkeinError("SK-IX-409", `an index named "${draft.name}" already exists`);
      }
      const count = [...state.indexes.values()].filter((record) => record.tenant === tenant).length;
      const most = Math.min(this.#limits.indexesPerTenantMax, this.#planOf(tenant).indexes ?? Infinity);
      if (count >= most) {
        throw new SkeinError("SK-IX-400", `there are ${count} indexes; at most ${most} are allowed`);
      }
      const home = startsAtHome(state.shards ?? 1, this.#limits) ? { isHome: true as const } : {};
      made = { ...draft, ...home, uid: state.nextIndexUid, id: state.nextIndexId, tenant, createdAt };
      return { type: "index.put", record: { ...made, making: true } };
    });
    const record = made!;
    try {
      fault("create.after-catalog");
      await this.#indexes.create(record);
      fault("create.after-shards");
      await this.#catalog.change(() => ({ type: "index.put", record }));
      return record;
    } catch (error) {
      await this.#takeBack(record.uid);
      throw error;
    }
  }

  /**
   * Removes an index whose creation failed or was interrupted. Retries until the catalog accepts the removal.
   */
  async #takeBack(uid: number): Promise<void> {
    try {
      await this.#catalog.change(() => ({ type: "index.delete", uid }));
      await this.#drop(uid);
    } catch (error) {
      this.#log.error(
        { err: error, uid },
        "an index that was not made could not be removed; trying again soon",
      );
      const job = { name: "remove an index that was not made", subject: indexSubject(uid) };
      this.#jobs.after(REPEAT_MS, job, () => this.#takeBack(uid));
    }
  }

  /** Changes the index's schema. Throws SK-IX-400, SK-IX-404. */
  changeSchema(record: IndexRecord, body: unknown): Promise<IndexRecord> {
    const hasRecords = (): boolean => this.#indexes.documents(record.uid) > 0;
    return this.#change(record.uid, (current) => readChangedIndex(current, body, hasRecords(), this.#limits));
  }

  /** Changes the index's settings. Throws SK-IX-400, SK-IX-404. */
  changeSettings(record: IndexRecord, body: unknown): Promise<IndexRecord> {
    const servers = this.#serversOf(record.tenant);
    return this.#change(record.uid, (current) => readChangedSettings(current, body, this.#limits, servers));
  }

  /**
   * Deletes an index. When this resolves, its record is permanently gone, and its data has been dropped or
   * will be soon.
   */
  remove(record: IndexRecord): Promise<void> {
    return this.#exclusively("remove an index", record.uid, async () => {
      await this.#catalog.change((state) => {
        presentAs(state, record);
        return { type: "index.delete", uid: record.uid };
      });
      fault("remove.after-catalog");
      await this.#drop(record.uid);
    });
  }

  /**
   * Copies the requested parts (settings, rules, synonyms) from another of the tenant's indexes in one step.
   * Throws SK-IX-400, SK-IX-404, SK-RR-400.
   */
  copyFrom(record: IndexRecord, { sourceIndex, parts }: CopyRequest): Promise<CopyCommand> {
    return this.#exclusively("copy settings", record.uid, async () => {
      let before: IndexRecord | undefined;
      let command: CopyCommand | undefined;
      await this.#catalog.change((state) => {
        const source = indexNamed(state, record.tenant, sourceIndex);
        if (source === undefined) throw notFound(sourceIndex);
        before = presentAs(state, record);
        this.checkOpen(before);
        command = copyCommand(state, source, before, parts, new Date().toISOString());
        this.#checkRules(command);
        return command;
      });
      const { record: after } = command!;
      fault("copy.after-catalog");
      await this.#apply(before!, after);
      return command!;
    });
  }

  /**
   * Exchanges the names of two of a tenant's indexes in one durable step: every request sees either the old
   * or the new state, and a running request keeps the index with which it started. With `dropSource`, the
   * same step deletes the index that loses the name `name`. Its data is dropped once the requests that use it
   * have ended, or after the longest time that a query may take. Throws SK-IX-404, and SK-SE-503 if the
   * target could not be opened.
   */
  async swap(tenant: number, name: string, { targetIndex, dropSource }: SwapRequest): Promise<void> {
    let displaced = 0;
    await this.#catalog.change((state) => {
      const live = indexNamed(state, tenant, name);
      if (live === undefined) throw notFound(name);
      const target = indexNamed(state, tenant, targetIndex);
      if (target === undefined) throw notFound(targetIndex);
      this.checkOpen(target);
      displaced = live.uid;
      return { type: "index.swap", uid: live.uid, target: target.uid, drop: dropSource };
    });
    fault("swap.after-catalog");
    if (!dropSource) return;
    // The job's subject is not the index, because the job waits for requests that may themselves wait for a
    // job on the index.
    const job = { name: "drop what a swap displaced", subject: `displaced index ${displaced}` };
    await this.#jobs.start(job, async (signal) => {
      const { searchMsMax } = this.#limits;
      await Promise.all([
        this.uses.ended(displaced, searchMsMax, signal),
        this.#indexes.unusedElsewhere(displaced, searchMsMax, signal),
      ]);
      if (signal.aborted) return; // the next start drops the data
      await this.#exclusively("drop an index", displaced, () => this.#drop(displaced));
    });
  }

  /** Checks that the copied rules' filters fit the target's schema. Throws SK-RR-400 with the rule's name. */
  #checkRules({ record, owned }: CopyCommand): void {
    const texts = ruleTexts(this.#analyserOf, this.#limits, record);
    for (const { effect, name } of owned.rule ?? []) {
      if (effect.filter_by !== undefined)
        checkRuleFilter(effect.filter_by, texts, `the rule ${JSON.stringify(name)} does not fit: `);
    }
  }

  #change(uid: number, decide: (current: IndexRecord) => IndexRecord): Promise<IndexRecord> {
    return this.#exclusively("change an index", uid, async () => {
      let before: IndexRecord | undefined;
      const state = await this.#catalog.change(({ indexes }) => {
        before = indexes.get(uid);
        if (before === undefined) throw notFound(String(uid));
        this.checkOpen(before);
        return { type: "index.put", record: decide(before) };
      });
      const after = state.indexes.get(uid)!;
      fault("schema.after-catalog");
      await this.#apply(before!, after);
      return after;
    });
  }

  /**
   * Sends the shards the schema if it has changed. If the settings have changed, also sends them the source
   * of vectors.
   */
  async #apply(before: IndexRecord, after: IndexRecord): Promise<void> {
    if (after.schemaVersion !== before.schemaVersion) await this.#indexes.schemas.apply(after);
    if (after.settings !== before.settings) await this.#applySource(after);
  }

  /**
   * Tells the shards where the index's vectors now come from. Once this resolves, no query is compared with
   * vectors from the previous source.
   */
  async #applySource(record: IndexRecord): Promise<void> {
    this.#indexes.state(record.uid).record = record; // if the index is not loaded, the next opening uses it
    const use = await this.#indexes.useLoaded(record.uid);
    if (use === undefined) return;
    try {
      await this.#indexes.messages.changeSource(record, use.state.newest);
      use.state.forget(); // cached answers may still come from the old vectors
    } finally {
      use.end();
    }
  }

  /**
   * Drops a deleted index's data. If that fails, the uid stays on the catalog's list `toDrop`, and the drop
   * is retried soon and at the next start.
   */
  async #drop(uid: number, again = false): Promise<void> {
    try {
      await this.#indexes.drop(uid);
      fault("remove.after-shards");
      await this.#catalog.change(() => ({ type: "index.dropped", uid }));
      if (again) this.#log.info({ uid }, "the data of a deleted index is dropped now");
    } catch (error) {
      this.#log.error(
        { err: error, uid },
        "the data of a deleted index could not be dropped; trying again soon",
      );
      const job = { name: "drop an index again", subject: indexSubject(uid) };
      this.#jobs.after(REPEAT_MS, job, () => this.#drop(uid, true));
    }
  }

  /** Runs `work` after all earlier work on this index. */
  #exclusively<T>(name: string, uid: number, work: () => Promise<T>): Promise<T> {
    return this.#jobs.run({ name, subject: indexSubject(uid) }, work);
  }
}

/**
 * Returns the current record. Throws SK-IX-404 if it is gone, or SK-IX-409 if a swap has given its name to
 * another index since the request began.
 */
function presentAs(state: CatalogState, { uid, name }: IndexRecord): IndexRecord {
  const present = state.indexes.get(uid);
  if (present === undefined) throw notFound(name);
  if (present.name === name) return present;
  throw new SkeinError("SK-IX-409", `the index "${name}" was swapped in the meantime; check it and retry`);
}

function notFound(name: string): SkeinError {
  return new SkeinError("SK-IX-404", `the index "${name}" does not exist`);
}
