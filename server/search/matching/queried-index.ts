// An index as one query uses it: its record, rules, synonyms and popular searches at one moment, in the form
// that queries need. Whatever is derived from them is cached until they change.

import type { IndexContents } from "../../catalog/index-contents.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { type ResolvedSchema, resolvedSchemaOf } from "../../catalog/schema/resolved-schema.js";
import type { AnalyserOf, TextAnalyser } from "../../catalog/schema/text-analyser.js";
import type { Limits } from "../../ground/limits.js";
import type { Logger } from "../../ground/log.js";
import { Popularity } from "../../query-log/popularity/popularity.js";
import type { Popular } from "../../query-log/reports/popular.js";
import { FiringRules, RuleCompiler } from "../../question/curate/fired-rules.js";
import { languageStopWords } from "../../question/words/stop-words.js";
import { SynonymMap } from "../../question/words/synonyms.js";

export interface QueriedIndex {
  /**
   * A number that changes whenever the record, rules, synonyms or popular searches change. Cached answers are
   * valid for one such state.
   */
  readonly state: number;
  readonly record: IndexRecord;
  readonly schema: ResolvedSchema;
  readonly analyser: TextAnalyser;
  readonly stopWords: ReadonlySet<string>;
  readonly rules: FiringRules;
  readonly synonyms: SynonymMap;
  readonly popularity: Popularity;
}

interface Derived extends QueriedIndex {
  readonly contents: IndexContents;
}

/** Returns an index's known popular searches and documents. */
export type PopularOf = (record: IndexRecord) => Popular;

export class QueriedIndexes {
  readonly #analyserOf: AnalyserOf;
  readonly #popularOf: PopularOf;
  readonly #ruleCompiler: RuleCompiler;
  readonly #known = new WeakMap<IndexRecord, Derived>();
  #states = 0;

  constructor(analyserOf: AnalyserOf, popularOf: PopularOf, limits: Limits, log: Logger) {
    this.#analyserOf = analyserOf;
    this.#popularOf = popularOf;
    this.#ruleCompiler = new RuleCompiler(limits, log);
  }

  of(contents: IndexContents): QueriedIndex {
    const { record, rules, synonyms } = contents;
    const known = this.#known.get(record);
    const rulesKnown = known?.contents.rules === rules;
    const synonymsKnown = known?.contents.synonyms === synonyms;
    const popular = this.#popularOf(record);
    const popularKnown = known?.popularity.popular === popular;
    if (known !== undefined && rulesKnown && synonymsKnown && popularKnown) return known;
    const schema = resolvedSchemaOf(record);
    const analyser = known?.analyser ?? this.#analyserOf(record);
    const index = {
      state: ++this.#states,
      contents,
      record,
      schema,
      analyser,
      stopWords: known?.stopWords ?? stopWordsOf(record, schema, analyser),
      rules:
        known !== undefined && rulesKnown
          ? known.rules
          : new FiringRules(this.#ruleCompiler.compile(rules, schema, analyser)),
      synonyms: known !== undefined && synonymsKnown ? known.synonyms : new SynonymMap(synonyms, analyser),
      popularity:
        known !== undefined && popularKnown
          ? known.popularity
          : new Popularity(popular, analyser, known?.popularity),
    };
    this.#known.set(record, index);
    return index;
  }
}

/**
 * Returns the stop words from the settings and those of the searchable fields' languages. A field without a
 * language uses the index's language.
 */
function stopWordsOf(
  record: IndexRecord,
  schema: ResolvedSchema,
  analyser: TextAnalyser,
): ReadonlySet<string> {
  const searchable = new Set(schema.searchable.map(({ field }) => field.name));
  const codes = record.fields
    .filter((field) => searchable.has(field.name))
    .flatMap((field) => field.language ?? record.settings.language ?? []);
  const words = [...record.settings.stop_words, ...[...new Set(codes)].flatMap(languageStopWords)];
  return new Set(words.flatMap((word) => analyser.terms(word)));
}
