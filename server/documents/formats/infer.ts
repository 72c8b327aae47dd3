// Infers a schema from observed facts, and gives a reason for every choice so that the user can disagree.
// Pure functions.

import { FIELD_TYPES, type FieldType } from "../../ground/field-types.js";
import { DISTINCT_MAX, type FieldFacts } from "./observe.js";

export interface SchemaField {
  readonly name: string;
  readonly type: FieldType;
  readonly facet?: boolean;
  readonly sort?: boolean;
}

export interface InferredSchema {
  readonly fields: readonly SchemaField[];
  readonly default_sorting_field?: string;
}

/**
 * One line of the table shown to the user. If `type` is null, the field is stored and returned, but not
 * declared.
 */
export interface FieldChoice {
  readonly name: string;
  readonly type: FieldType | null;
  readonly facet: boolean;
  readonly sort: boolean;
  readonly why: string;
}

export interface Inference {
  readonly choices: readonly FieldChoice[];
  readonly schema: InferredSchema;
}

const FIELDS_MAX = 500;
const FACET_CHARACTERS_MAX = 60;
const LONG_TEXT_CHARACTERS = 200;
/**
 * A field is declared int32 if no number in the sample exceeds this limit, which leaves room for later
 * numbers sixteen times as large.
 */
const INT32_COMFORTABLE = 2 ** 31 / 16;
const INT64_MAX = 2 ** 63;
const TITLE_NAMES = [
  "title",
  "name",
  "product_name",
  "product_title",
  "display_name",
  "label",
  "headline",
  "subject",
];
const MEASURE_NAME =
  /(^|_)(price|cost|amount|total|rating|score|weight|height|width|length|depth|volume|lat|lng|lon)$/i;
/**
 * Names of fields that people filter by. Such a field becomes a facet if its values are short, even if the
 * sample has many distinct values.
 */
const NARROWING_NAME =
  /(^|_)(brands?|manufacturer|vendor|categor(y|ies)|colou?rs?|sizes?|materials?|tags?|genres?|languages?|country|department|gender|condition|availability|status)$/i;
const NARROWING_CHARACTERS_MAX = 40;
const POPULARITY_NAMES = [
  "popularity",
  "sales",
  "sold",
  "sales_count",
  "rating_count",
  "ratings_count",
  "review_count",
  "reviews_count",
  "num_reviews",
  "downloads",
  "stars",
  "population",
  "votes",
];

/** Infers a schema for the documents from which the facts were collected. */
export function inferSchema(facts: Iterable<FieldFacts>, documents: number): Inference {
  const choices: FieldChoice[] = [];
  const longTexts = new Set<string>();
  let declared = 0;
  for (const field of facts) {
    if (field.name === "id") continue;
    const choice =
      declared < FIELDS_MAX ? choose(field, documents) : stored(field.name, "too many fields to declare all");
    choices.push(choice);
    if (choice.type !== null) declared++;
    if (field.strings > 0 && averageLength(field) > LONG_TEXT_CHARACTERS) longTexts.add(field.name);
  }
  const fields = inSearchOrder(choices, longTexts).map(toSchemaField);
  const sorting = POPULARITY_NAMES.find((name) =>
    choices.some((choice) => choice.name === name && choice.type !== null && FIELD_TYPES[choice.type].ranks),
  );
  return { choices, schema: sorting === undefined ? { fields } : { fields, default_sorting_field: sorting } };
}

function toSchemaField(choice: FieldChoice): SchemaField {
  const type = choice.type!;
  const field: { name: string; type: FieldType; facet?: boolean; sort?: boolean } = {
    name: choice.name,
    type,
  };
  if (choice.facet) field.facet = true;
  if (choice.sort && FIELD_TYPES[type].sortDefault === false) field.sort = true;
  return field;
}

/**
 * Orders the fields by their importance for a search, which is what field order means in a schema: titles
 * first, long texts last.
 */
function inSearchOrder(choices: readonly FieldChoice[], longTexts: ReadonlySet<string>): FieldChoice[] {
  const rank = (choice: FieldChoice): number => {
    const title = TITLE_NAMES.indexOf(choice.name.toLowerCase());
    if (title >= 0 && choice.type === "string") return title - TITLE_NAMES.length;
    return longTexts.has(choice.name) ? 1 : 0;
  };
  return choices.filter((choice) => choice.type !== null).sort((a, b) => rank(a) - rank(b));
}

