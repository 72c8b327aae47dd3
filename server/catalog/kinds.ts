// The table of the catalog's record kinds. The state, the commands, the stored form, copies and swaps are all
// derived from it. A new kind needs a file in records/ and its lines here. Backups need no change, because
// they contain the whole catalog.
import { type DataSource, SOURCE_KIND } from "./records/data-source.js";
import { INCIDENT_KIND, type Incident } from "./records/incident.js";
import { DROP_KIND, INDEX_KIND } from "./records/index-record.js";
import { KEY_KIND } from "./records/key.js";
import { RECOMMENDATION_KIND, type Recommendation } from "./records/recommendation.js";
import { type RankingRule, RULE_KIND } from "./records/rule.js";
import { RUN_KIND, type SyncRun } from "./records/sync-run.js";
import { SYNONYM_KIND, type SynonymGroup } from "./records/synonym.js";
import { TENANT_KIND } from "./records/tenant.js";
import { USAGE_KIND } from "./records/usage.js";

const ALL_KINDS = [
  TENANT_KIND,
  KEY_KIND,
  USAGE_KIND,
  INDEX_KIND,
  DROP_KIND,
  SYNONYM_KIND,
  RULE_KIND,
  SOURCE_KIND,
  RUN_KIND,
  INCIDENT_KIND,
  RECOMMENDATION_KIND,
] as const;

/** Types of the records that belong to an index. Their member `index` is the index's uid. */
export type OwnedRecords = {
  readonly rule: RankingRule;
  readonly synonym: SynonymGroup;
  readonly source: DataSource;
  readonly run: SyncRun;
  readonly incident: Incident;
  readonly recommendation: Recommendation;
} & {
  readonly [K in OwnedKind]: { readonly id: number; readonly index: number };
};

/**
 * The next free ids, stored in this order in one record. An index takes two of them: its uid, and the id that
 * clients see. ON DISK.
 */
export const COUNTERS = [
  "nextIndexUid",
  "nextIndexId",
  "nextKeyId",
  "nextTenantId",
  "nextRuleId",
  "nextSynonymId",
  "nextSourceId",
  "nextRunId",
  "nextIncidentId",
  "nextRecommendationId",
] as const;
export type Counter = (typeof COUNTERS)[number];

type AnyKind = (typeof ALL_KINDS)[number];
export type RecordKind = AnyKind["name"];
/** Kinds of records that belong to an index. */
export type OwnedKind = Extract<AnyKind, { of: "index" }>["name"];

export const KINDS = Object.fromEntries(ALL_KINDS.map((kind) => [kind.name, kind])) as {
  readonly [K in AnyKind as K["name"]]: K;
};
export const RECORD_KINDS: readonly RecordKind[] = ALL_KINDS.map(({ name }) => name);
export const OWNED_KINDS: readonly OwnedKind[] = ALL_KINDS.filter((kind) => kind.of === "index").map(
  ({ name }) => name,
);
