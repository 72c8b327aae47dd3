// The filter language, evaluated document by document: an expression becomes a predicate. The parser is
// separate from the product's and written from the specification ("Filters, sorting, facets, paging"), so
// that an error in one of them shows as a disagreement. It accepts only well-formed expressions over known
// fields.

import { type Analysis, type Document, type Field, isText, type Value, valuesOf } from "./segments/values.js";
import { foldValue, hasInOrder, words } from "./words/analyse.js";

export type Predicate = (document: Document) => boolean;

type Test = (value: Value) => boolean;

export function parseFilter(text: string, fields: Field[], analysis: Analysis): Predicate {
  let at = 0;

  const skip = (): void => {
    while (/\s/.test(text[at] ?? "")) at++;
  };
  const take = (token: string): boolean => {
    skip();
    if (!text.startsWith(token, at)) return false;
    at += token.length;
    return true;
  };

  function either(): Predicate {
    const parts = [both()];
    while (take("||")) parts.push(both());
    return (document) => parts.some((part) => part(document));
  }

  function both(): Predicate {
    const parts = [single()];
    while (take("&&")) parts.push(single());
    return (document) => parts.every((part) => part(document));
  }

  function single(): Predicate {
    if (!take("(")) return clause();
    const inner = either();
    if (!take(")")) throw new Error(`filter ${text}: expected ) at ${at}`);
    return inner;
  }

  function clause(): Predicate {
    skip();
    const colon = text.indexOf(":", at);
    const name = text.slice(at, colon).trim();
    at = colon;
    const operator = [":!=", ":=", ":"].find((candidate) => take(candidate))!;
    const items = take("[") ? list() : [item(/&&|\|\||\)|$/)];
    const hit = name === "id" ? idTest(items) : fieldTest(name, operator, items);
    return operator === ":!=" ? (document) => !hit(document) : hit;
  }

  function list(): Item[] {
    const items = [item(/[,\]]/)];
    while (take(",")) items.push(item(/[,\]]/));
    if (!take("]")) throw new Error(`filter ${text}: expected ] at ${at}`);
    return items;
  }

  function item(end: RegExp): Item {
    skip();
    const comparison = [">=", "<=", ">", "<"].find((candidate) => take(candidate)) ?? "";
    skip();
    const quoted = /^`((?:[^`]|``)*)`/.exec(text.slice(at));
    if (quoted !== null) {
      at += quoted[0].length;
      return { comparison, text: quoted[1]!.replaceAll("``", "`"), high: undefined };
    }
    const length = text.slice(at).search(end);
    const raw = text.slice(at, at + length).trim();
    at += length;
    const dots = end.source.includes(",") ? raw.indexOf("..") : -1;
    if (dots < 0) return { comparison, text: raw, high: undefined };
    return { comparison, text: raw.slice(0, dots).trim(), high: raw.slice(dots + 2).trim() };
  }

  function fieldTest(name: string, operator: string, items: Item[]): Predicate {
    const field = fields.find((candidate) => candidate.name === name);
    if (field === undefined) throw new Error(`filter ${text}: unknown field ${name}`);
    const tests = items.map((entry) => valueTest(field, operator, entry, analysis));
    return (document) => valuesOf(document, field).some((value) => tests.some((test) => test(value)));
  }

  const predicate = either();
  skip();
  if (at !== text.length) throw new Error(`filter ${text}: unexpected text at ${at}`);
  return predicate;
}

interface Item {
  comparison: string;
  text: string;
  /** The upper end of a range. */
  high: string | undefined;
}

function idTest(items: Item[]): Predicate {
  return (document) => items.some((entry) => entry.text === document.id);
}

function valueTest(field: Field, operator: string, entry: Item, analysis: Analysis): Test {
  if (isText(field)) return textTest(operator, entry.text, analysis);
  if (field.type === "bool") return (value) => value === (entry.text === "true" ? 1n : 0n);
  const float = field.type === "float" || field.type === "float[]";
  const read = (literal: string): Value =>
    float || /[.eE]/.test(literal) ? Number(literal) : BigInt(literal);
  const low = read(entry.text);
  if (entry.high !== undefined) {
    const high = read(entry.high);
    return (value) => value >= low && value <= high;
  }
  if (entry.comparison === ">") return (value) => value > low;
  if (entry.comparison === "<") return (value) => value < low;
  if (entry.comparison === ">=") return (value) => value >= low;
  if (entry.comparison === "<=") return (value) => value <= low;
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint equals the float of the same value
  return (value) => value == low;
}

/** `:` requires the words to occur in order in one element; a value without words is compared as a whole. */
function textTest(operator: string, wanted: string, analysis: Analysis): Test {
  const terms = words(wanted, analysis).map((token) => token.term);
  if (operator === ":" && terms.length > 0) {
    return (value) => hasInOrder(value as string, terms, analysis);
  }
  const folded = foldValue(wanted);
  return (value) => foldValue(value as string) === folded;
}
