// Programs planned with remembered words equal programs planned without memory, byte for byte: for random
// dictionaries, queries and flags, with writes in between.
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { CompanyProgram } from "../../../../../engine-wasm/host/programs/company-program.js";
import type { CompanyResult } from "../../../../../engine-wasm/host/programs/company-result.js";
import type { ExpandProgram, ExpandWord } from "../../../../../engine-wasm/host/programs/expand-program.js";
import type { ExpandResult } from "../../../../../engine-wasm/host/programs/expand-result.js";
import { encodeSearch } from "../../../../../engine-wasm/host/programs/search-program.js";
import type { SynonymGroup } from "../../../../../server/catalog/records/synonym.js";
import { resolvedSchemaOf } from "../../../../../server/catalog/schema/resolved-schema.js";
import { type TextAnalyser, textAnalyser } from "../../../../../server/catalog/schema/text-analyser.js";
import { run } from "../../../../../server/ground/jobs/work.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { CacheMeter } from "../../../../../server/ground/metrics/recorder.js";
import { readQueryRequest } from "../../../../../server/question/request/query-request.js";
import { Dictionaries, type DictionaryShards } from "../../../../../server/question/words/dictionaries.js";
import { ExpansionCache } from "../../../../../server/question/words/expansion-cache.js";
import { SynonymMap } from "../../../../../server/question/words/synonyms.js";
import { stemTerms } from "../../../../../server/question/words/variants.js";
import { WordMemories } from "../../../../../server/question/words/word-memory.js";
import { WordExpander } from "../../../../../server/search/matching/expand.js";
import { planQuery, programOf } from "../../../../../server/search/matching/plan.js";
import type { QueriedIndex } from "../../../../../server/search/matching/queried-index.js";
import { loadEngine } from "../../../engine/load-engine.js";
import { field, makeRecord, queried } from "../../record.js";

const ENGLISH = 1;
const WORDS = [
  "red",
  "shoe",
  "shoes",
  "wi",
  "fi",
  "wifi",
  "ab",
  "12",
  "ab12",
  "345",
  "shoelace",
  "the",
  "東京",
];
const DOCUMENTS = 1_000;
const SLOTS = 3;

let index: QueriedIndex;
let analyser: TextAnalyser;

beforeAll(async () => {
  const fields = [
    field("title", "string", 0, { language: "en" }),
    field("code", "string", 1, { infix: true }),
    field("brand", "string", 2),
  ];
  const record = makeRecord({ stop_words: ["the"], sku_fields: ["code"], brand_field: "brand" }, fields);
  analyser = textAnalyser((await loadEngine()).workbench(), resolvedSchemaOf(record));
  const group: SynonymGroup = {
    id: 1,
    index: 1,
    type: "multi_way",
    synonyms: ["red", "wifi shoe"],
    root: null,
    enabled: true,
    created_at: "",
    updated_at: "",
  };
  index = { ...queried(record), analyser, synonyms: new SynonymMap([group], analyser) };
});

/** The dictionaries of an index whose documents are decided by `seed`. */
class RandomShards implements DictionaryShards {
  readonly trace = undefined;
  readonly #seed: number;
  readonly #terms: string[];

  constructor(
    seed: number,
    readonly generation: number,
    readonly expansions: ExpansionCache | null,
  ) {
    this.#seed = seed;
    const spelled = WORDS.flatMap((word) => WORDS.map((other) => word + other)).concat(WORDS);
    const all = spelled.flatMap((term) => [term, `\u0002${term}`, ...stemTerms(term, [ENGLISH])]);
    this.#terms = [...new Set(all)].filter((term) => this.#frequencies(term).some((one) => one > 0)).sort();
  }

