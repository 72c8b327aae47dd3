// Computes the normalised form of a query's text. Searches are counted by this form.

/** Applies NFKC and lower case, collapses white space and trims (`Blue  SHOES ` becomes `blue shoes`). */
export function normalisedText(typed: string): string {
  return typed.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
}

/** True if a person who typed `shorter` may have gone on to type `longer`. */
export function continues(longer: string, shorter: string): boolean {
  return longer.length > shorter.length && longer.startsWith(shorter);
}
