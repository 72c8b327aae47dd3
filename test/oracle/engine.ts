// The oracle: a list of documents, and queries that examine every document. The server must return the same
// answers, with any number of shards.
import { languageNumber } from "../../engine-wasm/host/stemmer.js";
import { languageStopWords } from "../../server/question/words/stop-words.js";
import {
  changedGroup,
  changedRule,
  type RankingRule,
  type RuleBody,
  type SynonymBody,
  type SynonymGroup,
  type Wishes,
  wishesOf,
} from "./curation.js";
import { type Predicate, parseFilter } from "./filter.js";
import {
  type Found,
  fullMatches,
  type Match,
  type Matched,
  matchType,
  relatedTo,
  type Search,
} from "./found.js";
import { type Weighed, Weigher } from "./plan.js";
import type { Answer, Query } from "./query.js";
import { bonusOf, finalKey } from "./rank.js";
import { matchOf, type Program } from "./score.js";
import { compareBytes, makeRow, type Row } from "./segments/rows.js";
import {
  type Analysis,
  type Document,
  type Field,
  fits,
  isText,
  type Schema,
  type Value,
  valuesOf,
} from "./segments/values.js";
import { DEFAULTS, type Settings } from "./settings.js";
import { foldValue } from "./words/analyse.js";
import { averageLengths, type Dictionary, makeDictionary, tokensPerDocument } from "./words/expand.js";
import { type QueryText, readText, type TextRules } from "./words/text.js";
import { variantsOf } from "./words/variants.js";

export type Action = "upsert" | "create" | "update" | "emplace" | "delete";

/**
 * If not all words are required and the query has more words than this, a document with all of them gets no
 * extra points.
 */
const FULL_FIRST_WORDS = 2;

export class Oracle {
  protected rows = new Map<string, Row>();
  private nextSeq = 1;
  private nextNumber = 1;
  protected settings = DEFAULTS;
  private readonly rules = new Map<number, RankingRule>();
  private readonly groups = new Map<number, SynonymGroup>();
  /** Keyed by the queried fields; cleared whenever a document or the settings change. */
  private readonly dictionaries = new Map<string, Dictionary>();

  constructor(
    readonly schema: Schema,
    settings: Partial<Settings> = {},
  ) {
    this.changeSettings(settings);
  }

  /** Omitted members keep their values. */
  changeSettings(changes: Partial<Settings>): void {
    this.settings = { ...this.settings, ...changes };
    this.dictionaries.clear();
    const rows = [...this.rows.values()];
    this.rows = new Map(rows.map(({ document, seq }) => [document.id, this.makeRow(document, seq)]));
  }

  /** Creates a rule, or changes the rule with this number; returns the number. */
  putRule(body: RuleBody, number = this.nextNumber++): number {
    this.rules.set(number, changedRule(this.rules.get(number), body));
    return number;
  }

  /** Creates a group, or changes the group with this number; returns the number. */
  putSynonyms(body: SynonymBody, number = this.nextNumber++): number {
    this.groups.set(number, changedGroup(this.groups.get(number), body));
    return number;
  }

  /** Removes a rule or a group. */
  remove(number: number): void {
    this.rules.delete(number);
    this.groups.delete(number);
  }

  get documents(): Document[] {
    return [...this.rows.values()].map((row) => row.document);
  }

  get(id: string): Document | undefined {
    return this.rows.get(id)?.document;
  }

  /** Applies a batch in order; returns the positions of the refused documents. */
  write(action: Action, batch: Document[]): number[] {
    return batch.flatMap((document, index) => (this.writeOne(action, document) ? [] : [index]));
  }

  private get analysis(): Analysis {
    const { symbols_to_index, token_separators } = this.settings;
    return { symbols: symbols_to_index.join(""), separators: token_separators.join("") };
  }

