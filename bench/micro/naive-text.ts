// Straightforward text processing in JavaScript, which the text kernels are compared with: folding with
// normalize and a regular expression, edit distance with a table.

const TOKEN = /[\p{L}\p{N}]+/gu;
const MARKS = /\p{M}+/gu;

/**
 * Returns a text's words, folded. Agrees with the engine on generated catalogues, but not on every script.
 */
export function naiveTokens(text: string): string[] {
  return text.toLowerCase().normalize("NFKD").replace(MARKS, "").match(TOKEN) ?? [];
}

/**
 * Counts insertions, deletions, substitutions and adjacent transpositions. No character is edited twice
 * (optimal string alignment).
 */
export function naiveDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, rows[i - 2]![j - 2]! + 1);
      }
      row.push(best);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
