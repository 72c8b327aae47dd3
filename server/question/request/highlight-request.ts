// Decides what to highlight in a page's documents, given the words that were searched for: which forms of
// each query word are marked. The shards find where these forms occur.
import { ALT_INFIX, ALT_PREFIX, ALT_TYPO } from "../../../engine-wasm/assembly/layout.js";
import type { SearchAlternative, SearchWord } from "../../../engine-wasm/host/programs/search-program.js";
import type { HighlightRequest, HighlightWord } from "../../../shards/protocol/fetch.js";
import type { IndexSettings } from "../../catalog/definition/settings.js";
import type { ResolvedField } from "../../catalog/schema/resolved-schema.js";
import type { QueryText } from "../words/query-text.js";

/**
 * `words` are the words of the program that found the documents, one for each of `text.words` in the same
 * order.
 */
export function highlightRequest(
  fields: readonly ResolvedField[],
  text: QueryText,
  words: readonly SearchWord[],
  { highlight, sku_fields: skus }: IndexSettings,
): HighlightRequest {
  const typed = new Set(text.runs.flatMap((run) => run.map((token) => token.word)));
  return {
    fields: fields.map(({ name, language, infix }) => ({ name, language, sku: skus.includes(name), infix })),
    words: words.map((word, i) => (typed.has(i) ? anywhere(word) : inPhrases(text, i))),
    snippetTokens: highlight.snippet_tokens,
    startTag: highlight.start_tag,
    endTag: highlight.end_tag,
    escapeHtml: highlight.escape_html,
  };
}

function anywhere({ alternatives }: SearchWord): HighlightWord {
  const single = alternatives.filter(({ sequence }) => !sequence);
  const isForm = ({ kind }: SearchAlternative): boolean => kind !== ALT_TYPO && kind !== ALT_INFIX;
  // If a longer word begins with the query word, mark only that beginning, even if the longer word itself is
  // among the terms searched for.
  const isWhole = (one: SearchAlternative): boolean => isForm(one) && one.kind !== ALT_PREFIX;
  const terms = (which: (alternative: SearchAlternative) => boolean, prefix: boolean): string[] => [
    ...new Set(
      single
        .filter(which)
        .flatMap((alternative) => alternative.terms)
        .filter((term) => term.prefix === prefix)
        .map(({ term }) => term),
    ),
  ];
  return {
    terms: terms(isWhole, false),
    prefixes: terms(isForm, true),
    typos: terms(({ kind }) => kind === ALT_TYPO, false),
    infixes: terms(({ kind }) => kind === ALT_INFIX, false),
    sequences: alternatives
      .filter(({ sequence }) => sequence)
      .map((alternative) => alternative.terms.map(({ term }) => term)),
  };
}

/** A word that occurs in the query only in quotes is marked only as part of its phrases. */
function inPhrases({ words, phrases }: QueryText, i: number): HighlightWord {
  const term = words[i]?.terms[0] as string;
  return {
    terms: [],
    prefixes: [],
    typos: [],
    infixes: [],
    sequences: phrases.filter((phrase) => phrase.includes(term)).map((phrase) => [...phrase]),
  };
}
