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

interface SearchedWord {
  /** Number of searches for all queries that contain the word. */
  searches: number;
  /** Positions of these queries in `queries`. */
  readonly queries: number[];
}

export class Popularity {
  readonly popular: Popular;
  /** Most frequent first. */
  readonly queries: readonly PopularQuery[];
  readonly #analyser: TextAnalyser;
  readonly #words = new Map<string, SearchedWord>();
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
    for (const [number, { tokens, count }] of this.queries.entries()) {
      for (const term of new Set(tokens.map((token) => token.term))) {
        const word = this.#words.get(term);
        if (word === undefined) this.#words.set(term, { searches: count, queries: [number] });
        else {
          word.searches += count;
          word.queries.push(number);
        }
      }
    }
    this.#clicks = new Map(popular.documents.map(({ document_id, clicks }) => [document_id, clicks]));
  }

  /** Number of searches for all popular queries that contain the word. */
  searchesOf(term: string): number {
    return this.#words.get(term)?.searches ?? 0;
  }

  clicksOf(documentId: string): number {
    return this.#clicks.get(documentId) ?? 0;
  }

  /**
   * Returns popular queries that contain at least half of the words, best match first. Leaves out the query
   * that consists of exactly these words.
   */
  related(terms: readonly string[], max: number): PopularQuery[] {
    if (!terms.some((term) => this.#words.has(term))) return [];
    const asked = new Set(terms);
    /** How many of the words each query shares. */
    const shared = new Map<number, number>();
    for (const term of asked)
      for (const number of this.#words.get(term)?.queries ?? [])
        shared.set(number, (shared.get(number) ?? 0) + 1);
    return [...shared]
      .filter(([number, words]) => words * 2 >= asked.size && !isSame(this.queries[number]!, terms))
      .sort(([a, wordsOfA], [b, wordsOfB]) => wordsOfB - wordsOfA || a - b)
      .slice(0, max)
      .map(([number]) => this.queries[number]!);
  }
}

function isSame({ tokens }: PopularQuery, terms: readonly string[]): boolean {
  const own = tokens.filter(({ parts }) => parts === 1).map(({ term }) => term);
  return own.length === terms.length && own.every((term, i) => term === terms[i]);
}
