// Ranking rules and synonym groups between HTTP and catalog: makes, changes and deletes them as single commands,
// checked against the index as it is when the command runs. What they do to a query is the coordinator's.
import type { Catalog } from "../catalog/catalog.js";
import { rulesOf, synonymsOf } from "../catalog/index-contents.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import { type RankingRule, type RuleTexts, readRule } from "../catalog/records/rule.js";
import { readSynonyms, type SynonymGroup } from "../catalog/records/synonym.js";
import { viewOf } from "../catalog/schema/index-view.js";
import type { AnalyserOf } from "../catalog/schema/text-analyser.js";
import type { CatalogState } from "../catalog/state.js";
import { SkeinError } from "../ground/errors.js";
import type { Limits } from "../ground/limits.js";
import { ruleFilter } from "../question/curate/fired-rules.js";
import { compileFilter } from "../question/filter/filter-compile.js";
import { parseFilter } from "../question/filter/filter-parser.js";

/** The index's own filter language and analyser. */
export function ruleTexts(analyserOf: AnalyserOf, limits: Limits, record: IndexRecord): RuleTexts {
  const analyser = analyserOf(record);
  return {
    checkFilter: (filterBy) => {
      compileFilter(parseFilter(filterBy, limits), viewOf(record), analyser);
    },
    hasWord: (text) => analyser.terms(text).length > 0,
  };
}

/** What clients see of a rule: not the index's uid, but why it is skipped if its filter no longer fits the schema. */
export function shownRule(
  { analyserOf, limits }: { readonly analyserOf: AnalyserOf; readonly limits: Limits },
  record: IndexRecord,
  { index: _index, ...shown }: RankingRule,
): Omit<RankingRule, "index"> & { problem: string | null } {
  const filter = ruleFilter(shown.effect, viewOf(record), analyserOf(record), limits);
  return { ...shown, problem: filter instanceof SkeinError ? filter.message : null };
}

export class Curation {
  readonly #catalog: Catalog;
  readonly #analyserOf: AnalyserOf;
  readonly #limits: Limits;

  constructor(catalog: Catalog, analyserOf: AnalyserOf, limits: Limits) {
    this.#catalog = catalog;
    this.#analyserOf = analyserOf;
    this.#limits = limits;
  }

  /** Throws SK-RR-400, SK-IX-404. */
  async createRule(index: IndexRecord, body: unknown): Promise<RankingRule> {
    let made: RankingRule | undefined;
    await this.#catalog.change((state) => {
      made = this.newRule(state, index, body);
      return { type: "record.put", kind: "rule", record: made };
    });
    return made!;
  }

  /** The rule that a body describes, to be put into this state. Throws SK-RR-400, SK-IX-404. */
  newRule(state: CatalogState, index: IndexRecord, body: unknown): RankingRule {
    const record = present(state, index);
    const draft = readRule(body, null, this.#limits, ruleTexts(this.#analyserOf, this.#limits, record));
    const count = rulesOf(state, record.uid).length;
    if (count >= this.#limits.rulesPerIndexMax) throw tooMany("SK-RR-400", "ranking rules", count);
    const made = { id: state.nextRuleId, index: record.uid, ...draft, ...createdNow() };
    this.#checkRulesBytes(state, made);
    return made;
  }

  /** Throws SK-RR-400, SK-RR-404. */
  async changeRule(index: IndexRecord, id: string, body: unknown): Promise<RankingRule> {
    let changed: RankingRule | undefined;
    await this.#catalog.change((state) => {
      const rule = findRule(state, index, id);
      const texts = ruleTexts(this.#analyserOf, this.#limits, present(state, index));
      const draft = readRule(body, rule, this.#limits, texts);
      changed = { ...rule, ...draft, updated_at: new Date().toISOString() };
      this.#checkRulesBytes(state, changed);
      return { type: "record.put", kind: "rule", record: changed };
    });
    return changed!;
  }

  /** The id of what was deleted. Throws SK-RR-404. */
  async removeRule(index: IndexRecord, id: string): Promise<number> {
    let removed = 0;
    await this.#catalog.change((state) => {
      removed = findRule(state, index, id).id;
      return { type: "record.delete", kind: "rule", index: index.uid, id: removed };
    });
    return removed;
  }

  /** Throws SK-SY-400, SK-IX-404. */
  async createSynonyms(index: IndexRecord, body: unknown): Promise<SynonymGroup> {
    let made: SynonymGroup | undefined;
    await this.#catalog.change((state) => {
      made = this.newSynonyms(state, index, body);
      return { type: "record.put", kind: "synonym", record: made };
    });
    return made!;
  }

  /** The group that a body describes, to be put into this state. Throws SK-SY-400, SK-IX-404. */
  newSynonyms(state: CatalogState, index: IndexRecord, body: unknown): SynonymGroup {
    const record = present(state, index);
    const { hasWord } = ruleTexts(this.#analyserOf, this.#limits, record);
    const draft = readSynonyms(body, null, this.#limits, hasWord);
    const count = synonymsOf(state, record.uid).length;
    if (count >= this.#limits.synonymGroupsPerIndexMax) throw tooMany("SK-SY-400", "synonym groups", count);
    const made = { id: state.nextSynonymId, index: record.uid, ...draft, ...createdNow() };
    this.#checkSynonymsBytes(state, made);
    return made;
  }

  /** Throws SK-SY-400, SK-SY-404. */
  async changeSynonyms(index: IndexRecord, id: string, body: unknown): Promise<SynonymGroup> {
    let changed: SynonymGroup | undefined;
    await this.#catalog.change((state) => {
      const group = findSynonyms(state, index, id);
      const { hasWord } = ruleTexts(this.#analyserOf, this.#limits, present(state, index));
      const draft = readSynonyms(body, group, this.#limits, hasWord);
      changed = { ...group, ...draft, updated_at: new Date().toISOString() };
      this.#checkSynonymsBytes(state, changed);
      return { type: "record.put", kind: "synonym", record: changed };
    });
    return changed!;
  }

  /** The id of what was deleted. Throws SK-SY-404. */
  async removeSynonyms(index: IndexRecord, id: string): Promise<number> {
    let removed = 0;
    await this.#catalog.change((state) => {
      removed = findSynonyms(state, index, id).id;
      return { type: "record.delete", kind: "synonym", index: index.uid, id: removed };
    });
    return removed;
  }

  #checkRulesBytes(state: CatalogState, rule: RankingRule): void {
    const { rulesBytesMax } = this.#limits;
    if (overflows(rulesOf(state, rule.index), rule, rulesBytesMax))
      throw tooLarge("SK-RR-400", "ranking rules", "rulesBytesMax", rulesBytesMax);
  }

  #checkSynonymsBytes(state: CatalogState, group: SynonymGroup): void {
    const { synonymsBytesMax } = this.#limits;
    if (overflows(synonymsOf(state, group.index), group, synonymsBytesMax))
      throw tooLarge("SK-SY-400", "synonym groups", "synonymsBytesMax", synonymsBytesMax);
  }
}

