// Chooses the part of a long text that a snippet shows. It is the stretch of tokens with the most distinct
// matched words, preceded by the start of its sentence if that fits. Pure functions.
import type { TextBreak } from "./text-breaks.js";

/** A mark that covers tokens `first` to `last`. */
interface MarkedRange {
  readonly first: number;
  readonly last: number;
  /** Indexes of the query words that the mark stands for. */
  readonly words: readonly number[];
}

/** Tokens `first` to `end` - 1. */
export interface SnippetWindow {
  first: number;
  end: number;
}

/**
 * `marks` are in ascending order and share no tokens. Returns the whole text if `size` is 0 or the text has
 * at most `size` tokens. A mark is never cut: the window shrinks to leave out a mark at its edge, and it
 * exceeds `size` only if a single mark is longer than that.
 */
export function chooseWindow(
  tokens: number,
  marks: readonly MarkedRange[],
  size: number,
  breakBefore: (token: number) => TextBreak,
): SnippetWindow {
  if (size === 0 || tokens <= size || marks.length === 0) return { first: 0, end: tokens };
  const stretch = bestStretch(marks, size);
  const from = (marks[stretch.from] as MarkedRange).first;
  const to = (marks[stretch.to] as MarkedRange).last + 1;
  if (to - from >= size) return { first: from, end: to };
  const first = chooseStart(
    Math.max(0, to - size),
    Math.min(from, tokens - size),
    from - ((size - to + from) >> 1),
    breakBefore,
  );
  return withoutHalfMarks({ first, end: first + size }, marks);
}

/**
 * Returns the best run of marks (from..to) that fits within `size` tokens: the run with the most distinct
 * words, then the most marks, then the fewest tokens. Among equal runs, the earliest wins.
 */
function bestStretch(marks: readonly MarkedRange[], size: number): { from: number; to: number } {
  const counts = new Map<number, number>();
  let best = { from: 0, to: 0, words: 0, marks: 0, tokens: 0 };
  let from = 0;
  for (const [to, { last, words }] of marks.entries()) {
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    while (from < to && last - (marks[from] as MarkedRange).first >= size)
      leave(counts, marks[from++] as MarkedRange);
    const found = {
      from,
      to,
      words: counts.size,
      marks: to - from + 1,
      tokens: last - (marks[from] as MarkedRange).first + 1,
    };
    const better = found.words - best.words || found.marks - best.marks || best.tokens - found.tokens;
    if (better > 0) best = found;
  }
  return best;
}

function leave(counts: Map<number, number>, { words }: MarkedRange): void {
  for (const word of words) {
    const count = (counts.get(word) as number) - 1;
    if (count === 0) counts.delete(word);
    else counts.set(word, count);
  }
}

/**
 * Chooses a start from `low` to `high`: the last position where a sentence begins; failing that, the clause
 * start nearest to `centred`; failing that, `centred` itself, clamped to the range. (`centred` is the start
 * that centres the stretch.)
 */
function chooseStart(
  low: number,
  high: number,
  centred: number,
  breakBefore: (token: number) => TextBreak,
): number {
  const middle = Math.max(low, Math.min(centred, high));
  let clause: number | null = null;
  for (let at = high; at >= low; at--) {
    const begins = breakBefore(at);
    if (begins === "sentence") return at;
    if (begins === "clause" && (clause === null || Math.abs(at - middle) < Math.abs(clause - middle)))
      clause = at;
  }
  return clause ?? middle;
}

function withoutHalfMarks({ first, end }: SnippetWindow, marks: readonly MarkedRange[]): SnippetWindow {
  const atStart = marks.find((mark) => mark.first < first && mark.last >= first);
  const atEnd = marks.find((mark) => mark.first < end && mark.last >= end);
  return {
    first: atStart === undefined ? first : atStart.last + 1,
    end: atEnd === undefined ? end : atEnd.first,
  };
}