  private makeRow(document: Document, seq: number): Row {
    return makeRow(document, seq, this.schema.fields, this.analysis, (field) => ({
      language: languageNumber(this.languageOf(field) ?? ""),
      sku: this.settings.sku_fields.includes(field.name),
      brand: this.settings.brand_field === field.name,
    }));
  }

  private languageOf(field: Field): string | null {
    return field.language ?? this.settings.language;
  }

  private writeOne(action: Action, document: Document): boolean {
    const present = this.rows.get(document.id);
    this.dictionaries.clear();
    if (action === "delete") return this.rows.delete(document.id);
    if (action === "create" && present !== undefined) return false;
    if (action === "update" && present === undefined) return false;
    const partial = (action === "update" || action === "emplace") && present !== undefined;
    const whole = partial ? { ...present.document, ...document } : document;
    if (!this.accepts(whole)) return false;
    this.rows.set(document.id, this.makeRow(whole, this.nextSeq++));
    return true;
  }

  protected accepts(document: Document): boolean {
    return this.schema.fields.every((field) => fits(document, field));
  }

  /** Returns the number of deleted documents. */
  deleteWhere(filter: string): number {
    const predicate = parseFilter(filter, this.schema.fields, this.analysis);
    const doomed = this.documents.filter(predicate);
    for (const { id } of doomed) this.rows.delete(id);
    this.dictionaries.clear();
    return doomed.length;
  }

  search(query: Query): Answer {
    const { matched, text, weighed, related, mode, near } = this.find(query);
    matched.found.sort((a, b) => this.compare(a, b, query.sort_by));
    const { found, curated } = matched;
    const perPage = query.per_page ?? 10;
    const offset = ((query.page ?? 1) - 1) * perPage;
    return {
      mode,
      hits: found.slice(offset, offset + perPage).map(({ row, match, bonus }) => ({
        id: row.document.id,
        text_match: match?.text ?? 0,
        relevance_bonus: bonus,
        match_type: matchType(match, near.has(row.seq)),
      })),
      found: found.length,
      total_pages: perPage === 0 ? 0 : Math.ceil(found.length / perPage),
      facets: this.facets(query, found),
      curated_applied: curated,
      related: perPage === 0 ? [] : related.map(({ document }) => document.id),
      suggestions: corrected(text, weighed.corrections),
    };
  }

  /** Searches by words only; SemanticOracle overrides this to use vectors too. */
  protected find(query: Query): Found {
    const search = this.match(query);
    return { ...search, mode: "keyword", near: new Set(), related: relatedTo(search, search.matched) };
  }

  private predicate(query: Query): Predicate {
    if (query.filter_by !== undefined) return parseFilter(query.filter_by, this.schema.fields, this.analysis);
    const clauses = Object.entries(query.filters ?? {}).map(([name, wanted]) => {
      const values = (Array.isArray(wanted) ? wanted : [wanted]).map(
        (value) => `\`${String(value).replaceAll("`", "``")}\``,
      );
      return parseFilter(`${name}:=[${values.join(",")}]`, this.schema.fields, this.analysis);
    });
    return (document) => clauses.every((clause) => clause(document));
  }

