// Errors and comma-separated lists, shared by all files that read query parameters.
import { SkeinError } from "../../ground/errors.js";
import type { InputRules } from "../../ground/input/readers.js";
import type { Limits } from "../../ground/limits.js";

/** Rules for reading the input of queries, whose errors have the code SK-SE-400. */
export function queryRules(limits: Limits): InputRules {
  return { limits, code: "SK-SE-400" };
}

/** Returns a SK-SE-400 error. `sentence` is its message, which must name the parameter. */
export function invalid(sentence: string): SkeinError {
  return new SkeinError("SK-SE-400", sentence);
}

/** Returns the non-empty, trimmed parts of a comma-separated text. */
export function commaList(text: string | undefined): string[] {
  if (text === undefined) return [];
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
