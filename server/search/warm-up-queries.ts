// Makes up queries from an index's own documents, of the kinds that clients send. A thread runs them before
// clients do, so that the code behind each kind has been compiled. Pure computation.
import { EMBEDDER_SOURCES } from "../catalog/definition/embedder-sources.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import { type ResolvedField, resolvedSchemaOf } from "../catalog/schema/resolved-schema.js";

export type SampleDocument = Readonly<Record<string, unknown>>;

/** A query's body. */
export type WarmUpQuery = Readonly<Record<string, unknown>>;

/** What the queries of an index may name. */
interface Vocabulary {
  readonly words: readonly string[];
  /** A filter for a value of the document; null if it has none. */
  readonly filter: string | null;
  readonly facets: readonly string[];
  readonly sort: string | null;
}

/** One query of a kind. `at` is the position of its first word. */
type Kind = (vocabulary: Vocabulary, at: number) => WarmUpQuery;

/** The sample consists of a few pages with documents, spread over the index, or over its first documents. */
const PAGES = 8;
const PAGE_DOCUMENTS = 10;
const SAMPLE_DEPTH_MAX = 10_000;

const WORD = /[\p{L}\p{N}]{2,}/gu;
const WORD_LENGTH_MAX = 20;
/** Number of a document's words that queries may begin with. */
const WORDS_MAX = 64;
const TYPO_LENGTH_MIN = 5;
const FACETS = 2;
/** Distance between the words with which a document's queries begin. */
const STRIDE = 5;

const KINDS: readonly Kind[] = [
  ({ words }, at) => ({ q: phrase(words, at, 2) }),
  ({ words, facets, filter }, at) => ({ q: phrase(words, at, 1), facets, ...filtered(filter) }),
  ({ words }, at) => ({ q: cut(phrase(words, at, 2)) }),
  ({ words }, at) => ({ q: phrase(words, at, 3) }),
  ({ words }, at) => ({ q: misspelt(phrase(words, at, 2)) }),
  ({ facets, filter }) => ({ q: "*", facets, ...filtered(filter) }),
  ({ words }, at) => ({ q: phrase(words, at, 1) }),
  ({ words, sort }, at) => ({ q: phrase(words, at, 1), ...(sort === null ? {} : { sort }) }),
];

/** Queries that fetch a sample of the index's documents for `warmUpQueries`. */
export function sampleQueries(documents: number): WarmUpQuery[] {
  const pages = Math.ceil(Math.min(documents, SAMPLE_DEPTH_MAX) / PAGE_DOCUMENTS);
  const stride = Math.max(1, Math.floor(pages / PAGES));
  return Array.from({ length: Math.min(PAGES, pages) }, (_, i) => ({
    q: "*",
    page: 1 + i * stride,
    per_page: PAGE_DOCUMENTS,
    ai: false,
    search_mode: "keyword",
    analytics: false,
  }));
}

/**
 * Each document gets one query of each kind. Neighbouring queries have different kinds and documents, so that
 * even the first few cover many different words. None of the queries is logged, and none needs a model on
 * another server.
 */
export function* warmUpQueries(
  record: IndexRecord,
  documents: readonly SampleDocument[],
): Generator<WarmUpQuery> {
  const { embedder, ai } = record.settings;
  const local = {
    ...(EMBEDDER_SOURCES[embedder.source].wire === null ? {} : { search_mode: "keyword" }),
    ...(ai.provider === "rules" ? {} : { ai: false }),
  };
  const known = documents.map(vocabularies(record)).filter(({ words }) => words.length > 0);
  for (let round = 0; round < KINDS.length; round++)
    for (const [i, vocabulary] of known.entries())
      yield {
        ...KINDS[(i + round) % KINDS.length]!(vocabulary, i + round * STRIDE),
        per_page: 10,
        ...local,
        analytics: false,
      };
}

function vocabularies(record: IndexRecord): (document: SampleDocument) => Vocabulary {
  const schema = resolvedSchemaOf(record);
  const fields = record.fields.flatMap(({ name }) => schema.field(name) ?? []);
  const facetFields = fields.filter(({ facet }) => facet);
  const facets = facetFields.slice(0, FACETS).map(({ name }) => name);
  const sorted = fields.find(({ sort, kind }) => sort && kind !== "string");
  const sort = sorted === undefined ? null : `${sorted.name}:asc`;
  return (document) => ({
    words: schema.searchable.flatMap(({ field }) => wordsOf(document[field.name])).slice(0, WORDS_MAX),
    filter: facetFields.map((field) => filterOf(field, document)).find((one) => one !== null) ?? null,
    facets,
    sort,
  });
}

function wordsOf(value: unknown): string[] {
  const text = Array.isArray(value) ? value.filter((one) => typeof one === "string").join(" ") : value;
  if (typeof text !== "string") return [];
  return (text.match(WORD) ?? []).slice(0, WORDS_MAX).map((word) => beginning(word.toLowerCase()));
}

/** Cuts between characters: half of a surrogate pair would make the query's text invalid. */
function beginning(word: string): string {
  return word.length <= WORD_LENGTH_MAX ? word : [...word].slice(0, WORD_LENGTH_MAX).join("");
}

function filterOf({ name }: ResolvedField, document: SampleDocument): string | null {
  const value = document[name];
  return typeof value === "string" && value !== "" && !value.includes("`") ? `${name}:=\`${value}\`` : null;
}

function filtered(filter: string | null): WarmUpQuery {
  return filter === null ? {} : { filter_by: filter };
}

/** Up to `count` consecutive words, starting at `at`. */
function phrase(words: readonly string[], at: number, count: number): string {
  const start = at % words.length;
  return words.slice(start, start + count).join(" ");
}

/** Without the second half of the last word, as if it were still being typed. */
function cut(text: string): string {
  const start = text.lastIndexOf(" ") + 1;
  const letters = [...text.slice(start)];
  return text.slice(0, start) + letters.slice(0, Math.max(2, letters.length >> 1)).join("");
}

/** With two letters of the longest word swapped, unless all words are short. */
function misspelt(text: string): string {
  const [longest = ""] = text.split(" ").sort((a, b) => b.length - a.length);
  if (longest.length < TYPO_LENGTH_MIN) return text;
  const letters = [...longest];
  letters.splice(1, 2, letters[2]!, letters[1]!);
  return text.replace(longest, letters.join(""));
}
