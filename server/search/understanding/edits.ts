// Tests whether two words differ by a few typing errors: a superfluous, missing or wrong letter, or two
// swapped neighbours.

/** Optimal string alignment; rows are as short as the words, and a row that is too far off ends it. */
export function editsWithin(a: string, b: string, most: number): boolean {
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

/** The same for one error, without rows: it is at the first difference, and the rest is equal. */
function oneEditApart(a: string, b: string): boolean {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const isEqual = (fromA: number, fromB: number): boolean => a.slice(fromA) === b.slice(fromB);
  if (isEqual(at + 1, at + 1) || isEqual(at + 1, at) || isEqual(at, at + 1)) return true;
  return a[at] === b[at + 1] && a[at + 1] === b[at] && isEqual(at + 2, at + 2);
}
