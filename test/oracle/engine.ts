// The oracle itself: documents in a list, queries answered by looking at every one of them. Its answers are what
// the server must give, for any number of shards.
import { foldValue } from "./analyse.js";
import { type Predicate, parseFilter } from "./filter.js";
import { type Rules, readText, Weigher } from "./plan.js";
import { compareBytes, makeRow, type Row } from "./rows.js";
import { type Program, textMatch, type Word } from "./score.js";
import {
  type Analysis,
  type Document,
  type Field,
  isText,
  type Json,
  type Schema,
  type Value,
  valuesOf,
} from "./values.js";

export type Action = "upsert" | "create" | "update" | "emplace" | "delete";

/** The parameters of a query that the oracle understands. */
export interface Query {
  q: string;
  query_by?: string;
  query_by_weights?: string;
  filter_by?: string;
  filters?: Record<string, Json>;
  facet_by?: string;
  max_facet_values?: number;
  sort_by?: string;
  per_page?: number;
  page?: number;
  prefix?: boolean;
  num_typos?: number;
}

export interface Answer {
  hits: { id: string; text_match: number }[];
  found: number;
  total_pages: number;
  /** Per facet field: values in order. */
  facets: [string, [string, number][]][];
}

/** The settings that the oracle understands. */
export interface Settings extends Rules {
  searchable_attributes: string[] | null;
  weights: number[] | null;
  token_separators: string[];
  symbols_to_index: string[];
}

const DEFAULTS: Settings = {
  prefix: true,
  num_typos: 2,
  min_len_1typo: 4,
  min_len_2typo: 8,
  typo_on_numbers: false,
  typo_policy: "auto",
  stop_words: [],
  drop_tokens_threshold: 1,
  searchable_attributes: null,
  weights: null,
  token_separators: [],
  symbols_to_index: [],
};

export class Oracle {
  private readonly rows = new Map<string, Row>();
  private nextSeq = 1;

  private readonly settings: Settings;
  private readonly analysis: Analysis;

  constructor(
    readonly schema: Schema,
    settings: Partial<Settings> = {},
  ) {
    this.settings = { ...DEFAULTS, ...settings };
    const { symbols_to_index, token_separators } = this.settings;
    this.analysis = { symbols: symbols_to_index.join(""), separators: token_separators.join("") };
  }

  get documents(): Document[] {
    return [...this.rows.values()].map((row) => row.document);
  }

  get(id: string): Document | undefined {
    return this.rows.get(id)?.document;
  }

  /** Applies a batch, one document after the other; returns the positions of those that were refused. */
  write(action: Action, batch: Document[]): number[] {
    return batch.flatMap((document, index) => (this.writeOne(action, document) ? [] : [index]));
  }

  private writeOne(action: Action, document: Document): boolean {
    const present = this.rows.get(document.id);
    if (action === "delete") return this.rows.delete(document.id);
    if (action === "create" && present !== undefined) return false;
    if (action === "update" && present === undefined) return false;
    const partial = (action === "update" || action === "emplace") && present !== undefined;
    const whole = partial ? { ...present.document, ...document } : document;
    if (!this.schema.fields.every((field) => fits(whole, field))) return false;
    this.rows.set(document.id, makeRow(whole, this.nextSeq++, this.schema.fields, this.analysis));
    return true;
  }

  /** Returns the number of deleted documents. */
  deleteWhere(filter: string): number {
    const predicate = parseFilter(filter, this.schema.fields, this.analysis);
    const doomed = this.documents.filter(predicate);
    for (const { id } of doomed) this.rows.delete(id);
    return doomed.length;
  }

