// What the readers of queries share: refusals and comma-separated lists.
import { SkeinError } from "../errors.js";

/** `sentence` names the parameter. */
export function invalid(sentence: string): SkeinError {
  return new SkeinError("SK-SE-400", sentence);
}

/** The non-empty, trimmed parts of a comma-separated text. */
export function commaList(text: string | undefined): string[] {
  if (text === undefined) return [];
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
