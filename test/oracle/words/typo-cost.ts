// The cost of a typo according to the table in docs/ranking.md: the cheapest optimal string alignment, with
// the full matrix and a table lookup for every price.

const VOWELS = "aeiouy";
const SOUNDS = ["ck", "cs", "ks", "sz", "cz", "kq", "cq", "gj", "fv", "dt", "bp"];
const KEYS = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];
const SILENT_AFTER = ["h cgkprstwx", "u gq", "t s", "c s", "b m", "n m", "l a"];
const SILENT_BEFORE = ["k n", "g n", "w r", "p st", "t c", "c kq", "b t", "d gj", "l fkm", "h o"];

/** The cost of typing `word` instead of `term` or, with `prefix`, instead of one of its prefixes. */
export function typoCost(word: string, term: string, prefix: boolean): number {
  const a = [...word];
  const b = [...term];
  const d = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0));
  const at = (i: number, j: number): number => d[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 0; i <= a.length; i++) {
    for (let j = 0; j <= b.length; j++) {
      if (i === 0 && j === 0) continue;
      const [x, y] = [a[i - 1], b[j - 1]];
      const ways: number[] = [];
      if (j > 0) ways.push(at(i, j - 1) + missing(b, j - 1) + (i === 0 && j === 1 ? 70 : 0));
      if (i > 0) ways.push(at(i - 1, j) + extra(a, i - 1) + (j === 0 ? 70 : 0));
      if (i > 0 && j > 0) {
        const other = x === y ? 0 : replaced(x!, b, j - 1) + (i === 1 && j === 1 ? 70 : 0);
        ways.push(at(i - 1, j - 1) + other);
      }
      if (i > 1 && j > 1 && x !== y && x === b[j - 2] && y === a[i - 2]) {
        const price = [x, y].sort().join("") === "ei" ? 50 : 60;
        ways.push(at(i - 2, j - 2) + price + (i === 2 && j === 2 ? 20 : 0));
      }
      if (i > 0 && j > 1 && x === "f" && b[j - 2] === "p" && y === "h") ways.push(at(i - 1, j - 2) + 75);
      if (i > 1 && j > 0 && y === "f" && a[i - 2] === "p" && x === "h") ways.push(at(i - 2, j - 1) + 75);
      d[i]![j] = Math.min(...ways);
    }
  }
  const whole = at(a.length, b.length);
  const begun = b.slice(1).map((_, i) => at(a.length, i + 1) + 50 + 25 * (b.length - i - 1));
  return Math.min(whole, ...(prefix ? begun : []));
}

function missing(term: string[], j: number): number {
  const letter = term[j]!;
  if (letter === term[j - 1] || letter === term[j + 1]) return 50;
  if (isSilent(term, j)) return 50;
  if (j === term.length - 1) return 90;
  return VOWELS.includes(letter) ? 60 : 70;
}

function extra(word: string[], i: number): number {
  const letter = word[i]!;
  if (letter === word[i - 1] || letter === word[i + 1]) return 55;
  if (isSilent(word, i)) return 90;
  if (i === word.length - 1) return 100;
  return VOWELS.includes(letter) ? 90 : 105;
}

function isSilent(text: string[], i: number): boolean {
  const [before, letter, after] = [text[i - 1] ?? " ", text[i]!, text[i + 1] ?? " "];
  const says = (rules: string[], neighbour: string): boolean =>
    rules.some((rule) => rule[0] === letter && rule.slice(2).includes(neighbour));
  if (letter === "e" && i === text.length - 1) return true;
  return says(SILENT_AFTER, before) || says(SILENT_BEFORE, after);
}

function replaced(x: string, term: string[], j: number): number {
  const y = term[j]!;
  const pair = [x, y].sort().join("");
  if (!/^[a-z]{2}$/.test(pair)) return 105;
  const within = (letters: string): boolean => letters.includes(x) && letters.includes(y);
  const rest = term.slice(j + 1).join("");
  if (within("ai") && rest.startsWith("bl")) return 50;
  if (within("ae") && /^n[tc]/.test(rest)) return 50;
  if (within("aeo") && /^r($|s|y)/.test(rest)) return 50;
  if (within("tsc") && rest.startsWith("ion")) return 50;
  if (pair === "iy") return 55;
  if (within(VOWELS)) return /[uy]/.test(pair) ? 90 : 80;
  if (SOUNDS.includes(pair) || SOUNDS.includes([y, x].join("")) || SOUNDS.includes(x + y)) return 75;
  return areNeighbours(x, y) || areNeighbours(y, x) ? 95 : 105;
}

/** True if `y` is the next key to the right of `x`, or touches it in the row below. */
function areNeighbours(x: string, y: string): boolean {
  const row = KEYS.findIndex((keys) => keys.includes(x));
  const at = KEYS[row]!.indexOf(x);
  const below = KEYS[row + 1] ?? "";
  return [KEYS[row]![at + 1], below[at - 1], below[at]].includes(y);
}
