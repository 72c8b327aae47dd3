// Previews the first items of a feed, which need not be a data source yet. Returns the documents that they
// would become in the index, and a suggested field map and schema. Stores nothing.
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { FeedError, SkeinError } from "../../ground/errors.js";
import type { Jobs } from "../../ground/jobs/jobs.js";
import { Slots } from "../../ground/jobs/slots.js";
import type { Limits } from "../../ground/limits.js";
import { readSource } from "./data-source.js";
import type { FeedPool } from "./feed-pool.js";
import type { FeedSettings } from "./feed-settings.js";
import type { FeedPreview } from "./feed-task.js";
import { outboundRules } from "./outbound-rules.js";

/** Previews are refused while this many are waiting. */
const WAITING_MAX = 16;

const ITEMS = 20;

export class Previews {
  readonly #pool: FeedPool;
  readonly #settings: FeedSettings;
  readonly #limits: Limits;
  readonly #jobs: Jobs;
  /** Only one preview runs at a time. It does not take a slot from the sources' runs. */
  readonly #slot = new Slots(1);
  #count = 0;

  constructor(pool: FeedPool, settings: FeedSettings, limits: Limits, jobs: Jobs) {
    this.#pool = pool;
    this.#settings = settings;
    this.#limits = limits;
    this.#jobs = jobs;
  }

  /**
   * Reads the feed's first items. Throws SK-DS-400 for an invalid body or an unreadable feed, and SK-SYS-503
   * if too many previews are waiting.
   */
  async preview(index: IndexRecord, body: unknown): Promise<FeedPreview> {
    const limits = this.#limits;
    const { credentials, ...feed } = readSource(body, null, this.#settings, limits);
    if (this.#slot.waiting >= WAITING_MAX)
      throw new SkeinError("SK-SYS-503", "too many previews are waiting; retry in a moment", {
        retryAfter: 5,
      });
    const rules = outboundRules(this.#settings, limits);
    const task = {
      kind: "preview",
      feed,
      credentials: credentials === null ? null : { ...credentials, password: credentials.password ?? "" },
      fields: index.fields.map(({ name, type }) => ({ name, type })),
      rules: { ...rules, msMax: Math.min(rules.msMax, limits.feedPreviewMsMax) },
      itemBytesMax: limits.feedItemBytesMax,
      items: ITEMS,
    } as const;
    const job = { name: "preview a feed", subject: `preview ${this.#count++}` };
    try {
      return await this.#jobs.run(job, (signal) =>
        this.#slot.run(signal, () => this.#pool.preview(task, signal)),
      );
    } catch (error) {
      if (!(error instanceof FeedError)) throw error;
      const { code, message } = error;
      throw new SkeinError("SK-DS-400", `the feed could not be read: ${message}`, {
        details: { error_code: code },
        cause: error,
      });
    }
  }
}
