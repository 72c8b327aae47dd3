// Validates a request body for similar documents.
import { type FilterProgram, NO_FILTER } from "../../../engine-wasm/host/programs/filter-program.js";
import { defaultsTo, object, optional } from "../../ground/input/object-reader.js";
import { clamped, text, texts } from "../../ground/input/readers.js";
import type { Limits } from "../../ground/limits.js";
import { both, compileFilter, type FilteredIndex } from "../../question/filter/filter-compile.js";
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
  readonly filter: FilterProgram;
  readonly fields: readonly string[] | null;
}

/** Reads the body of a request. Throws SkeinError SK-SE-400, whose message names the parameter. */
export function readSimilarRequest(
  body: unknown,
  index: FilteredIndex,
  limits: Limits,
  within: Within | null,
): SimilarRequest {
  const given = SIMILAR.read(body, "", queryRules(limits));
  const { per_page: perPage, filter_by: filter = "", fields = null } = given;
  const own = filter.trim() === "" ? NO_FILTER : compileFilter(filter, index, limits);
  return { perPage, filter: both(within?.filter ?? NO_FILTER, own), fields };
}
