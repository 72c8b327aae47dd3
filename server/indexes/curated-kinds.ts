// The kinds of records with which a shop curates an index's results. This table determines how the records
// are created and changed (curation.ts), their routes and their OpenAPI paths. Their effect on a query is
// determined in server/question.
import type { OwnedRecords } from "../catalog/kinds.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import { type RuleTexts, readRule } from "../catalog/records/rule.js";
import { readSynonyms, synonymsView } from "../catalog/records/synonym.js";
import { resolvedSchemaOf } from "../catalog/schema/resolved-schema.js";
import type { AnalyserOf } from "../catalog/schema/text-analyser.js";
import { type ErrorCode, SkeinError } from "../ground/errors.js";
import type { Limits } from "../ground/limits.js";
import { ruleFilter } from "../question/curate/fired-rules.js";
import { compileFilter } from "../question/filter/filter-compile.js";

export type CuratedKind = "rule" | "synonym";
export type Curated<K extends CuratedKind> = OwnedRecords[K];

/** What `shown` needs to check whether a rule's filter still fits the schema. */
export interface CurationTools {
  readonly analyserOf: AnalyserOf;
  readonly limits: Limits;
}

interface CuratedEntry<K extends CuratedKind> {
  /** Display name; the plural adds an s. */
  readonly noun: string;
  /** Last path segment of the collection, e.g. "synonyms". */
  readonly path: string;
  /** The record's OpenAPI schema name. Body schemas append Input and Change. */
  readonly schema: string;
  /** Operation id suffixes: `one` for a single record, `all` for the collection. */
  readonly one: string;
  readonly all: string;
  readonly invalid: ErrorCode;
  readonly missing: ErrorCode;
  readonly countMax: LimitName;
  /** The limit on the total size of an index's records, in bytes of JSON. */
  readonly bytesMax: LimitName;
  /**
   * Reads the body of a create request or, if `current` is given, of a PATCH. `texts` checks the record's
   * filters and words against the index. Throws a SkeinError with the code `invalid`.
   */
  read(body: unknown, current: Curated<K> | null, limits: Limits, texts: RuleTexts): Draft<K>;
  /** Returns the record as clients see it. */
  shown(record: Curated<K>, index: IndexRecord, tools: CurationTools): object;
}

type LimitName = { [N in keyof Limits]: Limits[N] extends number ? N : never }[keyof Limits];
type Draft<K extends CuratedKind> = Omit<Curated<K>, "id" | "index" | "created_at" | "updated_at">;

export const CURATED: { readonly [K in CuratedKind]: CuratedEntry<K> } = {
  rule: {
    noun: "ranking rule",
    path: "ranking-rules",
    schema: "RankingRule",
    one: "RankingRule",
    all: "RankingRules",
    invalid: "SK-RR-400",
    missing: "SK-RR-404",
    countMax: "rulesPerIndexMax",
    bytesMax: "rulesBytesMax",
    read: readRule,
    /**
     * Adds `problem`, which says why queries skip the rule if its filter no longer fits the schema, and is
     * otherwise null.
     */
    shown({ index: _index, ...shown }, record, { analyserOf, limits }) {
      const index = { schema: resolvedSchemaOf(record), analyser: analyserOf(record) };
      const filter = ruleFilter(shown.effect, index, limits);
      return { ...shown, problem: filter instanceof SkeinError ? filter.message : null };
    },
  },
  synonym: {
    noun: "synonym group",
    path: "synonyms",
    schema: "SynonymGroup",
    one: "Synonyms",
    all: "Synonyms",
    invalid: "SK-SY-400",
    missing: "SK-SY-404",
    countMax: "synonymGroupsPerIndexMax",
    bytesMax: "synonymsBytesMax",
    read: (body, current, limits, { hasWord }) => readSynonyms(body, current, limits, hasWord),
    shown: synonymsView,
  },
};

export const CURATED_KINDS = Object.keys(CURATED) as readonly CuratedKind[];

/**
 * Returns the checks for the filters and words in an index's rules, which use the index's own schema and
 * analyser.
 */
export function ruleTexts(analyserOf: AnalyserOf, limits: Limits, record: IndexRecord): RuleTexts {
  const analyser = analyserOf(record);
  return {
    checkFilter: (filterBy) => {
      compileFilter(filterBy, { schema: resolvedSchemaOf(record), analyser }, limits);
    },
    hasWord: (text) => analyser.terms(text).length > 0,
  };
}
