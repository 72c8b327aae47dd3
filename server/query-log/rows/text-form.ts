// The form of a query's text under which its searches are counted.

/** NFKC, lower case, single spaces, trimmed (`Blue  SHOES ` becomes `blue shoes`). */
export function normalisedText(typed: string): string {
  return typed.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
}

/** True if `longer` continues `shorter`, that is, its writer typed more letters. */
export function continues(longer: string, shorter: string): boolean {
  return longer.length > shorter.length && longer.startsWith(shorter);
}
