// The routes' interface to the coach. Analyses an index's log, and applies or dismisses recommendations.
import type { MonthlyCounter } from "../access/tenants/limiter.js";
import type { Plan } from "../access/tenants/plans.js";
import type { Catalog } from "../catalog/catalog.js";
import { synonymsOf } from "../catalog/index-contents.js";
import { type IndexRecord, logOf } from "../catalog/records/index-record.js";
import {
  type CreatedRecord,
  RECOMMENDATION_STATUSES,
  type Recommendation,
  type RecommendationStatus,
} from "../catalog/records/recommendation.js";
import type { CatalogState, Command } from "../catalog/state.js";
import { SkeinError } from "../ground/errors.js";
import { describe } from "../ground/input/json-value.js";
import { defaultsTo, object } from "../ground/input/object-reader.js";
import { integer } from "../ground/input/readers.js";
import type { Jobs } from "../ground/jobs/jobs.js";
import type { Limits } from "../ground/limits.js";
import type { Curation } from "../indexes/curation.js";
import type { ChatEndpoint } from "../models/chat-endpoint.js";
import type { AnalyticsPool } from "../query-log/analytics/analytics-pool.js";
import type { LogWriter } from "../query-log/analytics/log-writer.js";
import { DAY_MS, DAYS_KEPT } from "../query-log/rows/time.js";
import type { Analysis } from "./analyse.js";
import type { CoachPool } from "./coach-pool.js";
import type { CoachAnswers, CoachQuestion } from "./coach-task.js";
import type { IndexShop } from "./index-shop.js";
import { findRecommendation, putRecommendation, saveAdvice } from "./recommendations.js";
import { wordAdvice } from "./wording.js";

const DAYS = 30;
const WAITING_MAX = 16;

export const ANALYSIS = object({ days: defaultsTo(DAYS, integer(1, DAYS_KEPT)) }, { unknown: "refused" });

interface CoachOptions {
  readonly catalog: Catalog;
  readonly analytics: AnalyticsPool;
  readonly writer: LogWriter;
  readonly pool: CoachPool;
  readonly shop: IndexShop;
  readonly curation: Curation;
  readonly usage: MonthlyCounter;
  readonly jobs: Jobs;
  readonly limits: Limits;
  /** The language model that rephrases the recommendations. If null, they keep the miners' wording. */
  readonly endpoint: ChatEndpoint | null;
}

export interface AnalysisReport {
  readonly period_start: string;
  readonly period_end: string;
  readonly events_analyzed: number;
  readonly recommendations: readonly Recommendation[];
}

/** A recommendation after it was applied or dismissed, and its index. */
export interface Decided {
  readonly recommendation: Recommendation;
  readonly index: IndexRecord;
}

export class Coach {
  readonly #options: CoachOptions;
  #waiting = 0;

  constructor(options: CoachOptions) {
    this.#options = options;
  }

  /**
   * Analyses an index's log and saves the recommendations. Throws SK-AI-400, SK-AI-429, SK-AI-503, or an
   * error of the index or its log. A failed analysis does not count towards the plan's quota.
   */
  async analyse(index: IndexRecord, body: unknown, plan: Plan, now: Date): Promise<AnalysisReport> {
    const { usage, limits, jobs } = this.#options;
    const { days } = ANALYSIS.read(body, "", { limits, code: "SK-AI-400" });
    if (this.#waiting >= WAITING_MAX)
      throw new SkeinError("SK-AI-503", "too many analyses are waiting; retry in a minute", {
        retryAfter: 60,
      });
    const used = usage.begin("coach", index.tenant, plan, now);
    this.#waiting++;
    let done = false;
    try {
      const job = { name: "analyse the log", subject: `coach of index ${index.uid}` };
      const report = await jobs.run(job, (signal) => this.#analyse(index, days, now, signal));
      done = true;
      return report;
    } finally {
      usage.end("coach", used, done);
      this.#waiting--;
    }
  }

  /**
   * Creates the synonym group or rule and marks the recommendation as applied, in one command. Throws
   * SK-AI-404, SK-AI-409, and the errors of curation.
   */
  apply(indexes: readonly IndexRecord[], id: string, now: Date): Promise<Decided> {
    return this.#decide(indexes, id, "applied", now, (state, { recommendation, index }) =>
      this.#creation(state, recommendation, index),
    );
  }

  /** Marks the recommendation as dismissed. Throws SK-AI-404, SK-AI-409. */
  dismiss(indexes: readonly IndexRecord[], id: string, now: Date): Promise<Decided> {
    return this.#decide(indexes, id, "dismissed", now, () => ({ created: null, commands: [] }));
  }

  async #analyse(index: IndexRecord, days: number, now: Date, signal: AbortSignal): Promise<AnalysisReport> {
    const { catalog, writer, pool, endpoint } = this.#options;
    await writer.flush();
    const toMs = now.getTime() + 1;
    const fromMs = toMs - days * DAY_MS;
    const { language } = index.settings;
    const analysis: Analysis = await pool.analyse(
      { fromMs, toMs, language },
      (question) => this.#answer(index, question),
      signal,
    );
    const found = analysis.advice;
    const worded = endpoint === null ? found : await wordAdvice(found, endpoint, signal);
    let saved: readonly Recommendation[] = [];
    await catalog.change((state) => {
      const present = indexOfLog(state, logOf(index));
      const advice = saveAdvice(state, present, worded, language, now);
      saved = advice.saved;
      return { type: "all", commands: advice.commands };
    });
    return {
      period_start: new Date(fromMs).toISOString(),
      period_end: now.toISOString(),
      events_analyzed: analysis.rows,
      recommendations: saved,
    };
  }

