// Collects the facts about an index that query understanding needs: the price field, the units of fields, and
// facet values. They are derived from the schema and facet counts, without making requests. A reading can
// name only what is listed here.

import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { ResolvedField, ResolvedSchema } from "../../catalog/schema/resolved-schema.js";
import { LANGUAGES } from "./languages/all.js";
import type { Language, Role } from "./languages/language.js";
import { valueKeys } from "./tokens.js";
import { type Unit, unitNamed } from "./units.js";

/** What a text facet is about. Determines how its values are recognised. */
export type FacetSubject = "brand" | "colour" | "category" | "other";

/** A facet value that a query may name. */
export interface NamedValue {
  readonly field: ResolvedField;
  readonly subject: FacetSubject;
  /** All of the value's spellings in the index. A filter for the value includes them all. */
  readonly spellings: readonly string[];
  readonly keys: readonly string[];
  readonly documents: number;
}

/** A facet value and the number of documents that have it. */
export interface ValueCount {
  readonly value: string;
  readonly count: number;
}

/** Values with more words are titles and running text, which nobody types as part of a query. */
const VALUE_WORDS_MAX = 5;
const COLOUR_WORDS_MAX = 2;
const FIELDS_TOLD_MAX = 50;
/** Maximum number of spellings of one value in a filter. */
const SPELLINGS_MAX = 50;

/** A value of one word that a query may misspell. */
export interface SpelledValue {
  readonly word: string;
  /** See lettersOf. */
  readonly letters: number;
  readonly value: NamedValue;
}

const NO_VALUES: readonly NamedValue[] = [];
const NONE_SPELLED: readonly SpelledValue[] = [];

type NameOf = Role | "brand" | "colour" | "category" | "size";

export class IndexFacts {
  /** The field for each role. Null if the index has no such field, or several equally likely ones. */
  readonly roles: Readonly<Record<Role, ResolvedField | null>>;
  /** Number fields whose names end in a unit. */
  readonly measured: readonly { readonly field: ResolvedField; readonly unit: Unit }[];
  /**
   * Facet values by their keys (see tokens.ts). `#values` uses the exact keys, and `#singular` has the last
   * key in the singular.
   */
  readonly #values = new Map<string, NamedValue[]>();
  readonly #singular = new Map<string, NamedValue[]>();
  /** First words of all facet values, and of the singular of values that have only one key. */
  readonly #firsts = new Set<string>();
  /** One-word facet values that a query may misspell, by length and first letter. */
  readonly #spelled = new Map<number, Map<string, SpelledValue[]>>();
  readonly #named = new Map<string, ResolvedField[]>();
  readonly #fields: ReadonlyMap<string, ResolvedField>;
  /** Number of keys in the longest value. */
  readonly wordsMax: number;
  /** Number of facet values. */
  readonly size: number;

