// A document as scoring sees it: for each text field, every term's positions (joined words and markers are
// terms too) and the field's length as stored in the norm byte.
import { analyse, decodeNorm, encodeNorm } from "../words/analyse.js";
import { type Marking, markerTerms, UNMARKED } from "../words/markers.js";
import { type Analysis, type Document, type Field, isText, valuesOf } from "./values.js";

/** Number of positions left unused between two elements of a string[]. */
const ELEMENT_GAP = 8;

export interface FieldText {
  /** Term -> ascending positions. */
  positions: Map<string, number[]>;
  /** Number of tokens, rounded to a value that the norm byte can represent. */
  length: number;
}

export interface Row {
  document: Document;
  /** A newer document has a larger number. */
  seq: number;
  /** By field name; fields without tokens are omitted. */
  texts: Map<string, FieldText>;
}

export function makeRow(
  document: Document,
  seq: number,
  fields: Field[],
  analysis: Analysis,
  markingOf: (field: Field) => Marking = () => UNMARKED,
): Row {
  const texts = new Map<string, FieldText>();
  for (const field of fields) {
    if (!isText(field) || field.index === false) continue;
    const text = fieldText(valuesOf(document, field) as string[], analysis, markingOf(field));
    if (text.length > 0) texts.set(field.name, text);
  }
  return { document, seq, texts };
}

function fieldText(elements: string[], analysis: Analysis, marking: Marking): FieldText {
  const positions = new Map<string, number[]>();
  let next = 0;
  let tokens = 0;
  for (const element of elements) {
    const found = analyse(element, analysis);
    const words = found.filter(({ parts }) => parts === 1);
    for (const { term, position } of [...found, ...markerTerms(words, marking)]) {
      const known = positions.get(term);
      if (known === undefined) positions.set(term, [next + position]);
      else known.push(next + position);
    }
    tokens += words.length;
    next += words.length + ELEMENT_GAP;
  }
  return { positions, length: decodeNorm(encodeNorm(tokens)) };
}

/** Compares in the order of a segment's dictionary: by UTF-8 bytes. */
export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
