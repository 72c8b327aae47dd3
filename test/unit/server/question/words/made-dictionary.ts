// A test dictionary built from plain lists, in which a query's words are looked up.

import type {
  CompanyProgram,
  CompanyWord,
} from "../../../../../engine-wasm/host/programs/company-program.js";
import type { CompanyResult } from "../../../../../engine-wasm/host/programs/company-result.js";
import type {
  ExpandProgram,
  ExpandSuspect,
} from "../../../../../engine-wasm/host/programs/expand-program.js";
import type {
  ExpandResult,
  InfixExpansion,
  TypoExpansion,
} from "../../../../../engine-wasm/host/programs/expand-result.js";
import type { Work } from "../../../../../server/ground/jobs/work.js";
import { NOTHING_POPULAR, Popularity } from "../../../../../server/query-log/popularity/popularity.js";
import { type KnownWords, rankTypos } from "../../../../../server/question/words/typos/ranked-typos.js";
import type { SearchedFields, WordMemory } from "../../../../../server/question/words/word-memory.js";
import { WordExpander } from "../../../../../server/search/matching/expand.js";
import type { QueryPlan } from "../../../../../server/search/matching/plan.js";
import { analyser } from "../../record.js";

export const infix = (term: string, df: number): InfixExpansion => ({ term, frequencies: [df] });
export const typo = (term: string, distance: number, df: number, isPrefix = false): TypoExpansion => ({
  term,
  distance,
  isPrefix,
  frequencies: [df],
});

/**
 * A one-field dictionary: document frequencies by term, similar terms by word, longer terms by the word that
 * they contain, and the number of documents with both terms of a pair.
 */
export class MadeDictionary {
  readonly asked: ExpandProgram[] = [];
  companies = 0;
  constructor(
    readonly documents: number,
    readonly frequencies: Record<string, number>,
    readonly neighbours: Record<string, TypoExpansion[]> = {},
    readonly containing: Record<string, InfixExpansion[]> = {},
    readonly together: Record<string, number> = {},
    /** Remembers words. Null if every word must be looked up. */
    readonly words: WordMemory | null = null,
  ) {}

  memory(_fields: SearchedFields): WordMemory | null {
    return this.words;
  }

  memoryFor(): WordMemory | null {
    return this.words;
  }

  /** Supports only words with a single term. */
  *company({ words, candidates }: CompanyProgram): Work<CompanyResult> {
    this.companies++;
    const near = Object.values(this.neighbours).flat();
    const documents = ([term]: CompanyWord): number =>
      this.frequencies[term!] ?? near.find((one) => one.term === term)?.frequencies[0] ?? 0;
    return {
      liveRows: this.documents,
      words: words.map(documents),
      candidates: candidates.map((candidate) => ({
        documents: documents(candidate),
        together: words.map((word) => this.together[`${candidate[0]} ${word[0]}`] ?? 0),
      })),
    };
  }

  *lookUp(words: ExpandProgram, suspects?: () => readonly ExpandSuspect[]): Work<KnownWords> {
    const program = { ...words, suspects: suspects?.() ?? [] };
    this.asked.push(program);
    const answer: ExpandResult = {
      liveRows: this.documents,
      slots: program.slots.map(() => ({ totalLength: this.documents * 4, documents: this.documents })),
      words: program.words.map((word) => ({
        exact: word.exact ? [this.frequencies[word.term] ?? 0] : null,
        prefix: null,
        typos:
          word.maxTypos > 0
            ? (this.neighbours[word.term] ?? []).filter((one) => one.distance <= word.maxTypos)
            : null,
        infixes: word.infix === undefined ? null : (this.containing[word.term] ?? []),
      })),
      suspects: (program.suspects ?? []).map(() => ({ maxTypos: 0, typos: [] })),
    };
    return rankTypos(answer, program, 64);
  }
}

/** Returns the expander for a query with the given words. */
export function expander(
  dictionary: MadeDictionary,
  typoPolicy: QueryPlan["typoPolicy"],
  ...terms: [term: string, typosMax: number, typosAtLast?: number][]
): WordExpander {
  const plan = {
    text: {
      words: terms.map(([term, typosMax, typosAtLast = typosMax]) => ({
        terms: [term],
        prefix: false,
        typosMax,
        typosAtLast,
        quoted: false,
        count: 1,
      })),
    },
    joins: [],
    synonyms: [],
    fields: {
      slots: [0],
      infixSlots: Object.keys(dictionary.containing).length > 0 ? [0] : [],
      languages: [],
      key: "0",
    },
    typoPolicy,
    typosPerWordMax: 64,
    scale: { shards: 2, documents: dictionary.documents, documentsMax: dictionary.documents },
    popularity: new Popularity(NOTHING_POPULAR, analyser),
  } as unknown as QueryPlan;
  return new WordExpander(plan, dictionary);
}
