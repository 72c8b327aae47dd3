// Determines what an API key may do (its scopes and index patterns), and which of these rights it may grant
// to another key.
import { SCOPES, type Scope } from "../../catalog/records/key.js";
import { describe } from "../../ground/input/json-value.js";
import { checked, text } from "../../ground/input/readers.js";
import { FIXED_LIMITS } from "../../ground/limits.js";

export const INDEX_PATTERN = checked(text(FIXED_LIMITS.indexNameBytesMax), (pattern) =>
  /^[a-z0-9_*-]+$/.test(pattern)
    ? null
    : `must be an index name, with * for any characters, not ${describe(pattern)}`,
);

/** `admin` includes every scope. */
export function allows(scopes: readonly Scope[], wanted: Scope): boolean {
  return scopes.includes(wanted) || scopes.includes("admin");
}

/** Returns the scopes that a key with `scopes` may grant. */
export function grantable(scopes: readonly Scope[]): readonly Scope[] {
  return scopes.includes("admin") ? SCOPES : scopes;
}

/**
 * True if the pattern matches the text; `*` matches any characters. The text may itself be a pattern: since
 * only a `*` matches the `*` in it, true then means that the first pattern covers the second. Takes linear
 * time, except for backtracking to the last `*`.
 */
export function patternMatches(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    if (pattern[p] === "*") {
      star = p++;
      resume = t;
    } else if (p < pattern.length && pattern[p] === text[t]) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++resume;
    } else return false;
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

export function anyPatternMatches(patterns: readonly string[], text: string): boolean {
  for (const pattern of patterns) if (pattern === "*" || patternMatches(pattern, text)) return true;
  return false;
}
