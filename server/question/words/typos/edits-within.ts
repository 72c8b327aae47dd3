// Tells whether two words are at most a few typing errors apart: a letter added, missing, wrong, or swapped
// with its neighbour. The distance is the same as in the engine's typo search in a dictionary
// (engine-wasm/assembly/expand), which compares one word with many. This file compares two words. A test
// checks that both agree.

const SURROGATE = /\p{Surrogate}|[\u{10000}-\u{10ffff}]/u;

/**
 * True if `a` can be turned into `b` by at most `most` edits (optimal string alignment distance, in code
 * points).
 */
export function editsWithin(a: string, b: string, most: number): boolean {
  return SURROGATE.test(a) || SURROGATE.test(b) ? isWithin([...a], [...b], most) : isWithin(a, b, most);
}

/** Fills the distance matrix row by row, and stops when all values in a row exceed `most`. */
function isWithin(a: ArrayLike<string>, b: ArrayLike<string>, most: number): boolean {
  if (Math.abs(a.length - b.length) > most) return false;
  if (most === 1) return oneEditApart(a, b);
  const width = b.length + 1;
  let before = new Array<number>(width).fill(0);
  let last = Array.from({ length: width }, (_, i) => i);
  let row = new Array<number>(width).fill(0);
  for (let i = 1; i <= a.length; i++) {
    row[0] = i;
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      const exchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (exchanged) cost = Math.min(cost, before[j - 2]! + 1);
      row[j] = cost;
      least = Math.min(least, cost);
    }
    if (least > most) return false;
    [before, last, row] = [last, row, before];
  }
  return last[b.length]! <= most;
}

/**
 * The case of at most one error, which needs no matrix: the error is at the first difference, and the rest
 * must be equal.
 */
function oneEditApart(a: ArrayLike<string>, b: ArrayLike<string>): boolean {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const isEqual = (fromA: number, fromB: number): boolean => {
    if (a.length - fromA !== b.length - fromB) return false;
    for (let i = fromA, j = fromB; i < a.length; i++, j++) if (a[i] !== b[j]) return false;
    return true;
  };
  if (isEqual(at + 1, at + 1) || isEqual(at + 1, at) || isEqual(at, at + 1)) return true;
  return a[at] === b[at + 1] && a[at + 1] === b[at] && isEqual(at + 2, at + 2);
}
