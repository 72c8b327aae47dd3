// An index as one query sees it: its record, rules and synonyms as of one moment, in the forms that queries read.
// What costs time to derive is kept until the record, its rules or its synonyms change.
import type { IndexContents, IndexRecord } from "../catalog/types.js";
import type { Cluster } from "../cluster/cluster.js";
import { compileRules } from "../curate/fired-rules.js";
import { type IndexView, viewOf } from "../schema/index-view.js";
import type { TextAnalyser } from "../schema/text-analyser.js";
import { languageStopWords } from "../words/stop-words.js";
import { SynonymMap } from "../words/synonyms.js";

export interface QueriedIndex {
  /** Another one for each state of the record, its rules and its synonyms. */
  readonly state: number;
  readonly record: IndexRecord;
  readonly view: IndexView;
  readonly analyser: TextAnalyser;
  readonly stopWords: ReadonlySet<string>;
  readonly rules: ReturnType<typeof compileRules>;
  readonly synonyms: SynonymMap;
}

interface Derived extends QueriedIndex {
  readonly contents: IndexContents;
}

let states = 0;
const derived = new WeakMap<IndexRecord, Derived>();

export function queriedIndex(
  cluster: Pick<Cluster, "analyser" | "limits" | "log">,
  contents: IndexContents,
): QueriedIndex {
  const { record, rules, synonyms } = contents;
  const known = derived.get(record);
  const rulesKnown = known?.contents.rules === rules;
  const synonymsKnown = known?.contents.synonyms === synonyms;
  if (known !== undefined && rulesKnown && synonymsKnown) return known;
  const view = viewOf(record);
  const analyser = known?.analyser ?? cluster.analyser(record);
  const index = {
    state: ++states,
    contents,
    record,
    view,
    analyser,
    stopWords: known?.stopWords ?? stopWordsOf(record, view, analyser),
    rules:
      known !== undefined && rulesKnown
        ? known.rules
        : compileRules(rules, view, analyser, cluster.limits, cluster.log),
    synonyms: known !== undefined && synonymsKnown ? known.synonyms : new SynonymMap(synonyms, analyser),
  };
  derived.set(record, index);
  return index;
}

/** The setting's words, and those of the languages of the index and its searchable fields. */
function stopWordsOf(record: IndexRecord, view: IndexView, analyser: TextAnalyser): ReadonlySet<string> {
  const searchable = new Set(view.searchable.map(({ field }) => field.name));
  const codes = record.fields
    .filter((field) => searchable.has(field.name))
    .flatMap((field) => field.language ?? record.settings.language ?? []);
  const words = [...record.settings.stop_words, ...[...new Set(codes)].flatMap(languageStopWords)];
  return new Set(words.flatMap((word) => analyser.terms(word)));
}
