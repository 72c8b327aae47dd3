// The normalised form of a query's text. Counts of searches use this form.

/** Applies NFKC and lower case, collapses white space and trims (`Blue  SHOES ` becomes `blue shoes`). */
export function normalisedText(typed: string): string {
  return typed.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
}

/** True if `longer` is `shorter` plus more letters typed at its end. */
export function continues(longer: string, shorter: string): boolean {
  return longer.length > shorter.length && longer.startsWith(shorter);
}
