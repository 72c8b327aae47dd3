// Converts a suggest request's body to a SuggestRequest: every parameter is validated and resolved against
// the index. The parameters shared with queries (the text and the filter) are read by the query reader.
import type { Token } from "../../../engine-wasm/host/instance/workbench.js";
import type { ResolvedField, ResolvedSchema } from "../../catalog/schema/resolved-schema.js";
import { defaultsTo, object, optional, required } from "../../ground/input/object-reader.js";
import { clamped, text } from "../../ground/input/readers.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import { commaList, invalid, queryRules } from "../../question/request/query-lists.js";
import {
  type AskedIndex,
  type QueryRequest,
  type QueryShape,
  readQueryRequest,
  searchedFields,
} from "../../question/request/query-request.js";
import type { Within } from "../../question/request/within.js";
import { LOGGED_QUERIES } from "./suggest-list.js";

export interface SuggestRequest {
  /**
   * A search for the input in the suggested fields: the last word is a prefix, and the most popular documents
   * come first. The caller still has to set the page.
   */
  readonly query: QueryRequest;
  /** In request order, without duplicates. Empty if only queries are suggested. */
  readonly fields: readonly ResolvedField[];
  /** True if popular queries are suggested. */
  readonly queries: boolean;
  readonly perPage: number;
  /** The field to group by. Null if the fields' values are suggested. */
  readonly groupBy: ResolvedField | null;
}

/** A suggest request's parameters. Unknown parameters are ignored. */
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
/**
 * Words with fewer letters are not corrected, because nearly every short word is one letter away from
 * another.
 */
const TYPO_LETTERS_MIN = 4;

/** Reads the body of a suggest request. Throws SkeinError SK-SE-400, whose message names the parameter. */
export function readSuggestRequest(
  body: unknown,
  index: AskedIndex,
  limits: Limits,
  within: Within | null,
): SuggestRequest {
  const { schema } = index;
  const given = SUGGEST.read(body, "", queryRules(limits));
  const { q, filter_by: filter } = given;
  const { fields, queries } = suggestedFields(given.suggest_by, schema);
  const groupBy = groupField(given.group_by_field ?? "", schema);
  if (groupBy !== null && fields.length === 0)
    throw invalid(`group_by_field needs a field in suggest_by besidess ${LOGGED_QUERIES}`);
  const query = readQueryRequest(
    {
      q,
      query_by: fields.map((field) => field.name).join(","), // "" searches all searchable fields
      prefix: true,
      ...(filter === undefined ? {} : { filter_by: filter }),
    },
    index,
    limits,
    within,
  );
  return {
    query: { ...query, shape: { ...query.shape, sort: popularityFirst(schema) } },
    fields,
    // Callers who may see only some documents must not see other people's searches.
    queries: queries && within === null,
    perPage: given.per_page,
    groupBy,
  };
}

/** True if any word is long enough to be corrected. */
export function mayBeMisspelt(words: readonly Token[]): boolean {
  return words.some(({ term, parts }) => parts === 1 && [...term].length >= TYPO_LETTERS_MIN);
}

/** If the index has a field with the name reserved for past searches, that name means the field. */
function suggestedFields(list: string, schema: ResolvedSchema): Pick<SuggestRequest, "fields" | "queries"> {
  const names = commaList(list);
  if (names.length === 0) throw invalid("suggest_by is missing; expected the fields to suggest from");
  const queries = names.includes(LOGGED_QUERIES) && schema.field(LOGGED_QUERIES) === undefined;
  const fieldNames = queries ? names.filter((name) => name !== LOGGED_QUERIES) : names;
  return { fields: searchedFields("suggest_by", fieldNames, schema), queries };
}

function groupField(given: string, schema: ResolvedSchema): ResolvedField | null {
  const name = given.trim();
  if (name === "") return null;
  const field = schema.field(name);
  if (field === undefined)
    throw invalid(`group_by_field: unknown field '${name}'; expected a field of the schema`);
  if (field.unready.includes("facet"))
    throw invalid(
      `group_by_field: field '${name}' is being re-indexed, so documents cannot be counted by it yet`,
    );
  if (!field.facet) {
    throw invalid(
      `group_by_field: documents cannot be counted by field '${name}'; its schema entry needs facet: true`,
    );
  }
  return field;
}

/** Sorts by the default sorting field, as a measure of popularity, and then by best match. */
function popularityFirst(schema: ResolvedSchema): QueryShape["sort"] {
  if (schema.defaultSort === null) return null;
  return [
    { field: schema.defaultSort, descending: true },
    { field: null, descending: true },
  ];
}