  constructor(record: IndexRecord, schema: ResolvedSchema, counted: readonly FieldValues[]) {
    const fields = record.fields.flatMap(({ name }) => schema.field(name) ?? []).filter(isNameable);
    const numbers = fields.filter(({ kind, array }) => (kind === "int" || kind === "float") && !array);
    const roleOf = (role: Role, candidates: readonly ResolvedField[]) => fieldOf(role, candidates);
    this.roles = {
      price: roleOf("price", numbers),
      rating: roleOf(
        "rating",
        numbers.filter((field) => !namedFor(field, "popularity")),
      ),
      popularity: roleOf("popularity", numbers),
      date: roleOf(
        "date",
        fields.filter(({ sort, kind }) => sort && kind !== "bool"),
      ),
    };
    const taken = new Set(Object.values(this.roles));
    this.measured = numbers
      .filter((field) => !taken.has(field))
      .flatMap((field) => unitsInName(field).map((unit) => ({ field, unit })));
    for (const field of fields) {
      if (field.kind === "bool") continue;
      for (const name of namesOf(field)) addTo(this.#named, name, field);
    }
    this.#fields = new Map(fields.map((field) => [field.name, field]));
    let wordsMax = 0;
    let size = 0;
    for (const { field, values } of counted) {
      const subject = subjectOf(field, record.settings.brand_field);
      for (const value of grouped(field, subject, values)) {
        size++;
        wordsMax = Math.max(wordsMax, value.keys.length);
        this.#firsts.add(firstWord(value.keys[0]!));
        if (value.keys.length === 1) this.#firsts.add(firstWord(singular(value.keys[0]!)));
        addTo(this.#values, value.keys.join(" "), value);
        addTo(this.#singular, singularKey(value.keys), value);
        if (value.keys.length === 1 && subject !== "other") this.#addSpelled(value.keys[0]!, value);
      }
    }
    this.wordsMax = wordsMax;
    this.size = size;
  }

  /** False if `values` finds none for any keys that begin with this one. */
  beginsValue(key: string): boolean {
    return this.#firsts.has(firstWord(key)) || this.#firsts.has(firstWord(singular(key)));
  }

  /**
   * Returns the facet values with exactly these keys or, if there are none, those that differ only in
   * singular and plural.
   */
  values(keys: readonly string[]): readonly NamedValue[] {
    const exact = this.#values.get(keys.join(" "));
    if (exact !== undefined) return exact;
    // A brand is a name and has no plural, so it must match exactly.
    return this.#singular.get(singularKey(keys))?.filter(({ subject }) => subject !== "brand") ?? NO_VALUES;
  }

  /** Returns the field with this name if filters can name it, otherwise null. */
  field(name: string): ResolvedField | null {
    return this.#fields.get(name) ?? null;
  }

  /**
   * Returns the fields with everything that a model is told about them: the type and, for facets, the most
   * frequent values.
   */
  told(valuesMax: number): { name: string; type: string; values?: string[] }[] {
    const values = new Map<ResolvedField, string[]>();
    for (const list of this.#values.values())
      for (const { field, spellings } of list) addTo(values, field, spellings[0]!);
    return [...this.#fields.values()].slice(0, FIELDS_TOLD_MAX).map((field) => {
      const known = values.get(field)?.slice(0, valuesMax);
      return { name: field.name, type: field.type, ...(known === undefined ? {} : { values: known }) };
    });
  }

  /**
   * Returns brands, colours and categories that consist of a single word with this length and first letter.
   */
  valuesLike(length: number, first: string): readonly SpelledValue[] {
    return this.#spelled.get(length)?.get(first) ?? NONE_SPELLED;
  }

  /**
   * Returns the only field named by a word such as `brand`, `size` or `farbe`. Null if the word names no
   * field or several.
   */
  fieldNamed(key: string): ResolvedField | null {
    const fields = this.#named.get(key);
    return fields?.length === 1 ? (fields[0] as ResolvedField) : null;
  }

  #addSpelled(word: string, value: NamedValue): void {
    let byFirst = this.#spelled.get(word.length);
    if (byFirst === undefined) {
      byFirst = new Map();
      this.#spelled.set(word.length, byFirst);
    }
    addTo(byFirst, word.charAt(0), { word, letters: lettersOf(word), value });
  }
}

/** Returns words that queries may use to name a field. */
export function namesOfFields(record: IndexRecord, schema: ResolvedSchema): ReadonlySet<string> {
  const fields = record.fields.flatMap(({ name }) => schema.field(name) ?? []).filter(isNameable);
  return new Set(fields.flatMap((field) => [...namesOf(field)]));
}

/** One facet's value counts. */
export interface FieldValues {
  readonly field: ResolvedField;
  readonly values: readonly ValueCount[];
}

/** Returns the facets whose values a query may name. */
export function facetsToKnow(
  record: IndexRecord,
  schema: ResolvedSchema,
  fieldsMax: number,
): ResolvedField[] {
  return record.fields
    .flatMap(({ name }) => schema.field(name) ?? [])
    .filter((field) => field.facet && field.kind === "string" && isNameable(field))
    .slice(0, fieldsMax);
}

/** True if a filter can name the field. `id` cannot be used: in filters, it means the document's id. */
function isNameable({ index, name }: ResolvedField): boolean {
  return index && name !== "id" && name === name.trim() && !/[:()[\]`&|]/.test(name);
}

/** Merges spellings that have the same keys into one value. */
function grouped(field: ResolvedField, subject: FacetSubject, values: readonly ValueCount[]): NamedValue[] {
  const byKeys = new Map<string, { keys: string[]; spellings: string[]; documents: number }>();
  for (const { value, count } of values) {
    const keys = valueKeys(value);
    const most = subject === "colour" ? COLOUR_WORDS_MAX : VALUE_WORDS_MAX;
    if (keys.length === 0 || keys.length > most || !keys.some((key) => /\p{L}/u.test(key) || key.length > 1))
      continue;
    const known = byKeys.get(keys.join(" "));
    if (known === undefined) byKeys.set(keys.join(" "), { keys, spellings: [value], documents: count });
    else if (known.spellings.length < SPELLINGS_MAX) {
      known.spellings.push(value);
      known.documents += count;
    }
  }
  return [...byKeys.values()].map((value) => ({ field, subject, ...value }));
}

function subjectOf(field: ResolvedField, brandField: string | null): FacetSubject {
  if (field.name === brandField || namedFor(field, "brand")) return "brand";
  if (namedFor(field, "colour")) return "colour";
  return namedFor(field, "category") ? "category" : "other";
}

/**
 * Returns the field for a role: the only one that is named after the role or, if there are several, the only
 * one whose whole name is the role's word. Otherwise null.
 */
function fieldOf(role: Role, fields: readonly ResolvedField[]): ResolvedField | null {
  const candidates = fields.filter((field) => namedFor(field, role));
  if (candidates.length < 2) return candidates[0] ?? null;
  const whole = candidates.filter((field) => wordsOf(field).length === 1);
  return whole.length === 1 ? (whole[0] as ResolvedField) : null;
}

function namedFor(field: ResolvedField, name: NameOf): boolean {
  return wordsOf(field).some((word) => LANGUAGES.some(({ names }: Language) => names.get(word) === name));
}

/**
 * Returns the words by which a query can refer to the field: its own name if that is a single word, and what
 * each language calls such a field.
 */
function namesOf(field: ResolvedField): Set<string> {
  const words = wordsOf(field);
  const own = words.length === 1 ? words : [];
  const roles = new Set<string>();
  for (const { names } of LANGUAGES)
    for (const word of words) if (names.has(word)) roles.add(names.get(word) as string);
  const called = LANGUAGES.flatMap(({ names }) =>
    [...names].filter(([, role]) => roles.has(role)).map(([word]) => word),
  );
  return new Set([...own, ...called]);
}

/** Splits a field's name into words: `screenSize_inch` becomes `screen`, `size`, `inch`. */
function wordsOf({ name }: ResolvedField): string[] {
  return valueKeys(name.replace(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, "$1 ").replace(/[_.\-/]+/g, " "));
}

function unitsInName(field: ResolvedField): Unit[] {
  const last = wordsOf(field).at(-1);
  const unit = last === undefined ? undefined : unitNamed(last);
  return unit === undefined ? [] : [unit];
}

function singularKey(keys: readonly string[]): string {
  return keys.map((key, i) => (i === keys.length - 1 ? singular(key) : key)).join(" ");
}

/**
 * Returns a common form for the singular and plural of most English, French and Spanish nouns. It need not be
 * a real word.
 */
export function singular(key: string): string {
  if (key.length < 3 || !key.endsWith("s") || key.endsWith("ss")) return key;
  if (key.endsWith("ies")) return `${key.slice(0, -3)}y`;
  if (/(?:[sxz]|ch|sh)es$/.test(key)) return key.slice(0, -2);
  return key.slice(0, -1);
}

/**
 * Returns a set of the word's letters: a character's bit is its code modulo 32. An edit changes at most two
 * bits.
 */
export function lettersOf(word: string): number {
  let letters = 0;
  for (const character of word) letters |= 1 << (character.codePointAt(0)! & 31);
  return letters;
}

/** A few letters, such as U+FDFA, stand for several words, so that a key may contain spaces. */
function firstWord(key: string): string {
  const end = key.indexOf(" ");
  return end === -1 ? key : key.slice(0, end);
}

function addTo<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
