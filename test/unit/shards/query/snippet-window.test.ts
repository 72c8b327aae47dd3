// The part of a text that a snippet shows: no larger than requested, with the best marks, and starting at a
// sentence if one begins there.
import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseWindow } from "../../../../shards/query/snippet-window.js";
import type { TextBreak } from "../../../../shards/query/text-breaks.js";

const mark = (first: number, words = [0], last = first) => ({ first, last, words });
const breaks =
  (sentences: number[], clauses: number[] = []) =>
  (token: number): TextBreak =>
    sentences.includes(token) ? "sentence" : clauses.includes(token) ? "clause" : null;
const none = breaks([]);

test("short texts are shown whole, long ones around their marks", () => {
  expect(chooseWindow(10, [], 5, none)).toEqual({ first: 0, end: 10 });
  expect(chooseWindow(10, [mark(9)], 0, none)).toEqual({ first: 0, end: 10 });
  expect(chooseWindow(5, [mark(4)], 5, none)).toEqual({ first: 0, end: 5 });
  expect(chooseWindow(100, [mark(0)], 10, none)).toEqual({ first: 0, end: 10 });
  expect(chooseWindow(100, [mark(99)], 10, none)).toEqual({ first: 90, end: 100 });
  expect(chooseWindow(100, [mark(10), mark(50), mark(59, [1])], 10, none)).toEqual({ first: 50, end: 60 });
});

test("the window has the most different words, then the most marks, then the closest ones", () => {
  expect(chooseWindow(100, [mark(10), mark(12), mark(14), mark(60), mark(61, [1])], 10, none).first).toBe(56);
  expect(chooseWindow(100, [mark(10), mark(40), mark(42)], 10, none).first).toBe(37);
  expect(chooseWindow(100, [mark(10), mark(18, [1]), mark(60), mark(61, [1])], 10, none).first).toBe(56);
  expect(chooseWindow(100, [mark(10, [0, 1]), mark(40), mark(42)], 10, none).first).toBe(6);
});

test("it starts at the last sentence within reach, otherwise at the clause nearest to the middle", () => {
  expect(chooseWindow(100, [mark(50), mark(52)], 11, breaks([40, 44, 47, 51]))).toEqual({
    first: 47,
    end: 58,
  });
  expect(chooseWindow(100, [mark(50), mark(52)], 11, breaks([41, 51], [43, 47, 50]))).toEqual({
    first: 47,
    end: 58,
  });
  expect(chooseWindow(100, [mark(50)], 11, breaks([39, 51], [39, 51]))).toEqual({ first: 45, end: 56 });
  expect(chooseWindow(100, [mark(97)], 10, breaks([95], []))).toEqual({ first: 90, end: 100 });
});

test("marks are never cut", () => {
  expect(chooseWindow(100, [mark(50, [0, 1], 70)], 10, none)).toEqual({ first: 50, end: 71 });
  const neighbours = [mark(40, [0], 46), mark(50, [1]), mark(51, [2]), mark(54, [0], 60)];
  expect(chooseWindow(100, neighbours, 8, none)).toEqual({ first: 47, end: 54 });
});

test("property: it has the requested size unless a mark is in the way, and no stretch has more words", () => {
  const ranges = fc
    .array(fc.tuple(fc.nat(6), fc.nat(3), fc.array(fc.nat(3), { minLength: 1, maxLength: 2 })), {
      minLength: 1,
      maxLength: 30,
    })
    .map((steps) => {
      let at = 0;
      return steps.map(([gap, more, words]) => {
        const range = mark(at + gap, words, at + gap + more);
        at = range.last + 1;
        return range;
      });
    });
  const property = fc.property(
    ranges,
    fc.integer({ min: 1, max: 20 }),
    fc.nat(9),
    fc.nat(7),
    (marks, size, tail, every) => {
      const tokens = marks.at(-1)!.last + 1 + tail;
      const { first, end } = chooseWindow(tokens, marks, size, (token) =>
        every > 0 && token % every === 0 ? "sentence" : null,
      );
      expect(first).toBeGreaterThanOrEqual(0);
      expect(end).toBeLessThanOrEqual(tokens);
      const inside = marks.filter((range) => range.first >= first && range.last < end);
      const cut = marks.filter(
        (range) => range.first < end && range.last >= first && !inside.includes(range),
      );
      expect(cut).toEqual([]);
      expect(inside.length).toBeGreaterThan(0);
      if (end - first > size) expect(inside.length === 1 || tokens <= size).toBe(true);
      const wordsOf = (some: typeof marks): number => new Set(some.flatMap((range) => range.words)).size;
      const most = Math.max(
        ...marks.map((from) =>
          wordsOf(
            marks.filter((to) => to === from || (to.first >= from.first && to.last - from.first < size)),
          ),
        ),
      );
      expect(wordsOf(inside)).toBeGreaterThanOrEqual(most);
    },
  );
  fc.assert(property, { numRuns: 500 });
});
