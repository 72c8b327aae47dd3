// Compiles filters for the document routes (deletion, export), which use the filter language of queries.
import type { FilterProgram } from "../../../engine-wasm/host/programs/filter-program.js";
import { EVERY_DOCUMENT, type SearchProgram } from "../../../engine-wasm/host/programs/search-program.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { resolvedSchemaOf } from "../../catalog/schema/resolved-schema.js";
import type { AnalyserOf } from "../../catalog/schema/text-analyser.js";
import { SkeinError } from "../../ground/errors.js";
import type { Limits } from "../../ground/limits.js";
import { compileFilter } from "../../question/filter/filter-compile.js";

/** Everything needed to compile a filter. */
export interface FilterTexts {
  readonly limits: Limits;
  readonly analyserOf: AnalyserOf;
}

/** Compiles a filter. Throws SkeinError SK-DOC-400 with the error's position if it is invalid. */
export function compileDocumentFilter(
  { limits, analyserOf }: FilterTexts,
  record: IndexRecord,
  filterBy: string,
): FilterProgram {
  try {
    return compileFilter(
      filterBy,
      { schema: resolvedSchemaOf(record), analyser: analyserOf(record) },
      limits,
    );
  } catch (error) {
    if (!(error instanceof SkeinError) || error.code !== "SK-SE-400") throw error;
    const { message, details } = error;
    throw new SkeinError("SK-DOC-400", message, {
      cause: error,
      ...(details === undefined ? {} : { details }),
    });
  }
}

/** A search program that selects every document matching the filter, newest first. */
export function filterProgram(filter: FilterProgram): SearchProgram {
  return { ...EVERY_DOCUMENT, filter };
}
