// Determines which documents a search token's holder may see. The token's filter is added to every search's
// filter. Whatever else an answer reveals about an index (its size, other spellings, values that queries may
// name) must come from these documents, too.
import type { FilterOp } from "../../../engine-wasm/host/programs/filter-program.js";
import type { ResolvedSchema } from "../../catalog/schema/resolved-schema.js";
import type { TextAnalyser } from "../../catalog/schema/text-analyser.js";
import { SkeinError } from "../../ground/errors.js";
import type { Limits } from "../../ground/limits.js";
import type { FilterNode } from "../filter/filter-ast.js";
import { compileFilter } from "../filter/filter-compile.js";
import { parseFilter } from "../filter/filter-parser.js";

export interface Within {
  /** The filter text in the token. */
  readonly text: string;
  readonly filter: FilterNode;
  readonly program: readonly FilterOp[];
}

/**
 * Reads a token's filter. Returns null for an empty filter, which allows every document. Throws SK-SE-400 if
 * the filter does not fit the index, so that the token's holder sees nothing.
 */
export function readWithin(
  text: string,
  { schema, analyser }: { readonly schema: ResolvedSchema; readonly analyser: TextAnalyser },
  limits: Limits,
): Within | null {
  if (text === "") return null;
  try {
    const filter = parseFilter(text, limits);
    return { text, filter, program: compileFilter(filter, schema, analyser) };
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    throw new SkeinError(error.code, `the search token's ${error.message}`, { cause: error });
  }
}
