// Queries in the protocol of README.md. They state how each word may match, so that every program does the
// same work. The rules are Skein's defaults, except that Skein also decides which words look misspelt.

const EQUALS = /^(.+?):=`(.*)`$/s;
const RANGE = /^(.+?):(>=|<=)(.+)$/;

/** Allows 1 typo for words of 4 or more letters, 2 for 8 or more, and none for a word with a digit. */
function typosOf(word) {
  if (/\p{N}/u.test(word)) return 0;
  const letters = [...word].length;
  return letters >= 8 ? 2 : letters >= 4 ? 1 : 0;
}

/** Every word must match; the last word may also match as a prefix. */
export function queryOfText(q, limit) {
  const words = q === "*" ? [] : q.toLowerCase().split(" ");
  return {
    words: words.map((text, i) => ({ text, typos: typosOf(text), prefix: i === words.length - 1 })),
    filter: null,
    facets: [],
    sort: null,
    limit,
  };
}

/** `body` is a query drawn by bench/load/queries.ts. */
export function queryOfBody(body) {
  const query = queryOfText(body.q, body.per_page);
  if (body.num_typos === 0) for (const word of query.words) word.typos = 0;
  if (body.prefix === false) for (const word of query.words) word.prefix = false;
  return { ...query, filter: filterOf(body.filter_by), facets: body.facets ?? [], sort: sortOf(body.sort) };
}

function filterOf(expression) {
  if (expression === undefined) return null;
  const equals = EQUALS.exec(expression);
  if (equals !== null) return { field: equals[1], equals: equals[2] };
  const [, field, sign, number] = RANGE.exec(expression);
  return { field, [sign === ">=" ? "min" : "max"]: Number(number) };
}

function sortOf(sort) {
  if (sort === undefined) return null;
  const at = sort.lastIndexOf(":");
  return { field: sort.slice(0, at), descending: sort.slice(at + 1) === "desc" };
}
