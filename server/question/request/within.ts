// Determines which documents a search token's holder may see. The token's filter is added to every search's
// filter. Whatever else an answer reveals about an index (its size, other spellings, values that queries may
// name) must come from these documents, too.
import type { FilterProgram } from "../../../engine-wasm/host/programs/filter-program.js";
import { SkeinError } from "../../ground/errors.js";
import type { Limits } from "../../ground/limits.js";
import { compileFilter, type FilteredIndex } from "../filter/filter-compile.js";

export interface Within {
  /** The filter text in the token. */
  readonly text: string;
  readonly filter: FilterProgram;
}

/**
 * Reads a token's filter. Returns null for an empty filter, which allows every document. Throws SK-SE-400 if
 * the filter does not fit the index, so that the token's holder sees nothing.
 */
export function readWithin(text: string, index: FilteredIndex, limits: Limits): Within | null {
  if (text === "") return null;
  try {
    return { text, filter: compileFilter(text, index, limits) };
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    throw new SkeinError(error.code, `the search token's ${error.message}`, { cause: error });
  }
}
