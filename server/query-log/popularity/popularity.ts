// One index's most frequent searches and clicks, in the forms that queries and suggestions need. Pure
// functions, except for calls to the analyser.
import type { Token } from "../../../engine-wasm/host/instance/workbench.js";
import type { TextAnalyser } from "../../catalog/schema/text-analyser.js";
import type { Popular } from "../reports/popular.js";

export const NOTHING_POPULAR: Popular = { queries: [], documents: [] };

export interface PopularQuery {
  /** The searches' normalised text. */
  readonly value: string;
  /** Number of searches. */
  readonly count: number;
  readonly tokens: readonly Token[];
}

export class Popularity {
  readonly popular: Popular;
  /** Most frequent first. */
  readonly queries: readonly PopularQuery[];
  readonly #analyser: TextAnalyser;
  readonly #searches = new Map<string, number>();
  readonly #clicks: ReadonlyMap<string, number>;

  /** `before` is the index's previous instance, whose tokens are reused where possible. */
  constructor(popular: Popular, analyser: TextAnalyser, before?: Popularity) {
    const usable = before !== undefined && before.#analyser === analyser ? before.queries : [];
    const known = new Map(usable.map((query) => [query.value, query.tokens]));
    this.popular = popular;
    this.#analyser = analyser;
    this.queries = popular.queries.map(({ query, count }) => {
      const tokens = known.get(query) ?? analyser.tokens(query);
      return { value: query, count, tokens };
    });
    for (const { tokens, count } of this.queries) {
      for (const term of new Set(tokens.map((token) => token.term)))
        this.#searches.set(term, (this.#searches.get(term) ?? 0) + count);
    }
    this.#clicks = new Map(popular.documents.map(({ document_id, clicks }) => [document_id, clicks]));
  }

  /** Number of searches for all popular queries that contain the word. */
  searchesOf(term: string): number {
    return this.#searches.get(term) ?? 0;
  }

  clicksOf(documentId: string): number {
    return this.#clicks.get(documentId) ?? 0;
  }

  /**
   * Returns popular queries that contain at least half of the words, best match first. Leaves out the query
   * that consists of exactly these words.
   */
  related(terms: readonly string[], max: number): PopularQuery[] {
    const asked = new Set(terms);
    if (asked.size === 0 || terms.every((term) => !this.#searches.has(term))) return [];
    return this.queries
      .map((query) => ({ query, shared: sharedWith(query, asked) }))
      .filter(({ query, shared }) => shared * 2 >= asked.size && !isSame(query, terms))
      .sort((a, b) => b.shared - a.shared)
      .slice(0, max)
      .map(({ query }) => query);
  }
}

function sharedWith({ tokens }: PopularQuery, asked: ReadonlySet<string>): number {
  return new Set(tokens.filter(({ term }) => asked.has(term)).map(({ term }) => term)).size;
}

function isSame({ tokens }: PopularQuery, terms: readonly string[]): boolean {
  const own = tokens.filter(({ parts }) => parts === 1).map(({ term }) => term);
  return own.length === terms.length && own.every((term, i) => term === terms[i]);
}
