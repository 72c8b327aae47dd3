// The body of a suggest request -> a SuggestRequest: every parameter checked and resolved against the index.
// What it shares with a query (the text, the filter) is read by the query's own reader.
import type { Token } from "../../../engine-wasm/host/instance/workbench.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { IndexView, ViewField } from "../../catalog/schema/index-view.js";
import { defaultsTo, object, optional, required } from "../../ground/input/object-reader.js";
import { clamped, text } from "../../ground/input/readers.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import { commaList, invalid, queryRules } from "../../question/request/query-lists.js";
import { type QueryRequest, readQueryRequest, searchedFields } from "../../question/request/query-request.js";
import type { Within } from "../../question/request/within.js";
import { LOGGED_QUERIES } from "./suggest-list.js";

export interface SuggestRequest {
  /** A search of the suggested fields for the input: prefix on, best known documents first, no page yet. */
  readonly query: QueryRequest;
  /** In the order of the request, each once. None when only queries are suggested. */
  readonly fields: readonly ViewField[];
  /** Suggest queries that people searched for. */
  readonly queries: boolean;
  readonly perPage: number;
  /** null: suggest values of the fields. */
  readonly groupBy: ViewField | null;
}

/** The parameters of a suggest request: unknown ones are ignored. */
export const SUGGEST = object(
  {
    q: required(text("queryTextBytesMax"), "What has been typed so far."),
    suggest_by: required(text(), "Text fields, comma-separated; _queries: what people searched for."),
    per_page: defaultsTo(5, clamped(1, FIXED_LIMITS.suggestionsMax)),
    group_by_field: optional(text(), "A field with facet: true; one suggestion per value of it."),
    filter_by: optional(text(), "Filter expression, as in a query."),
  },
  { unknown: "ignored", nulls: "refused" },
);
/** Shorter words are not corrected: nearly every one of them has another word one letter away. */
const TYPO_LETTERS_MIN = 4;

/** Throws SkeinError SK-SE-400 with a sentence that names the parameter. */
export function readSuggestRequest(
  body: unknown,
  record: IndexRecord,
  view: IndexView,
  limits: Limits,
  within: Within | null,
): SuggestRequest {
  const given = SUGGEST.read(body, "", queryRules(limits));
  const { q, filter_by: filter } = given;
  const { fields, queries } = suggestedFields(given.suggest_by, view);
  const groupBy = groupField(given.group_by_field ?? "", view);
  if (groupBy !== null && fields.length === 0)
    throw invalid(`group_by_field needs a field in suggest_by beside ${LOGGED_QUERIES}`);
  const query = readQueryRequest(
    {
      q,
      query_by: fields.map((field) => field.name).join(","), // all searchable ones when it is empty
      prefix: true,
      ...(filter === undefined ? {} : { filter_by: filter }),
    },
    record,
    view,
    limits,
    within,
  );
  return {
    query: { ...query, sort: popularityFirst(view) },
    fields,
    // What other people search for is not for who may see some documents only.
    queries: queries && within === null,
    perPage: given.per_page,
    groupBy,
  };
}

/** Whether a text has a word that is long enough to be corrected. */
export function mayBeMisspelt(words: readonly Token[]): boolean {
  return words.some(({ term, parts }) => parts === 1 && [...term].length >= TYPO_LETTERS_MIN);
}

/** A field of that name goes before what people searched for. */
function suggestedFields(list: string, view: IndexView): Pick<SuggestRequest, "fields" | "queries"> {
  const names = commaList(list);
  if (names.length === 0) throw invalid("suggest_by is missing; expected the fields to suggest from");
  const queries = names.includes(LOGGED_QUERIES) && view.field(LOGGED_QUERIES) === undefined;
  const fieldNames = queries ? names.filter((name) => name !== LOGGED_QUERIES) : names;
  return { fields: searchedFields("suggest_by", fieldNames, view), queries };
}

function groupField(given: string, view: IndexView): ViewField | null {
  const name = given.trim();
  if (name === "") return null;
  const field = view.field(name);
  if (field === undefined)
    throw invalid(`group_by_field: unknown field '${name}'; expected a field of the schema`);
  if (!field.facet) {
    throw invalid(
      `group_by_field: documents cannot be counted by field '${name}'; its schema entry needs facet: true`,
    );
  }
  return field;
}

/** The default sorting field stands for popularity; without one the best match comes first. */
function popularityFirst(view: IndexView): QueryRequest["sort"] {
  if (view.defaultSort === null) return null;
  return [
    { field: view.defaultSort, descending: true },
    { field: null, descending: true },
  ];
}
