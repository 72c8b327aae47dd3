// Collects what a query needs to know about an index: its record, its rules and its synonyms.
import { type OwnedState, ownedBy } from "./owned-records.js";
import type { IndexRecord } from "./records/index-record.js";
import type { RankingRule } from "./records/rule.js";
import type { SynonymGroup } from "./records/synonym.js";

/** What a query needs from one index. All members come from the same catalog state. */
export interface IndexContents {
  readonly record: IndexRecord;
  readonly rules: readonly RankingRule[];
  readonly synonyms: readonly SynonymGroup[];
}

export function rulesOf(state: OwnedState, uid: number): readonly RankingRule[] {
  return ownedBy(state, "rule", uid);
}

export function synonymsOf(state: OwnedState, uid: number): readonly SynonymGroup[] {
  return ownedBy(state, "synonym", uid);
}

export function contentsOf(state: OwnedState, record: IndexRecord): IndexContents {
  return { record, rules: rulesOf(state, record.uid), synonyms: synonymsOf(state, record.uid) };
}
