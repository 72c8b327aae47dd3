// Which part of a long text a snippet shows: the stretch of tokens with the most different matched words, with
// its matches in the middle. Pure.

export interface MarkedToken {
  token: number;
  word: string;
}

/** Tokens first..end - 1. */
export interface SnippetWindow {
  first: number;
  end: number;
}

/** `marks` ascend by token. `size` 0, or a text that is not longer: everything. */
export function chooseWindow(tokens: number, marks: readonly MarkedToken[], size: number): SnippetWindow {
  if (size === 0 || tokens <= size || marks.length === 0) return { first: 0, end: tokens };
  const { from, to } = bestStretch(marks, size);
  const firstMark = marks[from]!.token;
  const lastMark = marks[to]!.token;
  const margin = (size - (lastMark - firstMark + 1)) >> 1;
  const first = Math.max(0, Math.min(firstMark - margin, tokens - size));
  return { first, end: first + size };
}

/** Marks from..to within `size` tokens: most different words, then most marks, then the earliest. */
function bestStretch(marks: readonly MarkedToken[], size: number): { from: number; to: number } {
  const counts = new Map<string, number>();
  let best = { from: 0, to: 0, words: 0, marks: 0 };
  let from = 0;
  for (const [to, { token, word }] of marks.entries()) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
    while (token - marks[from]!.token >= size) {
      const left = marks[from++]!.word;
      const count = counts.get(left)! - 1;
      if (count === 0) counts.delete(left);
      else counts.set(left, count);
    }
    const inside = to - from + 1;
    if (counts.size > best.words || (counts.size === best.words && inside > best.marks)) {
      best = { from, to, words: counts.size, marks: inside };
    }
  }
  return best;
}