/** Bytes of the records as JSON. Records never change: one map serves everybody in a thread. */
const knownBytes = new WeakMap<RankingRule | SynonymGroup, number>();

function bytesOf(record: RankingRule | SynonymGroup): number {
  const bytes = knownBytes.get(record) ?? Buffer.byteLength(JSON.stringify(record));
  knownBytes.set(record, bytes);
  return bytes;
}

/** More than `bytesMax` once `changed` is among them; what makes them smaller is always allowed. */
function overflows(
  records: readonly (RankingRule | SynonymGroup)[],
  changed: RankingRule | SynonymGroup,
  bytesMax: number,
): boolean {
  const before = records.find(({ id }) => id === changed.id);
  if (before !== undefined && bytesOf(changed) <= bytesOf(before)) return false;
  const others = records.reduce((sum, record) => sum + (record === before ? 0 : bytesOf(record)), 0);
  return others + bytesOf(changed) > bytesMax;
}

/** The index's rule with the id of a path. Throws SK-RR-404. */
export function findRule(state: CatalogState, index: IndexRecord, id: string): RankingRule {
  const rule = rulesOf(state, index.uid).find((candidate) => String(candidate.id) === id);
  if (rule !== undefined) return rule;
  throw new SkeinError("SK-RR-404", "the index has no such ranking rule");
}

/** The index's group with the id of a path. Throws SK-SY-404. */
export function findSynonyms(state: CatalogState, index: IndexRecord, id: string): SynonymGroup {
  const group = synonymsOf(state, index.uid).find((candidate) => String(candidate.id) === id);
  if (group !== undefined) return group;
  throw new SkeinError("SK-SY-404", "the index has no such synonym group");
}

/** The index as it is now; it may have been deleted since the request began. */
function present(state: CatalogState, { uid, name }: IndexRecord): IndexRecord {
  const record = state.indexes.get(uid);
  if (record !== undefined) return record;
  throw new SkeinError("SK-IX-404", `the index "${name}" does not exist`);
}

function createdNow(): { created_at: string; updated_at: string } {
  const now = new Date().toISOString();
  return { created_at: now, updated_at: now };
}

function tooLarge(
  code: "SK-RR-400" | "SK-SY-400",
  what: string,
  limit: string,
  bytesMax: number,
): SkeinError {
  return new SkeinError(
    code,
    `the ${what} of the index would have more than ${bytesMax} bytes together (${limit})`,
  );
}

function tooMany(code: "SK-RR-400" | "SK-SY-400", what: string, count: number): SkeinError {
  return new SkeinError(code, `the index has ${count} ${what} already; more are not allowed`);
}
