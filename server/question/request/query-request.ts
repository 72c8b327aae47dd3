// Converts a query body to a QueryRequest: every parameter is checked, clamped and resolved against the
// index. A value of the wrong type is refused with an error that names the parameter, a number out of range
// is clamped, and an unknown parameter is ignored. A legacy parameter (filter_by, facet_by, sort_by) takes
// precedence over its native counterpart. Does no matching or ranking.

import { type FilterProgram, NO_FILTER } from "../../../engine-wasm/host/programs/filter-program.js";
import { finished } from "../../../engine-wasm/host/runtime/steps.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import {
  isSearchable,
  type ResolvedField,
  type ResolvedSchema,
  type WeightedField,
} from "../../catalog/schema/resolved-schema.js";
import { defaultsTo, object, optional, required, type ValuesOf } from "../../ground/input/object-reader.js";
import { anyObject, clamped, flag, oneOf, text, texts } from "../../ground/input/readers.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import {
  both,
  compilingOfFilter,
  compilingOfNativeFilter,
  type FilteredIndex,
} from "../filter/filter-compile.js";
import { ASKER_MEMBERS } from "./asker.js";
import { commaList, invalid, queryRules } from "./query-lists.js";
import { parseSort, type SortRequest } from "./query-sort.js";
import { checkVectorFits, VECTOR } from "./query-vector.js";
import type { Within } from "./within.js";

const ASKED_MODES = ["auto", "keyword", "semantic", "hybrid"] as const;
export type AskedMode = (typeof ASKED_MODES)[number];

const MEMBERS = {
  q: required(text("queryTextBytesMax"), "The query text, or * to browse."),
  query_by: optional(
    text(),
    "Fields to search, comma-separated; default: the searchable attributes of the settings.",
  ),
  query_by_weights: optional(text(), "A weight for each field of query_by, comma-separated."),
  search_mode: optional(oneOf(ASKED_MODES)),
  vector: optional(
    VECTOR,
    "The query's own vector; only where the setting embedder.source is endpoint or pushed.",
  ),
  filters: optional(anyObject(), "Values by field; all must match, of an array any."),
  filter_by: optional(text(), "Filter expression; wins over filters."),
  facets: optional(texts(), "Fields to count values of."),
  facet_by: optional(text(), "The same, comma-separated; wins over facets."),
  max_facet_values: defaultsTo(10, clamped(0, "facetValuesMax")),
  sort: optional(text(), "<field>:asc or <field>:desc, comma-separated; default: by relevance."),
  sort_by: optional(text(), "The same; wins over sort."),
  per_page: defaultsTo(10, clamped(0, "pageDocumentsMax")),
  page: defaultsTo(1, clamped(1, Number.MAX_SAFE_INTEGER)),
  prefix: optional(flag(), "Whether the last word is a beginning; default: as in the settings."),
  num_typos: optional(clamped(0, FIXED_LIMITS.typosMax), "Default: as in the settings."),
  highlight_fields: optional(text(), "Fields to mark matched words in, comma-separated."),
  fields: optional(texts(), "Members of the documents to return; default: all."),
  exclude_fields: optional(texts(), "Members to leave out; not used beside fields."),
  explain: defaultsTo(false, flag(), "Explain the rank of each hit."),
  ai: defaultsTo(true, flag(), "false: the query runs as typed."),
  ...ASKER_MEMBERS,
};
/** A query's parameters. Unknown parameters are ignored. */
export const QUERY = object(MEMBERS, { unknown: "ignored", nulls: "refused" });

type QueryValues = ValuesOf<typeof MEMBERS>;

/**
 * What a client's queries have in common, whatever they search for. Queries that differ only in their text,
 * filter values and page may share one object, so whatever is derived from it can be cached by its identity.
 * Never changed.
 */
