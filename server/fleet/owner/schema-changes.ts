// Sends a new schema to an index's shards, and tracks the re-indexing until no segment has an older schema.
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { fault } from "../../ground/fault.js";
import type { Jobs } from "../../ground/jobs/jobs.js";
import type { Logger } from "../../ground/log.js";
import type { IndexUse } from "../reads/reads.js";
import { type IndexMessages, sumStats } from "./index-messages.js";
import type { IndexState } from "./index-state.js";
import { followRebuild, type OnReindexed, type Rebuild, rebuildSubject, repeatSchema } from "./rebuild.js";

export interface SchemaChangesOptions {
  readonly messages: IndexMessages;
  readonly jobs: Jobs;
  readonly log: Logger;
  readonly onReindexed: OnReindexed;
  /** See OpenIndexes. */
  readonly state: (uid: number) => IndexState;
  readonly use: (uid: number) => Promise<IndexUse<IndexState>>;
  /** Keeps an open index open until the returned function is called. */
  readonly keep: (uid: number) => () => void;
  /** False once the index has been dropped or is damaged. */
  readonly isSound: (state: IndexState) => boolean;
}

export class SchemaChanges {
  readonly #options: SchemaChangesOptions;

  constructor(options: SchemaChangesOptions) {
    this.#options = options;
  }

  /**
   * Call after a change to the fields or the analysis settings; the shards re-index in the background.
   * Rejects if a shard did not accept the schema. The schema is then sent again until all shards accept it,
   * and until then the index counts as being rebuilt.
   */
  async apply(record: IndexRecord): Promise<void> {
    const { uid } = record;
    this.#options.state(uid).record = record; // from now on, the index is opened with the new schema
    const { state, end } = await this.#options.use(uid);
    this.cancel(uid); // stops tracking an older schema
    state.rebuilding = true;
    try {
      await this.#tell(record);
      await this.follow(state);
    } catch (error) {
      repeatSchema(state, this.#rebuild(state), () => this.#tell(record));
      throw error;
    } finally {
      end();
    }
  }

  /**
   * Resolves once it is known whether anything must be re-indexed. If so, tracks the re-indexing in the
   * background.
   */
  follow(state: IndexState): Promise<void> {
    return followRebuild(state, this.#rebuild(state));
  }

  /** Stops tracking the schema of an index. */
  cancel(uid: number): void {
    this.#options.jobs.cancel(rebuildSubject(uid));
  }

  async #tell(record: IndexRecord): Promise<void> {
    fault("schema.before-shards");
    await this.#options.messages.changeSchema(record, this.#options.state(record.uid).newest);
    fault("schema.after-shards");
  }

  #rebuild(state: IndexState): Rebuild {
    const { messages, keep, isSound, onReindexed, jobs, log } = this.#options;
    return {
      staleSegments: async () => sumStats(await messages.stats(state.newest)).staleSegments,
      onReindexed,
      wanted: () => isSound(state),
      keep: () => keep(state.record.uid),
      jobs,
      log,
    };
  }
}