  expand(program: ExpandProgram): ExpandResult[] {
    const near = ({ term, typoPrefix, maxTypos }: ExpandWord) =>
      this.#near(term, typoPrefix, maxTypos, program);
    return [
      {
        liveRows: DOCUMENTS,
        slots: program.slots.map((slot) => ({ totalLength: this.#hash(`${slot}`) % 9_000, documents: 900 })),
        words: program.words.map((word) => ({
          exact: word.exact ? this.#of(word.term, program) : null,
          prefix: word.prefix ? this.#prefix(word.term, program) : null,
          typos: word.maxTypos === 0 ? null : near(word),
          infixes: word.infix === undefined ? null : this.#inside(word.term, program),
        })),
        suspects: (program.suspects ?? []).map((suspect) => ({
          maxTypos: suspect.maxTypos,
          typos: near({ ...suspect, exact: false, prefix: false }),
        })),
      },
    ];
  }

  company({ words, candidates }: CompanyProgram): CompanyResult[] {
    const count = (terms: readonly string[]): number => {
      const hash = this.#hash(terms.join(" "));
      return hash % 2 === 0 ? hash % 900 : hash % 4;
    };
    return [
      {
        liveRows: DOCUMENTS,
        words: words.map(count),
        candidates: candidates.map((one) => ({
          documents: count(one),
          together: words.map((word) => Math.min(count(one), count(word))),
        })),
      },
    ];
  }

  #near(term: string, prefix: boolean, most: number, program: ExpandProgram) {
    return this.#terms
      .filter(
        (other) => other !== term && other[0] === term[0] && Math.abs(other.length - term.length) <= most,
      )
      .map((other) => ({
        term: other,
        distance: 1 + (this.#hash(other) % most),
        isPrefix: prefix && this.#hash(other) % 3 === 0,
        frequencies: this.#of(other, program),
      }));
  }

  #prefix(term: string, program: ExpandProgram) {
    const terms = this.#terms.filter((other) => other.startsWith(term));
    const lists = terms.map((other) => this.#of(other, program));
    const frequencies = program.slots.map((_, i) => lists.reduce((sum, list) => sum + list[i]!, 0));
    return { termCount: terms.length, frequencies, terms: terms.length > 8 ? null : terms };
  }

  #inside(term: string, program: ExpandProgram) {
    return this.#terms
      .filter((other) => other.includes(term) && !other.startsWith(term) && other > "\u0020")
      .map((other) => ({ term: other, frequencies: this.#of(other, program) }));
  }

  #of(term: string, { slots }: ExpandProgram): number[] {
    const all = this.#frequencies(term);
    return slots.map((slot) => all[slot]!);
  }

  /** Most terms occur in no document, some in a few, and some in many. */
  #frequencies(term: string): number[] {
    return Array.from({ length: SLOTS }, (_, slot) => {
      const hash = this.#hash(`${slot} ${term}`);
      return hash % 3 > 0 ? 0 : (hash >>> 8) % 4 === 0 ? (hash >>> 4) % 900 : (hash >>> 4) % 5;
    });
  }

  #hash(text: string): number {
    let hash = this.#seed;
    for (const letter of text) hash = Math.imul(hash ^ letter.codePointAt(0)!, 0x01000193) >>> 0;
    return Math.imul(hash ^ (hash >>> 13), 0x5bd1e995) >>> 0;
  }
}

const QUERY = fc.record({
  pieces: fc.array(
    fc.record({
      word: fc.constantFrom(...WORDS, "shose", "wfi", "shoelac"),
      before: fc.constantFrom("", "", "", "", '"', "-"),
      after: fc.constantFrom(" ", " ", " ", "-", '" ', "/"),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  prefix: fc.boolean(),
  num_typos: fc.constantFrom(0, 2),
  query_by: fc.constantFrom("title", "title,code", "code,title,brand"),
  policy: fc.constantFrom("auto" as const, "missing" as const, "always" as const),
  rounds: fc.constantFrom(1, 2),
  writes: fc.boolean(),
});

describe("remembered words", () => {
  it("make the same programs as words that are looked up", async () => {
    const seen = { remembered: 0, near: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(QUERY, { minLength: 1, maxLength: 12 }), fc.nat(), async (queries, seed) => {
        const cache = new ExpansionCache(new CacheMeter(), new WordMemories());
        let generation = 1;
        for (const { pieces, policy, rounds, writes, ...body } of queries) {
          if (writes) generation++;
          const q = pieces.map(({ word, before, after }) => before + word + after).join("");
          const request = readQueryRequest({ q, ...body }, index, DEFAULT_LIMITS);
          const programs = async (expansions: ExpansionCache | null): Promise<string[]> => {
            const scale = { documents: DOCUMENTS, documentsMax: DOCUMENTS };
            const plan = { ...planQuery(request, index, scale), typoPolicy: policy };
            if (plan.text.words.length === 0) return [];
            const shards = new RandomShards(seed + generation, generation, expansions);
            const expander = new WordExpander(plan, new Dictionaries(shards, plan.typosPerWordMax));
            const remembered = expander.remembered();
            if (remembered !== null) seen.remembered++;
            const words = remembered ?? (await run(expander.asWritten()));
            if (words.typos.size > 0) seen.near++;
            const doubted = await run(expander.withDoubts(words));
            return [words, doubted].flatMap((found) => {
              if (found === null) return [];
              const bytes = encodeSearch(programOf(plan, "all", found.words, found.lengths));
              const { frequencies, corrections, typos } = found;
              return [
                Buffer.from(bytes).toString("hex"),
                JSON.stringify([frequencies, [...corrections], [...typos], found.words]),
              ];
            });
          };
          const expected = await programs(null);
          for (let round = 0; round < rounds; round++) expect(await programs(cache)).toEqual(expected);
        }
      }),
      { numRuns: 60 },
    );
    expect(seen.remembered).toBeGreaterThan(0);
    expect(seen.near).toBeGreaterThan(0);
  });
});
