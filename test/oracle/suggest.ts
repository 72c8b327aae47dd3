// The expected answer of the suggest route when typo tolerance is off and all popularities differ. Examines
// every document in order of popularity.

import { compareBytes } from "./segments/rows.js";
import { type Document, type Json, valuesOf } from "./segments/values.js";
import { analyse, foldValue } from "./words/analyse.js";

export interface SuggestInput {
  q: string;
  suggest_by: string;
  per_page: number;
  group_by_field?: string;
}

type Suggestion = Record<string, Json>;

interface Fitting {
  value: string;
  field: string;
  matched: number;
  starts: boolean;
  last: boolean;
}

const terms = (text: string): string[] => analyse(text).map((token) => token.term);

/** `popularity` is a numeric field that every document has. */
export function suggest(documents: Document[], popularity: string, input: SuggestInput): Suggestion[] {
  const typed = terms(input.q);
  if (typed.length === 0) return [];
  const fields = input.suggest_by.split(",");
  const found = documents
    .filter((document) =>
      words(typed).every((word) => textsOf(document, fields).some((text) => has(text, word))),
    )
    .sort((a, b) => Number(b[popularity]) - Number(a[popularity]));
  const all =
    input.group_by_field === undefined
      ? withoutDuplicates(found.flatMap((document) => valuesOfDocument(document, fields, typed)))
      : groups(found, input.group_by_field, typed);
  const ordered = [...all.filter((one) => one.starts), ...all.filter((one) => !one.starts)];
  return ordered.slice(0, input.per_page).map(({ shown }) => shown);
}

interface Candidate {
  shown: Suggestion;
  starts: boolean;
}

/** The distinct words typed; the last one also matches as a prefix. */
function words(typed: string[]): { term: string; prefix: boolean }[] {
  return [...new Set(typed)].map((term) => ({ term, prefix: term === typed.at(-1) }));
}

function has(text: string, word: { term: string; prefix: boolean }): boolean {
  return terms(text).some((term) => (word.prefix ? term.startsWith(word.term) : term === word.term));
}

function startsWith(text: string, typed: string[]): boolean {
  const own = terms(text);
  return typed.every((word, i) =>
    i === typed.length - 1 ? (own[i] ?? "").startsWith(word) : own[i] === word,
  );
}

function textsOf(document: Document, fields: string[]): string[] {
  return fields.flatMap((name) => valuesOf(document, { name, type: "string" })) as string[];
}

/**
 * Returns the document's values that contain all the typed words. If there are none, returns one of the
 * values with the most typed words: the first that contains the last word or, if none does, the first.
 */
function valuesOfDocument(document: Document, fields: string[], typed: string[]): Candidate[] {
  const fitting: Fitting[] = fields.flatMap((field) =>
    textsOf(document, [field])
      .filter((value) => terms(value).length > 0)
      .map((value) => ({
        value,
        field,
        matched: words(typed).filter((word) => has(value, word)).length,
        starts: startsWith(value, typed),
        last: has(value, { term: typed.at(-1)!, prefix: true }),
      })),
  );
  const most = Math.max(...fitting.map((one) => one.matched));
  const equals = fitting.filter((one) => one.matched === most);
  const best = [...equals.filter((one) => one.last), ...equals.filter((one) => !one.last)];
  return (most === words(typed).length ? equals : best.slice(0, 1)).map(({ value, field, starts }) => ({
    shown: { value, field, document_id: document.id },
    starts,
  }));
}

function withoutDuplicates(candidates: Candidate[]): Candidate[] {
  const seen = new Set<string>();
  return candidates.filter(({ shown }) => {
    const key = foldValue(shown.value as string);
    return !seen.has(key) && seen.add(key);
  });
}

/** Values of `field`, ordered by the number of documents that have them, then by value. */
function groups(found: Document[], field: string, typed: string[]): Candidate[] {
  const counts = new Map<string, number>();
  for (const document of found)
    for (const value of new Set(textsOf(document, [field]))) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || compareBytes(a, b))
    .map(([value, count]) => ({ shown: { value, field, count }, starts: startsWith(value, typed) }));
}
