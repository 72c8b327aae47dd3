// The objects that each search-answering thread (the main thread and every front-end) creates for itself.
import type { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import { Doorkeeper } from "../access/tenants/principal.js";
import { RecentTokens } from "../catalog/schema/recent-tokens.js";
import { resolvedSchemaOf } from "../catalog/schema/resolved-schema.js";
import { type AnalyserOf, textAnalyser } from "../catalog/schema/text-analyser.js";
import { AnswerCache } from "../fleet/reads/answer-cache.js";
import type { Secrets } from "../ground/data-dir/secrets.js";
import type { Limits } from "../ground/limits.js";
import type { Logger } from "../ground/log.js";
import type { Recorder } from "../ground/metrics/recorder.js";
import { EmbeddingEndpoints, type EmbeddingEndpointsOptions } from "../models/embedding-endpoints.js";
import type { Config } from "../operate/config/config.js";
import { PreparedShapes } from "../question/request/prepared-shapes.js";
import { WordMemories } from "../question/words/word-memory.js";
import { type PopularOf, QueriedIndexes } from "../search/matching/queried-index.js";
import { HitSizes } from "../search/query-cost.js";
import { ReplyBuffers } from "../search/reply-writer.js";
import { GivenVectors } from "../search/semantic/given-vectors.js";
import { SlotTurns } from "../search/slot-turns.js";
import { SlowQueryLog } from "../search/slow-query-log.js";
import { QueryUnderstanding } from "../search/understanding/understanding.js";

/** Creates one thread's analyser and the caches that its indexes share. */
export function engineParts(engine: EngineModule, limits: Limits, recorder: Recorder) {
  const workbench = engine.workbench();
  const recentTokens = new RecentTokens();
  const analyserOf: AnalyserOf = (record) =>
    recentTokens.remembering(textAnalyser(workbench, resolvedSchemaOf(record)));
  const answers = new AnswerCache(limits.rememberedAnswersBytesMax, recorder.answerCache);
  return { engine, workbench, analyserOf, answers, words: new WordMemories() };
}

export interface SearchPartsOptions {
  readonly config: Config;
  readonly adminKey: string;
  readonly catalog: EmbeddingEndpointsOptions["catalog"];
  readonly secrets: Secrets;
  readonly workbench: Workbench;
  readonly analyserOf: AnalyserOf;
  readonly popularOf: PopularOf;
  readonly limits: Limits;
  readonly log: Logger;
  readonly recorder: Recorder;
}

/** Creates the services for searches. The returned `close` closes the connections to model servers. */
export function searchParts(options: SearchPartsOptions) {
  const { config, catalog, secrets, workbench, analyserOf, popularOf, limits, log, recorder } = options;
  const { ai: addresses, slowQueryMs } = config;
  const embeddings = new EmbeddingEndpoints({ catalog, secrets, addresses, limits, recorder });
  const understanding = new QueryUnderstanding({ catalog, secrets, addresses, limits });
  return {
    doorkeeper: new Doorkeeper(options.adminKey, limits),
    embeddings,
    remembersAnswers: true,
    hitSizes: new HitSizes(),
    replies: new ReplyBuffers(),
    slotTurns: new SlotTurns(limits.multiSearchAtOnceSlots),
    givenVectors: new GivenVectors(workbench, embeddings),
    queriedIndexes: new QueriedIndexes(analyserOf, popularOf, limits, log),
    preparedShapes: new PreparedShapes(limits),
    understanding,
    slowQueries: new SlowQueryLog(slowQueryMs, limits.slowQueryLinesPerSecondMax, recorder, log),
    close(): void {
      embeddings.close();
      understanding.close();
    },
  };
}
