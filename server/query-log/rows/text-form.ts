// The normalised form of a query's text. Searches are counted under it.

/** Applies NFKC and lower case, collapses white space and trims (`Blue  SHOES ` becomes `blue shoes`). */
export function normalisedText(typed: string): string {
  return typed.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
}

/** True if `longer` is `shorter` with more letters typed after it. */
export function continues(longer: string, shorter: string): boolean {
  return longer.length > shorter.length && longer.startsWith(shorter);
}
