// The body of a query -> a QueryRequest: every parameter checked, clamped and resolved against the index.
// Wrong types are refused by name, numbers out of range are clamped, unknown parameters are ignored; a
// legacy parameter (filter_by, facet_by, sort_by) wins over its native twin. Matches and ranks nothing.

import type { IndexRecord } from "../catalog/types.js";
import type { FilterNode } from "../filter/filter-ast.js";
import { nativeFilter } from "../filter/filter-native.js";
import { parseFilter } from "../filter/filter-parser.js";
import type { Limits } from "../limits.js";
import { type IndexView, isSearchable, type ViewField, type WeightedField } from "../schema/index-view.js";
import { BodyReader, commaList, invalid } from "./query-body.js";
import { parseSort, type SortRequest } from "./query-sort.js";

const SEARCH_MODES = ["auto", "keyword", "semantic", "hybrid"];

export interface QueryRequest {
  readonly q: string;
  /** Empty only for browsing an index without searchable fields. */
  readonly fields: readonly WeightedField[];
  readonly filter: FilterNode | null;
  /** Facet fields that have facet: true, in the order of the request, each once. */
  readonly facets: readonly ViewField[];
  readonly maxFacetValues: number;
  /** null: by relevance. */
  readonly sort: readonly SortRequest[] | null;
  readonly perPage: number;
  readonly page: number;
  readonly prefix: boolean;
  readonly numTypos: number;
  /** String fields to highlight, each once. */
  readonly highlight: readonly ViewField[];
  readonly keepFields: readonly string[] | null;
  readonly dropFields: readonly string[] | null;
  /** Tell for every hit why it stands where it does. */
  readonly explain: boolean;
}

/** `*`, and a text without anything in it, list documents instead of searching words. */
function isBrowse(q: string): boolean {
  const text = q.trim();
  return text === "" || text === "*";
}

/** Throws SkeinError SK-SE-400 with a sentence that names the parameter. */
export function readQueryRequest(
  body: unknown,
  record: IndexRecord,
  view: IndexView,
  limits: Limits,
): QueryRequest {
  const reader = new BodyReader(body);
  const q = reader.text("q");
  if (q === undefined) throw invalid("q is required: the query text, or '*' to browse.");
  if (Buffer.byteLength(q) > limits.queryTextBytesMax) {
    throw invalid(`q is longer than ${limits.queryTextBytesMax} bytes.`);
  }
  const mode = reader.text("search_mode");
  if (mode !== undefined && !SEARCH_MODES.includes(mode)) {
    throw invalid(`search_mode must be one of ${SEARCH_MODES.join(", ")}.`);
  }
  const keepFields = reader.texts("fields") ?? null;
  const dropFields = reader.texts("exclude_fields") ?? null;
  return {
    q,
    fields: queryFields(reader, view, limits, isBrowse(q)),
    filter: queryFilter(reader, limits),
    facets: facetFields(reader, view, limits),
    maxFacetValues: reader.clamped("max_facet_values", 10, 0, limits.facetValuesMax),
    sort: querySort(reader, view, limits),
    perPage: reader.clamped("per_page", 10, 0, limits.pageDocumentsMax),
    page: reader.clamped("page", 1, 1, Number.MAX_SAFE_INTEGER),
    prefix: reader.flag("prefix") ?? record.settings.prefix,
    numTypos: reader.clamped("num_typos", record.settings.num_typos, 0, 4),
    highlight: highlightFields(reader, view, limits),
    keepFields,
    dropFields: keepFields === null ? dropFields : null,
    explain: reader.flag("explain") ?? false,
  };
}

function queryFields(reader: BodyReader, view: IndexView, limits: Limits, browse: boolean): WeightedField[] {
  const names = commaList(reader.text("query_by"));
  const weightTexts = commaList(reader.text("query_by_weights"));
  const fields =
    names.length === 0 ? view.searchable.map((entry) => entry.field) : namedFields(names, view, limits);
  if (fields.length === 0 && !browse) {
    throw invalid("query_by is missing and the index has no searchable fields.");
  }
  if (weightTexts.length === 0) return fields.map((field) => ({ field, weight: view.weightOf(field) }));
  if (weightTexts.length !== fields.length) {
    throw invalid(
      `query_by_weights must have one weight for each of the ${fields.length} searched fields, not ${weightTexts.length}.`,
    );
  }
  return fields.map((field, i) => ({ field, weight: positiveWeight(weightTexts[i] as string) }));
}

function namedFields(names: readonly string[], view: IndexView, limits: Limits): ViewField[] {
  if (names.length > limits.queryFieldsMax)
    throw invalid(`query_by names more than ${limits.queryFieldsMax} fields.`);
  const fields = names.map((name) => {
    const field = view.field(name);
    if (field === undefined)
      throw invalid(`query_by: unknown field '${name}'; expected a field of the schema.`);
    if (!isSearchable(field)) {
      throw invalid(
        `query_by: field '${name}' cannot be searched; expected an indexed string or string[] field.`,
      );
    }
    return field;
  });
  if (new Set(fields).size < fields.length) throw invalid("query_by names a field twice.");
  return fields;
}

function positiveWeight(text: string): number {
  const weight = /^\d*\.?\d+$/.test(text) ? Number(text) : 0;
  if (!(weight > 0) || weight > 1e6) {
    throw invalid(
      `query_by_weights: '${text.slice(0, 40)}' is no weight; expected a positive number up to 1000000.`,
    );
  }
  return weight;
}

function queryFilter(reader: BodyReader, limits: Limits): FilterNode | null {
  const native = reader.object("filters");
  const legacy = reader.text("filter_by");
  if (legacy !== undefined) return legacy.trim() === "" ? null : parseFilter(legacy, limits);
  return native === undefined ? null : nativeFilter(native, limits);
}

/** Fields without facet: true (or unknown ones) are no error and get no aggregation. */
function facetFields(reader: BodyReader, view: IndexView, limits: Limits): ViewField[] {
  const native = reader.texts("facets");
  const legacy = reader.text("facet_by");
  const names = legacy === undefined ? (native ?? []) : commaList(legacy);
  const fields = new Set<ViewField>();
  for (const name of names) {
    const field = view.field(name.trim());
    if (field?.facet === true) fields.add(field);
  }
  if (fields.size > limits.facetFieldsMax) {
    throw invalid(
      `${legacy === undefined ? "facets" : "facet_by"} names more than ${limits.facetFieldsMax} fields.`,
    );
  }
  return [...fields];
}

function querySort(reader: BodyReader, view: IndexView, limits: Limits): SortRequest[] | null {
  const native = reader.text("sort");
  const legacy = reader.text("sort_by");
  const [name, text] = legacy === undefined ? ["sort", native] : ["sort_by", legacy];
  const items = commaList(text);
  if (items.length > limits.sortKeysMax)
    throw invalid(`${name} names more than ${limits.sortKeysMax} fields.`);
  return items.length === 0 ? null : parseSort(name, items, view);
}

/** Unknown fields and fields that hold no text are ignored. */
function highlightFields(reader: BodyReader, view: IndexView, limits: Limits): ViewField[] {
  const fields = new Set<ViewField>();
  for (const name of commaList(reader.text("highlight_fields"))) {
    const field = view.field(name);
    if (field?.kind === "string") fields.add(field);
  }
  if (fields.size > limits.queryFieldsMax) {
    throw invalid(`highlight_fields names more than ${limits.queryFieldsMax} fields.`);
  }
  return [...fields];
}