  /**
   * First requires all words as written. If that finds too few documents, also tries likelier spellings, and
   * finally accepts any of the words.
   */
  protected match(query: Query): Search {
    const { settings, analysis } = this;
    const all = [...this.rows.values()];
    const fields = this.queryFields(query);
    const names = fields.map((field) => field.name);
    const text = readText(query.q, this.textRules(query), analysis);
    const languages = names.map((name) => languageNumber(this.languageOf(this.field(name)) ?? ""));
    const stemmed = [...new Set(languages)].filter((language) => language > 0);
    const hasSku = names.some((name) => settings.sku_fields.includes(name));
    const variants = variantsOf(text, stemmed, [...this.groups.values()], hasSku, analysis);
    const dictionary = this.dictionaries.get(names.join()) ?? makeDictionary(all, names);
    this.dictionaries.set(names.join(), dictionary);
    const infixes = names.map((name) => this.field(name).infix === true);
    const infixFields = infixes.flatMap((infix, i) => (infix ? [i] : []));
    const documentsWith = (terms: string[]): Set<number> => {
      const has = ({ texts }: Row): boolean =>
        names.some((name) => terms.some((term) => texts.get(name)?.positions.has(term)));
      return new Set(all.filter(has).map(({ seq }) => seq));
    };
    const counts = {
      dictionary,
      fieldCount: names.length,
      infixFields,
      documents: all.length,
      documentsWith,
    };
    const weigher = new Weigher(text, variants, stemmed, counts, settings.typo_policy);

    const passes = this.predicate(query);
    const candidates = all.filter((row) => passes(row.document));
    const wishes = wishesOf([...this.rules.values()], text.terms, this.schema.fields, analysis);
    const averages = averageLengths(all, names);
    const tokens = tokensPerDocument(all, names);
    const averageLength = fields.reduce((sum, { weight }, i) => sum + weight * tokens[i]!, 0);
    const attempt: Search["attempt"] = (mode, words, neighbours = null, wanted = wishes) => {
      const weighted = fields.map((field, i) => ({
        ...field,
        averageLength: averages[i]!,
        infix: infixes[i]!,
      }));
      const { phrases, excludes } = text;
      const program = { mode, fields: weighted, averageLength, words, phrases, excludes, neighbours };
      return this.rate(candidates, program, text, wanted);
    };
    const known = { text, wishes, attempt };
    let weighed = weigher.asWritten();
    let best = attempt("all", weighed.words);
    const counted = (): Search => ({ ...known, weighed, matched: best, all: true, full: fullMatches(best) });
    if (text.words.length === 0) return counted();
    const isDoubted = settings.typo_policy === "auto" && text.words.length > 1 && fullMatches(best) === 0;
    const doubted = isDoubted ? weigher.withDoubts() : null;
    const corrected = doubted === null ? null : attempt("all", doubted.words);
    if (corrected !== null && fullMatches(corrected) > 0) [weighed, best] = [doubted!, corrected];
    if (fullMatches(best) >= settings.drop_tokens_threshold) return counted();
    const mode = text.words.length <= FULL_FIRST_WORDS ? "any" : "byScore";
    return { ...counted(), matched: attempt(mode, weighed.words), all: false };
  }

  private textRules(query: Query): TextRules {
    const { settings } = this;
    const searchable = this.searchable().map(({ name }) => this.languageOf(this.field(name)) ?? "");
    return {
      ...settings,
      prefix: query.prefix ?? settings.prefix,
      num_typos: query.num_typos ?? settings.num_typos,
      stop_words: [...settings.stop_words, ...[...new Set(searchable)].flatMap(languageStopWords)],
    };
  }

  /** Scores the documents that pass the filter, applying the query program and the rules. */
  private rate(candidates: Row[], program: Program, text: QueryText, wishes: Wishes): Matched {
    const fields = { skus: this.settings.sku_fields, brand: this.settings.brand_field };
    let curated = false;
    const found = candidates.flatMap((row): Match[] => {
      const match = matchOf(row, program);
      const hidden = wishes.isHidden(row.document);
      const buried = wishes.isBuried(row.document);
      const pin = hidden || buried ? -1 : wishes.pins.indexOf(row.document.id);
      if (hidden && match !== null) curated = true;
      if (hidden || (match === null && pin < 0)) return [];
      const boosts = wishes.boostOf(row.document);
      if (pin >= 0 || buried || boosts > 0) curated = true;
      const bonus = bonusOf(row, text, program, fields, match?.text ?? null);
      const final = finalKey(match?.text ?? 0, bonus, boosts, program);
      const place = pin >= 0 ? 2 + wishes.pins.length - pin : buried ? 0 : 1;
      return [{ row, match, bonus, final, place }];
    });
    return { found, curated };
  }

