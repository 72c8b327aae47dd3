// Looks query words up in the dictionaries of all shards and adds the answers up, so that every decision
// about a word rests on global counts and is the same for any number of shards.
import { PREFIX_TERMS_LISTED } from "../../engine-wasm/assembly/layout.js";
import type { ExpandProgram, ExpandWord } from "../../engine-wasm/host/expand-program.js";
import type {
  ExpandResult,
  PrefixExpansion,
  TypoExpansion,
  WordExpansion,
} from "../../engine-wasm/host/expand-result.js";
import type { SearchWord } from "../../engine-wasm/host/search-program.js";
import {
  alternativesOf,
  hasFrequentNeighbour,
  isFew,
  isMissing,
  isRare,
  limitTypos,
  literalFrequency,
} from "./alternatives.js";
import type { Plan } from "./plan.js";
import type { QueryWord } from "./query-text.js";

/** The query's words as the index knows them. */
export interface ExpandedWords {
  readonly words: readonly SearchWord[];
  /** Tokens per document of each queried field. */
  readonly averageLengths: readonly number[];
  /** Typos were looked up for every word that may have them: asking again changes nothing. */
  readonly exhausted: boolean;
}

/** Global dictionary answers for one query and snapshot; remembers nothing between queries. */
export class WordExpander {
  readonly #plan: Plan;
  readonly #ask: (program: ExpandProgram) => Promise<ExpandResult>;
  #literal: ExpandResult | null = null;

  constructor(plan: Plan, ask: (program: ExpandProgram) => Promise<ExpandResult>) {
    this.#plan = plan;
    this.#ask = ask;
  }

  /** The words with typos where the policy sees a reason for them. */
  async asWritten(): Promise<ExpandedWords> {
    const literal = await this.#lookUpLiteral();
    const typos = await this.#suspectedTypos(literal);
    return this.#choose(literal, typos);
  }

  /** The words with all the typos that their lengths allow. */
  async withAllTypos(): Promise<ExpandedWords> {
    const literal = await this.#lookUpLiteral();
    const typos = await this.#lookUpTypos((word) => word.typosMax);
    return this.#choose(literal, typos);
  }

  async #lookUpLiteral(): Promise<ExpandResult> {
    const words = this.#plan.text.words.map(({ term, prefix }) => ({
      term,
      exact: true,
      prefix,
      typoPrefix: false,
      maxTypos: 0,
    }));
    this.#literal ??= await this.#ask({ slots: this.#slots(), words });
    return this.#literal;
  }

  async #suspectedTypos(literal: ExpandResult): Promise<Map<string, readonly TypoExpansion[]>> {
    const { typoPolicy } = this.#plan;
    const frequencies = new Map(
      this.#plan.text.words.map((word, i) => [
        word.term,
        literalFrequency(literal.words[i] as WordExpansion),
      ]),
    );
    const frequencyOf = (word: QueryWord): number => frequencies.get(word.term) ?? 0;
    if (typoPolicy === "always") return this.#lookUpTypos((word) => word.typosMax);
    if (typoPolicy === "missing")
      return this.#lookUpTypos((word) => (isMissing(frequencyOf(word)) ? word.typosMax : 0));
    const few = (word: QueryWord): boolean => isFew(frequencyOf(word), literal.liveRows);
    const rare = (word: QueryWord): boolean => isRare(frequencyOf(word), literal.liveRows);
    const near = await this.#lookUpTypos((word) =>
      few(word) ? word.typosMax : rare(word) ? Math.min(1, word.typosMax) : 0,
    );
    const misspelt = (word: QueryWord): boolean =>
      few(word) || hasFrequentNeighbour(frequencyOf(word), near.get(word.term) ?? []);
    const suspects = this.#plan.text.words.filter((word) => near.has(word.term) && misspelt(word));
    if (suspects.every((word) => few(word) || word.typosMax === 1)) {
      return new Map(suspects.map((word) => [word.term, near.get(word.term) ?? []]));
    }
    const terms = new Set(suspects.map((word) => word.term));
    return this.#lookUpTypos((word) => (terms.has(word.term) ? word.typosMax : 0));
  }

  /** Typos of the words for which `typosOf` allows some; asks nothing when there are none. */
  async #lookUpTypos(typosOf: (word: QueryWord) => number): Promise<Map<string, readonly TypoExpansion[]>> {
    const words: ExpandWord[] = this.#plan.text.words
      .map((word) => ({
        term: word.term,
        exact: false,
        prefix: false,
        typoPrefix: word.prefix,
        maxTypos: typosOf(word),
      }))
      .filter((word) => word.maxTypos > 0);
    if (words.length === 0) return new Map();
    const result = await this.#ask({ slots: this.#slots(), words });
    return new Map(words.map((word, i) => [word.term, result.words[i]?.typos ?? []]));
  }

  #choose(literal: ExpandResult, typos: ReadonlyMap<string, readonly TypoExpansion[]>): ExpandedWords {
    const { words } = this.#plan.text;
    return {
      words: words.map((word, i) => {
        const limited = limitTypos(typos.get(word.term) ?? [], this.#plan.typosPerWordMax);
        return alternativesOf(word, literal.words[i] as WordExpansion, limited, literal.liveRows);
      }),
      averageLengths: literal.slots.map((slot) =>
        slot.documents === 0 ? 0 : slot.totalLength / slot.documents,
      ),
      exhausted: words.every((word) => word.typosMax === 0 || typos.has(word.term)),
    };
  }

  #slots(): number[] {
    return this.#plan.program.slots.map((slot) => slot.slot);
  }
}