export interface QueryShape {
  readonly searchMode: AskedMode;
  /** Empty only if the query browses an index without searchable fields. */
  readonly fields: readonly WeightedField[];
  /** The documents that the caller may see. Null if the caller may see all. */
  readonly within: Within | null;
  /** Fields with facet: true, in request order, without duplicates. */
  readonly facets: readonly ResolvedField[];
  readonly maxFacetValues: number;
  /** Null means by relevance. */
  readonly sort: readonly SortRequest[] | null;
  /** String fields to highlight, without duplicates. */
  readonly highlight: readonly ResolvedField[];
  readonly keepFields: readonly string[] | null;
  readonly dropFields: readonly string[] | null;
  /** True if every hit's rank is to be explained. */
  readonly explain: boolean;
  /** True if query understanding may change the query. */
  readonly ai: boolean;
}

export interface QueryRequest {
  readonly shape: QueryShape;
  readonly q: string;
  /** The query text as the client sent it. Query understanding may have changed `q`. */
  readonly typed: string;
  /** The vector that the client sent with the query, normalised to length 1, or null. */
  readonly vector: Float32Array | null;
  /**
   * Words and phrases that the user does not want, found by query understanding. Documents with them rank
   * lower.
   */
  readonly avoided: readonly string[];
  /** True if the query lists documents instead of searching for words. */
  readonly browse: boolean;
  /** Includes the condition of the shape's `within`. */
  readonly filter: FilterProgram;
  readonly perPage: number;
  readonly page: number;
  readonly prefix: boolean;
  readonly numTypos: number;
}

/** True for `*` and for a blank text, which list documents instead of searching for words. */
export function isBrowse(q: string): boolean {
  const text = q.trim();
  return text === "" || text === "*";
}

/** What the parameters of a query refer to. */
export interface AskedIndex extends FilteredIndex {
  readonly record: IndexRecord;
}

/** Reads a query body. Throws SK-SE-400, whose message names the parameter. */
export function readQueryRequest(
  body: unknown,
  index: AskedIndex,
  limits: Limits,
  within: Within | null = null,
): QueryRequest {
  return finished(readingOfQueryRequest(body, index, limits, within));
}

/** Like `readQueryRequest`, but in small steps, because a filter may be long. */
export function* readingOfQueryRequest(
  body: unknown,
  index: AskedIndex,
  limits: Limits,
  within: Within | null = null,
): Generator<void, QueryRequest> {
  const { record, schema } = index;
  const given = QUERY.read(body, "", queryRules(limits));
  const { q, vector = null, fields: keepFields = null, exclude_fields: excluded = null } = given;
  if (vector !== null) checkVectorFits(record.settings);
  const browse = isBrowse(q);
  const fields = queryFields(given, schema, browse);
  const filter = both(within?.filter ?? NO_FILTER, yield* queryFilter(given, index, limits));
  const shape: QueryShape = {
    searchMode: given.search_mode ?? "auto",
    fields,
    within,
    facets: facetFields(given, schema),
    maxFacetValues: given.max_facet_values,
    sort: querySort(given, schema),
    highlight: highlightFields(given, schema),
    keepFields,
    dropFields: keepFields === null ? excluded : null,
    explain: given.explain,
    ai: given.ai,
  };
  return {
    shape,
    q,
    typed: q,
    vector,
    avoided: [],
    browse,
    filter,
    perPage: given.per_page,
    page: given.page,
    prefix: given.prefix ?? record.settings.prefix,
    numTypos: given.num_typos ?? record.settings.num_typos,
  };
}

function queryFields(given: QueryValues, schema: ResolvedSchema, browse: boolean): readonly WeightedField[] {
  const names = commaList(given.query_by);
  const weightTexts = commaList(given.query_by_weights);
  const fields =
    names.length === 0
      ? schema.searchable.map((entry) => entry.field)
      : searchedFields("query_by", names, schema);
  if (fields.length === 0 && !browse)
    throw invalid("query_by is missing, and the index has no searchable fields");
  if (weightTexts.length === 0)
    return names.length === 0
      ? schema.searchable
      : fields.map((field) => ({ field, weight: schema.weightOf(field) }));
  if (weightTexts.length !== fields.length) {
    throw invalid(
      `query_by_weights must have one weight for each of the ${fields.length} searched fields, not ${weightTexts.length}`,
    );
  }
  return fields.map((field, i) => ({ field, weight: positiveWeight(weightTexts[i] as string) }));
}

