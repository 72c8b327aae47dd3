// Selects which of a document's values to suggest for an input, and marks those that start with it. Compares
// words in their indexed forms; pure except for the analyser.

import type { Token } from "../../../engine-wasm/host/instance/workbench.js";
import type { SearchWord } from "../../../engine-wasm/host/programs/search-program.js";
import type { ResolvedField } from "../../catalog/schema/resolved-schema.js";
import type { TextAnalyser } from "../../catalog/schema/text-analyser.js";
import { skuTerm, stemTerms } from "../../question/words/variants.js";

export interface FittingValue {
  /** As written in the document. */
  readonly value: string;
  readonly field: string;
  readonly startsWithInput: boolean;
}

export interface ValueRules {
  readonly analyser: TextAnalyser;
  /** The input's words. The last word may be incomplete. */
  readonly input: readonly Token[];
  /** The words that were searched for: the input's words with their allowed forms. */
  readonly words: readonly SearchWord[];
  /** Stemmer numbers for the languages of the searched fields. */
  readonly languages: readonly number[];
  /**
   * If true, a value that starts with other forms of the input's words also counts as starting with the
   * input.
   */
  readonly otherForms: boolean;
  /** Values with more bytes are running text, unsuitable for a search box. */
  readonly bytesMax: number;
}

/** How well a value fits an input. */
export interface Judgement {
  /** True if the value contains all of the input's words. */
  readonly fits: boolean;
  readonly startsWithInput: boolean;
}

/**
 * The forms in which a value may contain a searched word: whole terms, prefixes of terms, or sequences of
 * terms.
 */
interface WordForms {
  readonly whole: ReadonlySet<string>;
  readonly prefixes: readonly string[];
  readonly sequences: readonly (readonly string[])[];
}

export class ValueChooser {
  readonly #rules: ValueRules;
  readonly #words: readonly WordForms[];

  constructor(rules: ValueRules) {
    this.#rules = rules;
    this.#words = rules.words.map(formsOf);
  }

  /**
   * Returns the values that contain all words, in the order of fields and elements. If there are none,
   * returns the value that contains the most words. Ties go to a value that contains the word being typed,
   * then to the first value.
   */
  choose(document: Readonly<Record<string, unknown>>, fields: readonly ResolvedField[]): FittingValue[] {
    const complete: FittingValue[] = [];
    let best: FittingValue | undefined;
    let most = -1;
    for (const field of fields) {
      for (const value of textsOf(document, field.name)) {
        if (Buffer.byteLength(value) > this.#rules.bytesMax) continue;
        const tokens = this.#rules.analyser.tokens(value);
        if (tokens.length === 0) continue;
        const matched = this.#matchedWords(tokens);
        const fitting = { value, field: field.name, startsWithInput: this.#startsWithInput(tokens) };
        if (matched === this.#words.length) complete.push(fitting);
        const score = 2 * matched + (this.#hasLast(tokens) ? 1 : 0);
        if (score > most) [best, most] = [fitting, score];
      }
    }
    if (complete.length > 0) return complete;
    return best === undefined ? [] : [best];
  }

  startsWithInput(value: string): boolean {
    return this.#startsWithInput(this.#rules.analyser.tokens(value));
  }

  judge(tokens: readonly Token[]): Judgement {
    const fits = this.#words.length > 0 && this.#matchedWords(tokens) === this.#words.length;
    return { fits, startsWithInput: fits && this.#startsWithInput(tokens) };
  }

  #matchedWords(tokens: readonly Token[]): number {
    const plain = tokens.filter(({ parts }) => parts === 1).map(({ term }) => term);
    const { languages } = this.#rules;
    const terms = [
      ...tokens.map(({ term }) => term),
      ...plain.flatMap((term) => stemTerms(term, languages)),
      skuTerm(plain.join("")),
    ];
    return this.#words.filter((word) => terms.some((term) => isForm(term, word)) || hasSequence(plain, word))
      .length;
  }

  #startsWithInput(tokens: readonly Token[]): boolean {
    const { input, otherForms } = this.#rules;
    if (startsWith(tokens, 0, input, 0)) return true;
    if (!otherForms) return false;
    const plain = tokens.filter(({ parts }) => parts === 1);
    return this.#words.every((word, i) => isForm(plain[i]?.term ?? "", word));
  }

  #hasLast(tokens: readonly Token[]): boolean {
    const last = this.#rules.input.findLast(({ parts }) => parts === 1)?.term;
    return last !== undefined && tokens.some(({ term }) => term.startsWith(last));
  }
}

/** Judges a value by the input's words exactly as typed. */
export function judgeLiterally(value: readonly Token[], input: readonly Token[]): Judgement {
  const typed = input.filter(({ parts }) => parts === 1).map(({ term }) => term);
  const last = typed.pop();
  if (last === undefined) return { fits: false, startsWithInput: false };
  const startsWithInput = startsWith(value, 0, input, 0);
  const has = (word: string): boolean => value.some(({ term }) => term === word);
  const fits = startsWithInput || (typed.every(has) && value.some(({ term }) => term.startsWith(last)));
  return { fits, startsWithInput };
}

function formsOf(word: SearchWord): WordForms {
  const alternatives = word.alternatives.filter(({ sequence }) => !sequence);
  const terms = alternatives.flatMap((alternative) => alternative.terms);
  return {
    whole: new Set(terms.filter((term) => !term.prefix).map((term) => term.term)),
    prefixes: terms.filter((term) => term.prefix).map((term) => term.term),
    sequences: word.alternatives
      .filter(({ sequence }) => sequence)
      .map((one) => one.terms.map(({ term }) => term)),
  };
}

function isForm(term: string, word: WordForms): boolean {
  return word.whole.has(term) || word.prefixes.some((prefix) => term.startsWith(prefix));
}

function hasSequence(terms: readonly string[], { sequences }: WordForms): boolean {
  return sequences.some((sequence) =>
    terms.some((_, start) => sequence.every((term, i) => terms[start + i] === term)),
  );
}

/**
 * True if the value's words from position `at` on begin with the input's words from position `from` on. A
 * word written as one equals the same word written in parts, because a joined token stands for all its parts.
 */
function startsWith(value: readonly Token[], at: number, input: readonly Token[], from: number): boolean {
  const end = (input.findLast(({ parts }) => parts === 1)?.position ?? -1) + 1;
  if (from === end) return true;
  return input.some(
    (typed) =>
      typed.position === from &&
      value.some((token) => {
        if (token.position !== at) return false;
        const next = from + typed.parts;
        const fits = next === end ? token.term.startsWith(typed.term) : token.term === typed.term;
        return fits && startsWith(value, at + token.parts, input, next);
      }),
  );
}

function textsOf(document: Readonly<Record<string, unknown>>, name: string): string[] {
  const value = Object.hasOwn(document, name) ? document[name] : undefined;
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((text): text is string => typeof text === "string");
}