/** The answer that one shard with all documents would have given. At least one result, all of one program. */
export function sumExpansions(results: readonly ExpandResult[]): ExpandResult {
  const first = results[0] as ExpandResult;
  if (results.length === 1) return first;
  return {
    liveRows: results.reduce((sum, result) => sum + result.liveRows, 0),
    slots: first.slots.map((_, i) => ({
      totalLength: results.reduce((sum, result) => sum + (result.slots[i]?.totalLength ?? 0), 0),
      documents: results.reduce((sum, result) => sum + (result.slots[i]?.documents ?? 0), 0),
    })),
    words: first.words.map((_, i) => sumWords(results.map((result) => result.words[i] as WordExpansion))),
  };
}

function sumWords(words: readonly WordExpansion[]): WordExpansion {
  const exacts = words.map((word) => word.exact).filter((exact) => exact !== null);
  const prefixes = words.map((word) => word.prefix).filter((prefix) => prefix !== null);
  const typos = words.map((word) => word.typos).filter((list) => list !== null);
  return {
    exact: exacts.length === 0 ? null : addAll(exacts),
    prefix: prefixes.length === 0 ? null : sumPrefixes(prefixes),
    typos: typos.length === 0 ? null : sumTypos(typos.flat()),
  };
}

function sumPrefixes(prefixes: readonly PrefixExpansion[]): PrefixExpansion {
  const frequencies = addAll(prefixes.map((prefix) => prefix.frequencies));
  const union = new Set(prefixes.flatMap((prefix) => prefix.terms ?? []));
  if (union.size > PREFIX_TERMS_LISTED || prefixes.some((prefix) => prefix.terms === null)) {
    return { termCount: PREFIX_TERMS_LISTED + 1, frequencies, terms: null };
  }
  const terms = [...union].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return { termCount: terms.length, frequencies, terms };
}

function sumTypos(typos: readonly TypoExpansion[]): TypoExpansion[] {
  const byTerm = new Map<string, TypoExpansion>();
  for (const typo of typos) {
    const known = byTerm.get(typo.term);
    const frequencies =
      known === undefined ? typo.frequencies : addAll([known.frequencies, typo.frequencies]);
    byTerm.set(typo.term, { ...typo, frequencies });
  }
  return [...byTerm.values()];
}

function addAll(lists: readonly (readonly number[])[]): number[] {
  const first = lists[0] ?? [];
  return first.map((_, i) => lists.reduce((sum, list) => sum + (list[i] ?? 0), 0));
}
