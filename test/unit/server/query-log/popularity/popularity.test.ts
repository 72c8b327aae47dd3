// Popularity, as queries and suggestions use it.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Popularity } from "../../../../../server/query-log/popularity/popularity.js";
import { likelyTypos } from "../../../../../server/question/words/typos/noisy-channel.js";
import { analyser } from "../../record.js";

const POPULAR = {
  queries: [
    { query: "red shoe", count: 90 },
    { query: "shoe", count: 50 },
    { query: "green shoe lace", count: 20 },
    { query: "blue hat", count: 10 },
  ],
  documents: [{ document_id: "a", clicks: 3 }],
};
const popularity = new Popularity(POPULAR, analyser);
const values = (terms: string[], max = 9) => popularity.related(terms, max).map(({ value }) => value);

describe("popularity", () => {
  test("counts how often a word was searched and a document clicked", () => {
    expect(["shoe", "hat", "boot"].map((term) => popularity.searchesOf(term))).toEqual([160, 10, 0]);
    expect(["a", "b"].map((id) => popularity.clicksOf(id))).toEqual([3, 0]);
  });

  test("counts a search once for a word that the query repeats", () => {
    const queries = [{ query: "new york new jersey", count: 7 }];
    const repeated = new Popularity({ ...POPULAR, queries }, analyser);
    expect(["new", "york"].map((term) => repeated.searchesOf(term))).toEqual([7, 7]);
  });

  test("relates queries sharing at least half of the words, best first, but not the query itself", () => {
    expect(values(["green", "shoe"])).toEqual(["green shoe lace", "red shoe", "shoe"]);
    expect(values(["green", "shoe"], 1)).toEqual(["green shoe lace"]);
    expect(values(["shoe"])).toEqual(["red shoe", "green shoe lace"]);
    expect(values(["shoe", "red"])).toEqual(["red shoe", "shoe", "green shoe lace"]);
    expect(values(["red", "wool", "winter"])).toEqual([]);
    expect(values(["boot"])).toEqual([]);
    expect(values([])).toEqual([]);
  });

  test("relates what comparing every query would", () => {
    const words = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 5 });
    fc.assert(
      fc.property(fc.array(words, { maxLength: 8 }), words, (texts, terms) => {
        const queries = texts.map((text) => ({ query: text.join(" "), count: 1 }));
        const shared = (query: string): number =>
          new Set(terms.filter((term) => query.split(" ").includes(term))).size;
        const expected = queries
          .map(({ query }) => query)
          .filter((query) => shared(query) > 0 && shared(query) * 2 >= new Set(terms).size)
          .filter((query) => query !== terms.join(" "))
          .sort((a, b) => shared(b) - shared(a))
          .slice(0, 3);
        const related = new Popularity({ queries, documents: [] }, analyser).related(terms, 3);
        expect(related.map(({ value }) => value)).toEqual(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  test("analyses no query twice", () => {
    const analysed: string[] = [];
    const counting = {
      ...analyser,
      tokens(text: string) {
        analysed.push(text);
        return analyser.tokens(text);
      },
    };
    const before = new Popularity(POPULAR, counting);
    const queries = [
      { query: "blue hat", count: 11 },
      { query: "scarf", count: 5 },
    ];
    const after = new Popularity({ ...POPULAR, queries }, counting, before);
    expect(analysed.slice(POPULAR.queries.length)).toEqual(["scarf"]);
    expect(after.searchesOf("hat")).toBe(11);
    expect(after.searchesOf("shoe")).toBe(0);
  });

  test("makes a typo likelier, but never two typos as likely as one", () => {
    const typo = (term: string, typos: number, edits: number) => {
      return { term, distance: typos, isPrefix: false, frequencies: [40], typos, edits };
    };
    const typos = [typo("shop", 1, 90), typo("shoe", 1, 90), typo("shore", 2, 105)];
    const order = (searches: Record<string, number>): string[] =>
      likelyTypos(
        typos,
        [7, 7, 7],
        { cost: 145, doubt: Number.POSITIVE_INFINITY },
        (term) => searches[term] ?? 0,
      ).map(({ term }) => term);
    const untouched = typos.map(({ term }) => term);
    expect(order({})).toEqual(untouched);
    const [first, second] = untouched.slice(0, 2) as [string, string];
    expect(order({ [second]: 1_000 })).toEqual([second, first, "shore"]);
    expect(order({ shore: 1_000 })).toEqual(untouched);
  });
});
