// The body of a suggest request -> a SuggestRequest: every parameter checked and resolved against the index.
// What it shares with a query (the text, the filter) is read by the query's own reader.
import type { Token } from "../../engine-wasm/host/instance/workbench.js";
import type { IndexRecord } from "../catalog/types.js";
import type { Limits } from "../limits.js";
import { BodyReader, commaList, invalid } from "../request/query-body.js";
import { type QueryRequest, readQueryRequest } from "../request/query-request.js";
import { type IndexView, isSearchable, type ViewField } from "../schema/index-view.js";

export interface SuggestRequest {
  /** A search of the suggested fields for the input: prefix on, best known documents first, no page yet. */
  readonly query: QueryRequest;
  /** In the order of the request, each once, at least one. */
  readonly fields: readonly ViewField[];
  readonly perPage: number;
  /** null: suggest values of the fields. */
  readonly groupBy: ViewField | null;
}

const PER_PAGE = 5;
/** Shorter words are not corrected: nearly every one of them has another word one letter away. */
const TYPO_LETTERS_MIN = 4;

/** Throws SkeinError SK-SE-400 with a sentence that names the parameter. */
export function readSuggestRequest(
  body: unknown,
  record: IndexRecord,
  view: IndexView,
  limits: Limits,
): SuggestRequest {
  const reader = new BodyReader(body);
  const q = reader.text("q");
  if (q === undefined) throw invalid("q is required: what has been typed so far.");
  const fields = suggestedFields(reader, view, limits);
  const filter = reader.text("filter_by");
  const query = readQueryRequest(
    {
      q,
      query_by: fields.map((field) => field.name).join(","),
      prefix: true,
      ...(filter === undefined ? {} : { filter_by: filter }),
    },
    record,
    view,
    limits,
  );
  return {
    query: { ...query, sort: popularityFirst(view) },
    fields,
    perPage: reader.clamped("per_page", PER_PAGE, 1, limits.suggestionsMax),
    groupBy: groupField(reader, view),
  };
}

/** Whether a text has a word that is long enough to be corrected. */
export function mayBeMisspelt(words: readonly Token[]): boolean {
  return words.some(({ term, parts }) => parts === 1 && [...term].length >= TYPO_LETTERS_MIN);
}

function suggestedFields(reader: BodyReader, view: IndexView, limits: Limits): ViewField[] {
  const names = commaList(reader.text("suggest_by"));
  if (names.length === 0) throw invalid("suggest_by is required: the fields to suggest from.");
  if (names.length > limits.queryFieldsMax)
    throw invalid(`suggest_by names more than ${limits.queryFieldsMax} fields.`);
  const fields = names.map((name) => {
    const field = view.field(name);
    if (field === undefined)
      throw invalid(`suggest_by: unknown field '${name}'; expected a field of the schema.`);
    if (!isSearchable(field)) {
      throw invalid(
        `suggest_by: field '${name}' has no searchable text; expected an indexed string or string[] field.`,
      );
    }
    return field;
  });
  if (new Set(fields).size < fields.length) throw invalid("suggest_by names a field twice.");
  return fields;
}

function groupField(reader: BodyReader, view: IndexView): ViewField | null {
  const name = reader.text("group_by_field")?.trim() ?? "";
  if (name === "") return null;
  const field = view.field(name);
  if (field === undefined)
    throw invalid(`group_by_field: unknown field '${name}'; expected a field of the schema.`);
  if (!field.facet) {
    throw invalid(
      `group_by_field: documents cannot be counted by field '${name}'; its schema entry needs facet: true.`,
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
