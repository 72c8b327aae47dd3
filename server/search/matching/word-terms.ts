// Turns a query's words and their forms into one dictionary request, and finds the result for each of them in
// the answer.
import type { ExpandProgram, ExpandWord } from "../../../engine-wasm/host/programs/expand-program.js";
import type { InfixExpansion } from "../../../engine-wasm/host/programs/expand-result.js";
import type { FoundForm, WordFindings } from "../../question/words/alternatives.js";
import type { QueryWord } from "../../question/words/query-text.js";
import {
  type KnownWord,
  type KnownWords,
  largest,
  sumLists,
} from "../../question/words/typos/ranked-typos.js";
import type { Form } from "../../question/words/variants.js";

/**
 * A request for the terms of words and forms, each term once. Remembers each term's position in the
 * request, to find its result in the answer.
 */
export class WordTerms {
  readonly program: ExpandProgram;
  readonly #at = new Map<string, number>();

  constructor(slots: readonly number[], words: readonly QueryWord[], forms: readonly Form[]) {
    const wanted: ExpandWord[] = [];
    const add = (term: string, prefix: boolean): void => {
      const at = this.#at.get(term);
      if (at === undefined) {
        this.#at.set(term, wanted.length);
        wanted.push({ term, exact: true, prefix, typoPrefix: false, maxTypos: 0 });
      } else if (prefix) {
        wanted[at] = { ...(wanted[at] as ExpandWord), prefix };
      }
    };
    for (const { terms, prefix } of words) for (const term of terms) add(term, prefix);
    for (const { terms, prefix } of forms) for (const term of terms) add(term, prefix);
    this.program = { slots, words: wanted };
  }

  /** Returns the distinct positions, in the request, of the terms of words or forms that it contains. */
  numbersOf(all: readonly { readonly terms: readonly string[] }[]): number[] {
    return [...new Set(all.flatMap(({ terms }) => terms.map((term) => this.#at.get(term) as number)))];
  }

  word(
    { terms, prefix }: QueryWord,
    answer: KnownWords,
    infixes: readonly InfixExpansion[],
  ): Omit<WordFindings, "stem" | "splits"> {
    const found = this.#found(terms[0] as string, answer);
    const range = prefix ? (found.prefix ?? null) : null;
    const exact = this.#rarest(terms, answer);
    const literal =
      terms.length > 1 || range === null ? exact : largest(sumLists([found.exact, range.frequencies]));
    return { exact, prefix: range, literal, infixes };
  }

  /**
   * Returns the forms that at least one document may contain, with upper bounds on the number of those
   * documents.
   */
  found(forms: readonly Form[], answer: KnownWords): FoundForm[] {
    const found: FoundForm[] = [];
    for (const form of forms) {
      const frequency = this.#frequency(form, answer);
      if (frequency > 0) found.push({ form, frequency });
    }
    return found;
  }

  #frequency({ terms, sequence, prefix }: Form, answer: KnownWords): number {
    if (sequence || (terms.length === 1 && !prefix)) return this.#rarest(terms, answer);
    const lists = terms.flatMap((term) => {
      const found = this.#found(term, answer);
      return [found.exact, prefix ? (found.prefix?.frequencies ?? null) : null];
    });
    return largest(sumLists(lists));
  }

  /**
   * Returns the rarest term's frequency, which bounds the number of documents that contain all the terms side
   * by side.
   */
  #rarest(terms: readonly string[], answer: KnownWords): number {
    let rarest = Number.POSITIVE_INFINITY;
    for (const term of terms) {
      const { exact } = this.#found(term, answer);
      rarest = Math.min(rarest, exact === null ? 0 : largest(exact));
    }
    return rarest;
  }

  #found(term: string, answer: KnownWords): KnownWord {
    return answer.words[this.#at.get(term) as number] as KnownWord;
  }
}
