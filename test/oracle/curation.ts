// Ranking rules and synonym groups as clients send them, and the effect of the rules that match a query.

import { type Predicate, parseFilter } from "./filter.js";
import type { Analysis, Document, Field } from "./segments/values.js";
import { words as wordsOf } from "./words/analyse.js";

export interface RankingRule {
  type: "boost" | "pin" | "hide" | "bury";
  conditions: { query_contains: string[] };
  effect: { filter_by?: string; weight?: number; documents?: string[] };
  priority: number;
  enabled: boolean;
}

export interface SynonymGroup {
  type: "multi_way" | "one_way";
  synonyms: string[];
  root: string | null;
  enabled: boolean;
}

/** Body of a create or change request. */
export type RuleBody = Partial<RankingRule>;
export type SynonymBody = Partial<SynonymGroup>;

export interface Wishes {
  isHidden: Predicate;
  isBuried: Predicate;
  /** Sum of the boost weights. */
  boostOf(document: Document): number;
  /** Ids of the pinned documents, best first. */
  pins: string[];
}

/** Precedence of the kinds of rule at equal priority. */
const ORDER = ["hide", "pin", "bury", "boost"];
const FIRED_MAX = 256;
const PINS_MAX = 250;

export function changedRule(rule: RankingRule | undefined, body: RuleBody): RankingRule {
  return {
    type: "boost",
    priority: 0,
    enabled: true,
    ...rule,
    ...body,
    conditions: { query_contains: [], ...rule?.conditions, ...body.conditions },
    effect: { ...rule?.effect, ...body.effect },
  };
}

/** A one-way group's root is also one of its entries: the first entry, unless another root is named. */
export function changedGroup(group: SynonymGroup | undefined, body: SynonymBody): SynonymGroup {
  const changed: SynonymGroup = {
    type: "multi_way",
    synonyms: [],
    root: null,
    enabled: true,
    ...group,
    ...body,
  };
  if (changed.type === "multi_way") return { ...changed, root: null };
  const stays = (body.root ?? null) !== null || changed.synonyms.includes(changed.root ?? "");
  const root = stays ? changed.root! : changed.synonyms[0]!;
  const isEntry = changed.synonyms.includes(root);
  return { ...changed, root, synonyms: isEntry ? changed.synonyms : [root, ...changed.synonyms] };
}

/**
 * Returns the combined effect of the rules that match the query. `rules` are in order of creation; `terms`
 * are the query's terms, none if it has no text.
 */
export function wishesOf(rules: RankingRule[], terms: string[], fields: Field[], analysis: Analysis): Wishes {
  const fired = rules
    .filter((rule) => rule.enabled)
    .sort((a, b) => b.priority - a.priority || ORDER.indexOf(a.type) - ORDER.indexOf(b.type))
    .filter((rule) => rule.conditions.query_contains.every((entry) => contains(terms, entry, analysis)))
    .slice(0, FIRED_MAX)
    .map((rule) => ({ ...rule, touches: touching(rule, fields, analysis) }));
  const ofType = (type: RankingRule["type"]) => fired.filter((rule) => rule.type === type);
  /**
   * The kind of the first rule that hides, pins or buries the document; the other such rules do not affect
   * it.
   */
  const fate = (document: Document) =>
    fired.find(({ type, touches }) => type !== "boost" && touches(document))?.type;
  const pins = ofType("pin").flatMap(({ effect }) => effect.documents ?? []);
  return {
    isHidden: (document) => fate(document) === "hide",
    isBuried: (document) => fate(document) === "bury",
    boostOf: (document) =>
      ofType("boost")
        .filter(({ touches }) => touches(document))
        .reduce((sum, { effect }) => sum + effect.weight!, 0),
    pins: [...new Set(pins)].slice(0, PINS_MAX),
  };
}

/** Matches documents that the rule lists or that pass its filter. */
function touching({ effect }: RankingRule, fields: Field[], analysis: Analysis): Predicate {
  const { filter_by, documents = [] } = effect;
  const passes = filter_by === undefined ? () => false : parseFilter(filter_by, fields, analysis);
  return (document) => documents.includes(document.id) || passes(document);
}

/** True if the entry's words occur consecutively in the query. */
function contains(terms: string[], entry: string, analysis: Analysis): boolean {
  const wanted = wordsOf(entry, analysis).map(({ term }) => term);
  return terms.some((_, first) => wanted.length > 0 && wanted.every((term, i) => terms[first + i] === term));
}