function choose(field: FieldFacts, documents: number): FieldChoice {
  if (field.name === "embedding" || field.name.startsWith("_"))
    return stored(field.name, "internal name, never returned");
  if (field.name === "") return stored(field.name, "empty name");
  if (field.present === 0) return stored(field.name, "no value in the sample");
  if (field.objects > 0) return stored(field.name, "nested object");
  if (field.otherArrays > 0) return stored(field.name, "array of mixed or nested values");
  const numbers = field.integers + field.decimals;
  const arrays = field.stringArrays + field.integerArrays + field.decimalArrays;
  if (field.strings === field.present) return chooseText(field, documents);
  if (field.bools === field.present) return choice(field.name, "bool", true, true, "true or false");
  if (numbers === field.present) return chooseNumber(field);
  if (field.stringArrays === field.present) return chooseTextArray(field);
  if (arrays === field.present && field.stringArrays === 0) return chooseNumberArray(field);
  return stored(field.name, `values of different kinds: ${kinds(field)}`);
}

function chooseText(field: FieldFacts, documents: number): FieldChoice {
  if (field.webAddresses > field.texts * 0.9) return stored(field.name, "web addresses or file names");
  if (field.dates === field.texts)
    return choice(field.name, "string", false, true, "dates as text, which sort in time order");
  if (isLowCardinality(field)) return choice(field.name, "string", true, false, variety(field));
  if (isNarrowing(field))
    return choice(field.name, "string", true, false, "many values, but useful for filtering");
  const average = Math.round(averageLength(field));
  const missing = field.present < documents ? `, in ${percent(field.present / documents)} of documents` : "";
  return choice(field.name, "string", false, false, `text of about ${average} characters${missing}`);
}

function chooseTextArray(field: FieldFacts): FieldChoice {
  if (field.webAddresses > field.texts * 0.9) return stored(field.name, "web addresses or file names");
  if (isLowCardinality(field)) {
    return choice(
      field.name,
      "string[]",
      true,
      false,
      `lists, ${field.distinct.size} different short values`,
    );
  }
  return choice(field.name, "string[]", false, false, "lists of mostly different values");
}

function chooseNumber(field: FieldFacts): FieldChoice {
  if (field.decimals > 0) {
    const both = field.integers > 0 ? "numbers with and without decimals" : "decimal numbers";
    return choice(field.name, "float", false, true, both);
  }
  if (MEASURE_NAME.test(field.name)) {
    return choice(
      field.name,
      "float",
      false,
      true,
      "whole numbers so far, but its name suggests a measurement",
    );
  }
  const range = `whole numbers ${field.least} to ${field.greatest}`;
  const size = Math.max(Math.abs(field.least), Math.abs(field.greatest));
  if (size > INT64_MAX) return choice(field.name, "float", false, true, `${range}, beyond int64`);
  return choice(field.name, size <= INT32_COMFORTABLE ? "int32" : "int64", false, true, range);
}

function chooseNumberArray(field: FieldFacts): FieldChoice {
  if (field.decimalArrays > 0) return choice(field.name, "float[]", false, false, "lists of decimal numbers");
  const size = Math.max(Math.abs(field.least), Math.abs(field.greatest));
  if (size <= INT32_COMFORTABLE) return choice(field.name, "int32[]", false, false, "lists of whole numbers");
  if (size <= Number.MAX_SAFE_INTEGER)
    return choice(field.name, "float[]", false, false, "lists of large whole numbers");
  return stored(field.name, "lists of whole numbers beyond 2^53");
}

/**
 * True if the field's values are short, at most DISTINCT_MAX / 2 of them are distinct, and each distinct
 * value occurs at least twice on average.
 */
function isLowCardinality(field: FieldFacts): boolean {
  const different = field.distinct.size;
  return (
    field.longestText <= FACET_CHARACTERS_MAX && different <= DISTINCT_MAX / 2 && different <= field.texts / 2
  );
}

function isNarrowing(field: FieldFacts): boolean {
  return NARROWING_NAME.test(field.name) && averageLength(field) <= NARROWING_CHARACTERS_MAX;
}

function variety(field: FieldFacts): string {
  return field.distinct.size === 1 ? "one short value" : `${field.distinct.size} different short values`;
}

function kinds(field: FieldFacts): string {
  const arrays = field.stringArrays + field.integerArrays + field.decimalArrays;
  const counts: [number, string][] = [
    [field.strings, "texts"],
    [field.integers + field.decimals, "numbers"],
    [field.bools, "bools"],
    [arrays, "lists"],
  ];
  return counts
    .filter(([n]) => n > 0)
    .map(([n, name]) => `${n} ${name}`)
    .join(", ");
}

function averageLength(field: FieldFacts): number {
  return field.texts === 0 ? 0 : field.textCharacters / field.texts;
}

function percent(part: number): string {
  return `${Math.max(1, Math.round(part * 100))} %`;
}

function choice(name: string, type: FieldType, facet: boolean, sort: boolean, why: string): FieldChoice {
  return { name, type, facet, sort, why };
}

function stored(name: string, why: string): FieldChoice {
  return { name, type: null, facet: false, sort: false, why };
}
