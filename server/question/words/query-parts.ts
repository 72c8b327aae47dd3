// Splits a query's text into plain words, "quoted phrases", -excluded words and -"excluded phrases". A quote
// opens a phrase only at the start of a word and only if a closing quote follows (15" is not a phrase). A
// minus sign excludes only at the start of a word.

/** One part of the text. Positions are in UTF-16 code units. */
export interface QueryPart {
  readonly quoted: boolean;
  readonly excluded: boolean;
  /** The part's range in the text, including the minus sign and the quotes. */
  readonly start: number;
  readonly end: number;
  /** The range without the minus sign and the quotes. */
  readonly textStart: number;
  readonly textEnd: number;
}

export function queryParts(q: string): QueryPart[] {
  const parts: QueryPart[] = [];
  let at = 0;
  while (at < q.length) {
    if (isSpace(q, at)) {
      at++;
      continue;
    }
    const start = at;
    const excluded = q[at] === "-" && at + 1 < q.length && !isSpace(q, at + 1);
    if (excluded) at++;
    const close = q[at] === '"' ? q.indexOf('"', at + 1) : -1;
    if (close > 0) {
      parts.push({ quoted: true, excluded, start, end: close + 1, textStart: at + 1, textEnd: close });
      at = close + 1;
      continue;
    }
    const textStart = at;
    while (at < q.length && !isSpace(q, at)) at++;
    parts.push({ quoted: false, excluded, start, end: at, textStart, textEnd: at });
  }
  return parts;
}

const SPACE = /\s/;

function isSpace(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  if (unit < 0x80) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  return SPACE.test(text[at] as string);
}
