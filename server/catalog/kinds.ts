// The kinds of records that the catalog keeps, and what is the same for all records of a kind. The state, the commands and
// the stored form follow this table. So a new kind of an index's records (a data source, for instance) needs its type
// in types.ts, one entry here and its counter. A swap of two indexes leaves the records that go with the data alone,
// because these stand under uids, and exchanges those that stay with the name. A backup takes the whole catalog.
import type { Recommendation } from "./recommendation.js";
import type { DataSource, Incident, RankingRule, SyncRun, SynonymGroup } from "./types.js";

/** The next free ids, as one stored record has them. An index has a uid and a number for clients. ON DISK. */
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

interface KindEntry {
  /** The counter that gives the next free id. Null for a record that has the id of what it belongs to. */
  readonly counter: Counter | null;
  /** What the records belong to. They are deleted with it. */
  readonly of: "tenant" | "index" | null;
  /** The other records mean nothing without those of this kind, so the catalog does not open when one of them is damaged. */
  readonly vital: boolean;
  /** What a copy of settings calls these records of an index. Null when they are never copied. */
  readonly copiedAs: string | null;
  /** What the records of an index go with when two indexes are swapped. Absent when they do not belong to one. */
  readonly goesWith?: "data" | "name";
}

/** Records are stored under "<kind>/<id>". ON DISK - names of kinds and counters are never reused for something else. */
export const KINDS = {
  tenant: { counter: "nextTenantId", of: null, vital: true, copiedAs: null },
  key: { counter: "nextKeyId", of: "tenant", vital: false, copiedAs: null },
  usage: { counter: null, of: "tenant", vital: false, copiedAs: null },
  index: { counter: "nextIndexUid", of: "tenant", vital: false, copiedAs: null },
  /** A uid whose record is gone but whose data may still be in the shards. */
  drop: { counter: null, of: null, vital: false, copiedAs: null },
  synonym: { counter: "nextSynonymId", of: "index", vital: false, copiedAs: "synonyms", goesWith: "data" },
  rule: { counter: "nextRuleId", of: "index", vital: false, copiedAs: "ranking_rules", goesWith: "data" },
  source: { counter: "nextSourceId", of: "index", vital: false, copiedAs: null, goesWith: "name" },
  /** Runs of data sources. */
  run: { counter: "nextRunId", of: "index", vital: false, copiedAs: null, goesWith: "name" },
  incident: { counter: "nextIncidentId", of: "index", vital: false, copiedAs: null, goesWith: "name" },
  recommendation: {
    counter: "nextRecommendationId",
    of: "index",
    vital: false,
    copiedAs: null,
    goesWith: "name",
  },
} as const satisfies Record<string, KindEntry>;

export type RecordKind = keyof typeof KINDS;

type KindsWith<Entry> = {
  [K in RecordKind]: (typeof KINDS)[K] extends Entry ? K : never;
}[RecordKind];

/** Kinds of records that belong to an index. */
export type OwnedKind = KindsWith<{ of: "index" }>;

/** The types of their records: `index` is the uid of the owner. */
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

export const RECORD_KINDS = Object.keys(KINDS) as readonly RecordKind[];
export const OWNED_KINDS = RECORD_KINDS.filter((kind): kind is OwnedKind => KINDS[kind].of === "index");