/**
 * Returns the named fields. Throws SK-SE-400 if a field cannot be searched or is named twice; the message
 * names `parameter`.
 */
export function searchedFields(
  parameter: string,
  names: readonly string[],
  schema: ResolvedSchema,
): ResolvedField[] {
  if (names.length > FIXED_LIMITS.queryFieldsMax)
    throw invalid(`${parameter} names more than ${FIXED_LIMITS.queryFieldsMax} fields`);
  const fields = names.map((name) => {
    const field = schema.field(name);
    if (field === undefined)
      throw invalid(`${parameter}: unknown field '${name}'; expected a field of the schema`);
    if (field.unready.includes("index"))
      throw invalid(`${parameter}: field '${name}' is being re-indexed and cannot be searched yet`);
    if (!isSearchable(field)) {
      throw invalid(
        `${parameter}: field '${name}' cannot be searched; expected an indexed string or string[] field`,
      );
    }
    return field;
  });
  if (new Set(fields).size < fields.length) throw invalid(`${parameter} names a field twice`);
  return fields;
}

function positiveWeight(text: string): number {
  const weight = /^\d*\.?\d+$/.test(text) ? Number(text) : 0;
  if (!(weight > 0) || weight > FIXED_LIMITS.fieldWeightMax) {
    throw invalid(
      `query_by_weights: '${text.slice(0, 40)}' is not a weight; expected a positive number up to ${FIXED_LIMITS.fieldWeightMax}`,
    );
  }
  return weight;
}

function* queryFilter(
  { filters: native, filter_by: legacy }: QueryValues,
  index: FilteredIndex,
  limits: Limits,
): Generator<void, FilterProgram> {
  if (legacy !== undefined)
    return legacy.trim() === "" ? NO_FILTER : yield* compilingOfFilter(legacy, index, limits);
  return native === undefined ? NO_FILTER : yield* compilingOfNativeFilter(native, index, limits);
}

/** Returns the facet fields. Unknown fields and fields without facet: true are ignored. */
function facetFields(given: QueryValues, schema: ResolvedSchema): ResolvedField[] {
  const { facets: native = [], facet_by: legacy } = given;
  const names = legacy === undefined ? native : commaList(legacy);
  const fields = new Set<ResolvedField>();
  for (const name of names) {
    const field = schema.field(name.trim());
    if (field?.facet === true) fields.add(field);
  }
  if (fields.size > FIXED_LIMITS.facetFieldsMax) {
    throw invalid(
      `${legacy === undefined ? "facets" : "facet_by"} names more than ${FIXED_LIMITS.facetFieldsMax} fields`,
    );
  }
  return [...fields];
}

function querySort(given: QueryValues, schema: ResolvedSchema): SortRequest[] | null {
  const { sort: native, sort_by: legacy } = given;
  const [name, text] = legacy === undefined ? ["sort", native] : ["sort_by", legacy];
  const items = commaList(text);
  if (items.length > FIXED_LIMITS.sortKeysMax)
    throw invalid(`${name} names more than ${FIXED_LIMITS.sortKeysMax} fields`);
  return items.length === 0 ? null : parseSort(name, items, schema);
}

/** Returns the fields to highlight. Unknown fields and fields without text are ignored. */
function highlightFields(given: QueryValues, schema: ResolvedSchema): ResolvedField[] {
  const fields = new Set<ResolvedField>();
  for (const name of commaList(given.highlight_fields)) {
    const field = schema.field(name);
    if (field?.kind === "string") fields.add(field);
  }
  if (fields.size > FIXED_LIMITS.queryFieldsMax) {
    throw invalid(`highlight_fields names more than ${FIXED_LIMITS.queryFieldsMax} fields`);
  }
  return [...fields];
}
