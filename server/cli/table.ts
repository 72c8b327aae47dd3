// Formats text tables for terminals. Measures cell widths, fits the columns into a total width, and truncates
// with an ellipsis. Cells are untrusted text, so control characters are replaced before they reach the
// terminal. Pure functions.

export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
  /** The column is not narrowed below this width to make the table fit. Default 6. */
  readonly minWidth?: number;
}

const GAP = 2;
const DEFAULT_MIN_WIDTH = 6;
const ELLIPSIS = "…";

/**
 * Returns the table's lines: the header, a horizontal rule, then the rows. No line is wider than `width`
 * unless the columns' minimum widths require it.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const cells = rows.map((row) => columns.map((_, i) => oneLine(row[i] ?? "")));
  const widths = columns.map((column, i) =>
    Math.max(displayWidth(column.title), ...cells.map((row) => displayWidth(row[i]!))),
  );
  fitWidths(columns, widths, width);
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => pad(cell, widths[i]!, columns[i]!.align ?? "left"))
      .join(" ".repeat(GAP))
      .trimEnd();
  return [
    line(columns.map((column) => column.title)),
    line(widths.map((w) => "─".repeat(w))),
    ...cells.map(line),
  ];
}

/**
 * Narrows the widest column by one, again and again, until a row fits or all columns have their minimum
 * width.
 */
function fitWidths(columns: readonly Column[], widths: number[], width: number): void {
  const least = columns.map((column, i) => Math.min(widths[i]!, column.minWidth ?? DEFAULT_MIN_WIDTH));
  let excess = widths.reduce((sum, w) => sum + w, 0) + GAP * (columns.length - 1) - width;
  while (excess > 0) {
    let widest = -1;
    for (let i = 0; i < widths.length; i++) {
      if (widths[i]! > least[i]! && (widest < 0 || widths[i]! > widths[widest]!)) widest = i;
    }
    if (widest < 0) return;
    widths[widest]!--;
    excess--;
  }
}

function pad(text: string, width: number, align: "left" | "right"): string {
  const cut = truncate(text, width);
  const fill = " ".repeat(Math.max(0, width - displayWidth(cut)));
  return align === "right" ? fill + cut : cut + fill;
}

/** Returns a text of at most `width` terminal columns. Truncated text ends with an ellipsis. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const character of text) {
    const w = characterWidth(character.codePointAt(0)!);
    if (used + w > width - 1) break;
    kept += character;
    used += w;
  }
  return width <= 0 ? "" : kept.trimEnd() + ELLIPSIS;
}

/**
 * Returns the text as one printable line: runs of white space and control characters become single spaces.
 */
export function oneLine(text: string): string {
  return text
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ")
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, "")
    .trim();
}

/** Width of a printable text in terminal columns. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character.codePointAt(0)!);
  return width;
}

const COMBINING = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

function characterWidth(cp: number): number {
  if (cp < 0x300) return 1;
  if (COMBINING.test(String.fromCodePoint(cp))) return 0;
  const wide =
    (cp >= 0x1100 && cp <= 0x115f) || // Hangul initials
    (cp >= 0x2e80 && cp <= 0xa4cf && cp !== 0x303f) || // CJK, kana, Yi
    (cp >= 0xac00 && cp <= 0xd7a3) || // Hangul syllables
    (cp >= 0xf900 && cp <= 0xfaff) ||
    (cp >= 0xfe30 && cp <= 0xfe6f) ||
    (cp >= 0xff00 && cp <= 0xff60) ||
    (cp >= 0xffe0 && cp <= 0xffe6) ||
    (cp >= 0x1f300 && cp <= 0x1faff) || // emoji
    (cp >= 0x20000 && cp <= 0x3fffd);
  return wide ? 2 : 1;
}

/** Formats a number with commas (12,345), whatever the locale. */
export function grouped(n: number): string {
  return Math.round(n).toLocaleString("en-US");
}
