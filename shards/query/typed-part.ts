// Finds where a term's typed beginning ends in a token's text. Folding may change the number of letters (ß
// becomes ss, ½ becomes 12, an accent may be a character of its own), so text with anything but plain letters
// is measured with the analyser.
import type { AnalysisSettings, Token, Workbench } from "../../engine-wasm/host/instance/workbench.js";

const letters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/**
 * Returns a byte offset in the text. If the typed beginning would end inside a grapheme cluster, returns the
 * token's end.
 */
export function typedEnd(
  text: Buffer,
  { start, end, term }: Token,
  typed: string,
  analysis: AnalysisSettings,
  workbench: Workbench,
): number {
  const original = text.toString("utf8", start, end);
  // Both the original and the term have one byte per letter.
  if (end - start === original.length && original.length === term.length) return start + typed.length;
  const cuts = Array.from(letters.segment(original), ({ index, segment }) => index + segment.length);
  const foldedTo = (cut: number): string =>
    workbench.analyse(original.slice(0, cut), analysis)[0]?.term ?? "";
  let low = 0;
  let high = cuts.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (foldedTo(cuts[middle] as number).length < typed.length) low = middle + 1;
    else high = middle;
  }
  const cut = cuts[low] as number;
  return foldedTo(cut) === typed ? start + Buffer.byteLength(original.slice(0, cut)) : end;
}
