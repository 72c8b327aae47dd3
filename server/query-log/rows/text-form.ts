// The form of a query's text under which its searches are counted together.

/** NFKC, lower case, single spaces, none around it (`Blue  SHOES ` and `blue shoes`). */
export function normalisedText(typed: string): string {
  return typed.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
}

/** `longer` goes on where `shorter` ends: its writer has typed more letters. */
export function continues(longer: string, shorter: string): boolean {
  return longer.length > shorter.length && longer.startsWith(shorter);
}
