// Collects facts about each top-level field in a sample of documents: kinds of values, ranges, lengths,
// number of distinct values. infer.ts draws the conclusions.

import { scanObject } from "./json-scan.js";

/** Distinct values are counted up to this number. A field with more is not treated as having few values. */
export const DISTINCT_MAX = 1000;

export interface FieldFacts {
  readonly name: string;
  /** Number of documents in which the field has a value (null, [] and "" do not count). */
  present: number;
  strings: number;
  /** How many numbers are whole and written without a point or an exponent. */
  integers: number;
  decimals: number;
  bools: number;
  objects: number;
  /** Number of documents whose value is a non-empty array, one counter per element type. */
  stringArrays: number;
  integerArrays: number;
  decimalArrays: number;
  otherArrays: number;
  /** Range of all integers, including those in arrays. Stored as numbers, so exact only up to 2^53. */
  least: number;
  greatest: number;
  /** This and the following members cover strings, including those in arrays. */
  texts: number;
  textCharacters: number;
  longestText: number;
  webAddresses: number;
  dates: number;
  /** Distinct texts, at most DISTINCT_MAX + 1. */
  readonly distinct: Set<string>;
}

const WEB_ADDRESS = /^(https?:)?\/\/\S+$|^\/?\S+\.(jpe?g|png|gif|webp|svg)$/i;
const DATE = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)/;
const INTEGER_LITERAL = /^-?\d+$/;

/** Collects facts about fields from documents. Fields are kept in order of first appearance. */
export class Observer {
  readonly fields = new Map<string, FieldFacts>();
  documents = 0;

  /** Returns false and counts nothing if the bytes are not exactly one JSON object. */
  add(document: Buffer): boolean {
    let parsed: unknown;
    try {
      parsed = JSON.parse(document.toString("utf8"));
    } catch (error) {
      if (error instanceof SyntaxError) return false;
      throw error;
    }
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return false;
    const values = new Map<string, unknown>(Object.entries(parsed));
    this.documents++;
    return scanObject(document, (nameStart, nameEnd, valueStart, valueEnd) => {
      const name: unknown = JSON.parse(`"${document.toString("utf8", nameStart, nameEnd)}"`);
      if (typeof name !== "string" || !values.has(name)) return;
      this.#observe(this.#facts(name), values.get(name), document.toString("utf8", valueStart, valueEnd));
      values.delete(name);
    });
  }

  #facts(name: string): FieldFacts {
    const known = this.fields.get(name);
    if (known !== undefined) return known;
    const fresh = noFacts(name);
    this.fields.set(name, fresh);
    return fresh;
  }

  /** `literal` is the value as written in the document: it distinguishes 52.0 from 52. */
  #observe(facts: FieldFacts, value: unknown, literal: string): void {
    if (value === null || value === "" || (Array.isArray(value) && value.length === 0)) return;
    facts.present++;
    if (typeof value === "string") {
      facts.strings++;
      observeText(facts, value);
    } else if (typeof value === "number") {
      if (INTEGER_LITERAL.test(literal)) {
        facts.integers++;
        observeInteger(facts, value);
      } else {
        facts.decimals++;
      }
    } else if (typeof value === "boolean") {
      facts.bools++;
    } else if (Array.isArray(value)) {
      observeArray(facts, value, literal);
    } else {
      facts.objects++;
    }
  }
}

function observeArray(facts: FieldFacts, elements: readonly unknown[], literal: string): void {
  if (elements.every((element) => typeof element === "string")) {
    facts.stringArrays++;
    for (const element of elements) observeText(facts, element);
  } else if (elements.every((element) => typeof element === "number")) {
    if (/[.eE]/.test(literal)) facts.decimalArrays++;
    else {
      facts.integerArrays++;
      for (const element of elements) observeInteger(facts, element);
    }
  } else {
    facts.otherArrays++;
  }
}

function observeText(facts: FieldFacts, text: string): void {
  facts.texts++;
  facts.textCharacters += text.length;
  if (text.length > facts.longestText) facts.longestText = text.length;
  if (WEB_ADDRESS.test(text)) facts.webAddresses++;
  if (DATE.test(text)) facts.dates++;
  if (facts.distinct.size <= DISTINCT_MAX) facts.distinct.add(text);
}

function observeInteger(facts: FieldFacts, value: number): void {
  if (value < facts.least) facts.least = value;
  if (value > facts.greatest) facts.greatest = value;
}

function noFacts(name: string): FieldFacts {
  return {
    name,
    present: 0,
    strings: 0,
    integers: 0,
    decimals: 0,
    bools: 0,
    objects: 0,
    stringArrays: 0,
    integerArrays: 0,
    decimalArrays: 0,
    otherArrays: 0,
    least: Number.POSITIVE_INFINITY,
    greatest: Number.NEGATIVE_INFINITY,
    texts: 0,
    textCharacters: 0,
    longestText: 0,
    webAddresses: 0,
    dates: 0,
    distinct: new Set(),
  };
}