  /** The fields that a query searches if it names none, according to the settings. */
  private searchable(): { name: string; weight: number }[] {
    const text = this.schema.fields.filter((field) => isText(field) && field.index !== false);
    const names = this.settings.searchable_attributes ?? text.map((field) => field.name);
    return names.map((name, i) => ({ name, weight: this.settings.weights?.[i] ?? names.length - i }));
  }

  /** The queried fields, with weights scaled to a mean of 1. */
  private queryFields(query: Query): { name: string; weight: number }[] {
    const own = this.searchable();
    const fields =
      query.query_by
        ?.split(",")
        .map((name) => own.find((field) => field.name === name) ?? { name, weight: 1 }) ?? own;
    const given = query.query_by_weights?.split(",").map(Number);
    const weights = fields.map((field, i) => given?.[i] ?? field.weight);
    const mean = weights.reduce((sum, weight) => sum + weight, 0) / weights.length;
    return fields.map(({ name }, i) => ({ name, weight: weights[i]! / mean }));
  }

  /**
   * Sort order: pinned documents, then ordinary ones, then buried ones; within each group by the requested
   * sort keys, then the final key, then the default sorting field, then newest first.
   */
  private compare(a: Match, b: Match, sortBy: string | undefined): number {
    const keys = (sortBy?.split(",") ?? []).map((key) => key.split(":") as [string, string]);
    const { default_sorting_field: fallback } = this.schema;
    if (!keys.some(([name]) => name === "_text_match")) keys.push(["_text_match", "desc"]);
    if (fallback !== undefined && !keys.some(([name]) => name === fallback)) keys.push([fallback, "desc"]);
    if (a.place !== b.place) return b.place - a.place;
    for (const [name, direction] of keys) {
      const left = this.sortValue(a, name);
      const right = this.sortValue(b, name);
      if (left === undefined && right === undefined) continue;
      if (left === undefined || right === undefined) return left === undefined ? 1 : -1;
      const order = compareValues(left, right);
      if (order !== 0) return direction === "desc" ? -order : order;
    }
    return b.row.seq - a.row.seq;
  }

  private sortValue(match: Match, name: string): Value | undefined {
    if (name === "_text_match") return match.final;
    const value = valuesOf(match.row.document, this.field(name))[0];
    return typeof value === "string" ? foldValue(value) : value;
  }

  private facets(query: Query, matched: Match[]): Answer["facets"] {
    const names = (query.facet_by?.split(",") ?? []).filter((name) => this.field(name).facet === true);
    return names.map((name) => {
      const counts = new Map<Value, number>();
      for (const { row } of matched) {
        for (const value of new Set(valuesOf(row.document, this.field(name)))) {
          counts.set(value, (counts.get(value) ?? 0) + 1);
        }
      }
      const ordered = [...counts].sort(([a, m], [b, n]) => n - m || compareValues(a, b));
      const bool = this.field(name).type === "bool";
      const shown = ordered.map(([value, count]): [string, number] => [
        bool ? String(value === 1n) : String(value),
        count,
      ]);
      return [name, shown.slice(0, query.max_facet_values ?? 10)];
    });
  }

  private field(name: string): Field {
    return this.schema.fields.find((field) => field.name === name)!;
  }
}

/**
 * Returns the query with the best spellings of its misspelt words; empty if there are none, or if the query
 * has phrases or exclusions.
 */
function corrected(text: QueryText, corrections: Weighed["corrections"]): string[] {
  const plain = text.phrases.length === 0 && text.excludes.length === 0;
  if (!plain || corrections.every((correction) => correction === undefined)) return [];
  const tokens = text.runs.flat();
  return [tokens.map(({ term, word }) => corrections[word] ?? term).join(" ")];
}

function compareValues(a: Value, b: Value): number {
  if (typeof a === "string" || typeof b === "string") return compareBytes(String(a), String(b));
  return a < b ? -1 : a > b ? 1 : 0;
}
