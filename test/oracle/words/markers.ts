// A value's marker terms, which do not correspond to tokens: stems of its words, the whole value as a part
// number, the whole value as a brand. They begin with a control character, unlike any word.
import { stem } from "../../../engine-wasm/host/stemmer.js";
import type { OracleToken } from "./analyse.js";

/** The additional terms that the settings request for a field. */
export interface Marking {
  /** Number of the field's language; 0 if it has none. */
  language: number;
  sku: boolean;
  brand: boolean;
}

export const UNMARKED: Marking = { language: 0, sku: false, brand: false };

const TERM_BYTES = 120;

export function isMarker(term: string): boolean {
  return term.charCodeAt(0) < 0x20;
}

/** A word's stems, one per language; all forms of a word share a stem. None for a word with a digit. */
export function stemTerms(term: string, languages: number[]): string[] {
  if (/\p{N}/u.test(term)) return [];
  return languages.map((language) => String.fromCharCode(1, 0x20 + language) + stem(language, term));
}

export function skuTerm(terms: string[]): string {
  return `\u0002${terms.join("")}`;
}

export function brandTerm(terms: string[]): string {
  return `\u0003${terms.join(" ")}`;
}

/** `words`: the words of one value. */
export function markerTerms(words: OracleToken[], marking: Marking): { term: string; position: number }[] {
  const terms = words.map(({ term }) => term);
  const languages = marking.language === 0 ? [] : [marking.language];
  const markers = words.flatMap(({ term, position }) =>
    stemTerms(term, languages).map((marker) => ({ term: marker, position })),
  );
  if (terms.length > 0 && marking.sku) markers.push({ term: skuTerm(terms), position: 0 });
  if (terms.length > 0 && marking.brand) markers.push({ term: brandTerm(terms), position: 0 });
  return markers.filter(({ term }) => Buffer.byteLength(term) <= TERM_BYTES);
}