  search(query: Query): Answer {
    const all = [...this.rows.values()];
    const passes = this.predicate(query);
    const matched = this.match(query, all, passes).sort((a, b) => this.compare(a, b, query.sort_by));
    const perPage = query.per_page ?? 10;
    const offset = ((query.page ?? 1) - 1) * perPage;
    const page = matched.slice(offset, offset + perPage);
    return {
      hits: page.map(({ row, score }) => ({ id: row.document.id, text_match: score })),
      found: matched.length,
      total_pages: perPage === 0 ? 0 : Math.ceil(matched.length / perPage),
      facets: this.facets(query, matched),
    };
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

  /** All words as written; with all typos when that finds too little; then any of the words. */
  private match(query: Query, all: Row[], passes: Predicate): Match[] {
    const fields = this.queryFields(query);
    const { settings } = this;
    const prefix = query.prefix ?? settings.prefix;
    const num_typos = query.num_typos ?? settings.num_typos;
    const text = readText(query.q, { ...settings, prefix, num_typos }, this.analysis);
    const names = fields.map((field) => field.name);
    const weigher = new Weigher(all, all.length, names, settings.typo_policy);
    const attempt = (mode: Program["mode"], words: Word[]): Match[] => {
      const averages = weigher.averageLengths;
      const program: Program = {
        mode,
        fields: fields.map((field, i) => ({ ...field, averageLength: averages[i]! })),
        words,
        phrases: text.phrases,
        excludes: text.excludes,
      };
      return all.flatMap((row) => {
        const score = passes(row.document) ? textMatch(row, program) : null;
        return score === null ? [] : [{ row, score }];
      });
    };
    let words = weigher.asWritten(text.words);
    let best = attempt("all", words);
    if (text.words.length === 0) return best;
    if (settings.typo_policy === "auto" && best.length < Math.max(1, settings.drop_tokens_threshold)) {
      const tolerant = weigher.withAllTypos(text.words);
      const retried = attempt("all", tolerant);
      if (retried.length > best.length) [words, best] = [tolerant, retried];
    }
    return best.length >= settings.drop_tokens_threshold ? best : attempt("any", words);
  }

  private queryFields(query: Query): { name: string; weight: number }[] {
    const text = this.schema.fields.filter((field) => isText(field) && field.index !== false);
    const searchable = this.settings.searchable_attributes ?? text.map((field) => field.name);
    const own = searchable.map((name, i) => ({
      name,
      weight: this.settings.weights?.[i] ?? searchable.length - i,
    }));
    const fields =
      query.query_by
        ?.split(",")
        .map((name) => own.find((field) => field.name === name) ?? { name, weight: 1 }) ?? own;
    const weights = query.query_by_weights?.split(",").map(Number);
    return fields.map((field, i) => ({ name: field.name, weight: weights?.[i] ?? field.weight }));
  }

  /** Named keys, then text match, then the default sorting field descending, then the newest. */
  private compare(a: Match, b: Match, sortBy: string | undefined): number {
    const keys = (sortBy?.split(",") ?? []).map((key) => key.split(":") as [string, string]);
    const { default_sorting_field: fallback } = this.schema;
    if (!keys.some(([name]) => name === "_text_match")) keys.push(["_text_match", "desc"]);
    if (fallback !== undefined && !keys.some(([name]) => name === fallback)) keys.push([fallback, "desc"]);
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
    if (name === "_text_match") return match.score;
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

interface Match {
  row: Row;
  score: number;
}

function compareValues(a: Value, b: Value): number {
  if (typeof a === "string" || typeof b === "string") return compareBytes(String(a), String(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The type check of a push: nothing is coerced, null means missing. */
function fits(document: Document, field: Field): boolean {
  const raw = Object.hasOwn(document, field.name) ? document[field.name] : undefined;
  if (raw === undefined || raw === null) return field.optional !== false;
  if (!field.type.endsWith("[]")) return fitsOne(raw, field.type);
  return Array.isArray(raw) && raw.every((element) => fitsOne(element, field.type.slice(0, -2)));
}

function fitsOne(raw: Json, type: string): boolean {
  if (type === "string") return typeof raw === "string";
  if (type === "bool") return typeof raw === "boolean";
  if (type === "float") return typeof raw === "number" || typeof raw === "bigint";
  if (typeof raw !== "bigint" && !(typeof raw === "number" && Number.isInteger(raw))) return false;
  const [low, high] = type === "int32" ? [-(2n ** 31n), 2n ** 31n - 1n] : [-(2n ** 63n), 2n ** 63n - 1n];
  return BigInt(raw) >= low && BigInt(raw) <= high;
}