  async #answer(index: IndexRecord, question: CoachQuestion): Promise<CoachAnswers[CoachQuestion["kind"]]> {
    const { analytics, shop } = this.#options;
    const log = logOf(index);
    if (question.kind === "search") return shop.search(index, question.question);
    if (question.kind === "rows") {
      const { fromMs, toMs } = question;
      return analytics.run({ kind: "rows", log, window: { fromMs, toMs } });
    }
    return analytics.run({ kind: "words", log, dictionary: question.kind, numbers: question.numbers });
  }

  /**
   * Builds the record that the recommendation proposes and the commands that create it. If an enabled synonym
   * group already covers a recommended synonym, returns that group and no commands. Returns null and no
   * commands if the recommendation proposes no record.
   */
  #creation(
    state: CatalogState,
    recommendation: Recommendation,
    index: IndexRecord,
  ): { readonly created: CreatedRecord | null; readonly commands: readonly Command[] } {
    const { curation } = this.#options;
    if (recommendation.type === "missing_synonym") {
      const { user_term: root, your_term: other, kind: type } = recommendation.payload;
      const same = synonymsOf(state, index.uid).find(
        ({ synonyms, enabled }) => enabled && synonyms.includes(root) && synonyms.includes(other),
      );
      if (same !== undefined) return { created: { kind: "synonym", id: same.id }, commands: [] };
      const body = { type, synonyms: [root, other], ...(type === "one_way" ? { root } : {}) };
      const record = curation.made("synonym", state, index, body);
      return {
        created: { kind: "synonym", id: record.id },
        commands: [{ type: "record.put", kind: "synonym", record }],
      };
    }
    if (recommendation.type === "ranking_opportunity") {
      const record = curation.made("rule", state, index, recommendation.payload.rule);
      return {
        created: { kind: "ranking_rule", id: record.id },
        commands: [{ type: "record.put", kind: "rule", record }],
      };
    }
    return { created: null, commands: [] };
  }

  /**
   * Changes the recommendation's status to `status`, which is applied or dismissed. Does nothing if it
   * already has that status. Throws SK-AI-409 if it has been decided the other way.
   */
  async #decide(
    indexes: readonly IndexRecord[],
    id: string,
    status: RecommendationStatus,
    now: Date,
    creation: (
      state: CatalogState,
      found: Decided,
    ) => { readonly created: CreatedRecord | null; readonly commands: readonly Command[] },
  ): Promise<Decided> {
    let decided: Decided | undefined;
    await this.#options.catalog.change((state) => {
      const found = findRecommendation(state, indexes, id);
      const { recommendation } = found;
      if (recommendation.status === status) {
        decided = found;
        return { type: "all", commands: [] };
      }
      if (recommendation.status !== "pending") {
        throw new SkeinError("SK-AI-409", `the recommendation is ${recommendation.status} already`);
      }
      const { created, commands } = creation(state, found);
      const record = { ...recommendation, status, created, updated_at: now.toISOString() };
      decided = { ...found, recommendation: record };
      return { type: "all", commands: [...commands, putRecommendation(record)] };
    });
    return decided!;
  }
}

/**
 * Returns the index that the log now belongs to, because a swap may have moved the log to another index.
 * Throws SK-IX-404.
 */
function indexOfLog({ indexes }: CatalogState, log: number): IndexRecord {
  for (const index of indexes.values()) if (logOf(index) === log) return index;
  throw new SkeinError("SK-IX-404", "the index no longer exists");
}

/** Reads the query parameter `status`. Throws SK-AI-400. */
export function readStatus(query: URLSearchParams): RecommendationStatus {
  const given = query.get("status") ?? "pending";
  const status = RECOMMENDATION_STATUSES.find((one) => one === given);
  if (status !== undefined) return status;
  throw new SkeinError(
    "SK-AI-400",
    `status must be one of ${RECOMMENDATION_STATUSES.join(", ")}, not ${describe(given)}`,
  );
}
