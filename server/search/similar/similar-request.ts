// Validates a request body for similar documents.
import { defaultsTo, object, optional } from "../../ground/input/object-reader.js";
import { clamped, text, texts } from "../../ground/input/readers.js";
import type { Limits } from "../../ground/limits.js";
import { both, type FilterNode } from "../../question/filter/filter-ast.js";
import { parseFilter } from "../../question/filter/filter-parser.js";
import { queryRules } from "../../question/request/query-lists.js";
import type { Within } from "../../question/request/within.js";

export const SIMILAR = object(
  {
    per_page: defaultsTo(10, clamped(0, "pageDocumentsMax")),
    filter_by: optional(text(), "Filter expression, as in a query."),
    fields: optional(texts(), "Members of the documents to return; default: all."),
  },
  { unknown: "ignored", nulls: "refused" },
);

export interface SimilarRequest {
  readonly perPage: number;
  readonly filter: FilterNode | null;
  readonly fields: readonly string[] | null;
}

/** Reads the body of a request. Throws SkeinError SK-SE-400, whose message names the parameter. */
export function readSimilarRequest(body: unknown, limits: Limits, within: Within | null): SimilarRequest {
  const given = SIMILAR.read(body, "", queryRules(limits));
  const { per_page: perPage, filter_by: filter = "", fields = null } = given;
  const own = filter.trim() === "" ? null : parseFilter(filter, limits);
  return { perPage, filter: both(within?.filter ?? null, own), fields };
}
