// Suggests settings for a feed from its first items: a clean name for each unusual field name, and a schema
// for the resulting documents. The schema is inferred by the same code as in the command line's import.
import type { FeedItem, FeedObject } from "../feeds/feed-item.js";
import { isCodeName } from "../formats/csv.js";
import { type InferredSchema, inferSchema, type SchemaField } from "../formats/infer.js";
import { Observer } from "../formats/observe.js";
import { isFeedObject, localName } from "./field-path.js";
import { toJson } from "./json-text.js";
import { itemMapper } from "./map-item.js";
import { parseNumber } from "./numbers.js";

export interface FeedSuggestion {
  readonly fieldsSeen: readonly FieldSeen[];
  /** Contains only fields whose name should change. */
  readonly fieldMap: Readonly<Record<string, string>>;
  readonly schema: InferredSchema;
}

interface FieldSeen {
  readonly path: string;
  /** Number of items that have the field. */
  readonly count: number;
  readonly example: string;
}

const EXAMPLE_CHARACTERS = 100;
const NAMES_MAX = 1_000;
const PATHS_MAX = 1_000;
const DEPTH_MAX = 3;
const NAME_CHARACTERS_MAX = 100;
const CLEAN = new RegExp(`^[A-Za-z][A-Za-z0-9_]{0,${NAME_CHARACTERS_MAX - 1}}$`);
const ID_NAMES = new Set(["id", "sku"]);
/** Names of columns that shops use for product numbers, best first. */
const ID_LIKE = [
  /^(product|item|article|artikel|variant|offer|unique)?[_\s-]*(id|sku)$/i,
  /^(product|item|article|artikel)?[_\s-]*(nr|no|number|nummer|code|handle)\.?$/i,
];
const AMOUNTS = ["amount", "value"];
const CURRENCIES = ["currency", "currency_code", "currencyCode"];
/** Fields that are lists in product feed vocabularies, even if an item has only one value. */
const LISTS = new Set(["additional_image_link", "additional_image_link[]"]);
const FLAG = /^(true|false|yes|no)$/i;

/** Suggests a field map and a schema. `idField` is the configured path of the id, or null. */
export function suggestFor(given: readonly FeedItem[], idField: string | null): FeedSuggestion {
  const items = withFirstNames(given);
  const values = items.flatMap(({ value }) => (value === null ? [] : [value]));
  const fieldMap = suggestedMap(values, idField);
  return { fieldsSeen: fieldsSeen(values), fieldMap, schema: suggestedSchema(items, fieldMap, idField) };
}

/** Drops fields whose names are not among the first NAMES_MAX, because an index cannot have more fields. */
function withFirstNames(items: readonly FeedItem[]): FeedItem[] {
  const all = new Set(items.flatMap(({ value }) => Object.keys(value ?? {})));
  const names = new Set([...all].slice(0, NAMES_MAX));
  return items.map((item) => {
    if (item.value === null) return item;
    return {
      ...item,
      value: Object.fromEntries(Object.entries(item.value).filter(([name]) => names.has(name))),
    };
  });
}

function fieldsSeen(values: readonly FeedObject[]): FieldSeen[] {
  const seen = new Map<string, { path: string; count: number; example: string }>();
  const look = (object: FeedObject, prefix: string, depth: number): void => {
    for (const [name, value] of Object.entries(object)) {
      const path = prefix + name;
      if (isFeedObject(value) && depth < DEPTH_MAX) {
        look(value, `${path}.`, depth + 1);
        continue;
      }
      const known = seen.get(path);
      if (known !== undefined) known.count++;
      else if (seen.size < PATHS_MAX) seen.set(path, { path, count: 1, example: exampleOf(value) });
    }
  };
  for (const value of values) look(value, "", 1);
  return [...seen.values()];
}

function exampleOf(value: unknown): string {
  const text = typeof value === "string" ? value : toJson(value);
  return text.length > EXAMPLE_CHARACTERS ? `${text.slice(0, EXAMPLE_CHARACTERS)}...` : text;
}

function suggestedMap(values: readonly FeedObject[], idField: string | null): Record<string, string> {
  const names = new Set(values.flatMap((value) => Object.keys(value)));
  const taken = new Set([...names].map(localName).filter((name) => CLEAN.test(name)));
  const map = new Map<string, string>();
  const idName = idField === null ? idLike(values, names) : null;
  if (idName !== null) map.set(idName, "id");
  for (const name of names) {
    const local = localName(name);
    const price = priceMembers(values, name);
    if (price !== null) {
      map.set(`${name}.${price.amount}`, local);
      if (price.currency !== null) map.set(`${name}.${price.currency}`, `${local}_currency`);
    } else if (name !== idName && !CLEAN.test(local)) {
      const clean = freeName(cleanName(local), taken);
      taken.add(clean);
      map.set(name, clean);
    }
  }
  return Object.fromEntries(map);
}

/**
 * Returns the field that is named like a product number and has a different value in every item. Null if
 * there is none, or if the feed has a field named `id` or `sku`.
 */
function idLike(values: readonly FeedObject[], names: ReadonlySet<string>): string | null {
  if ([...names].some((name) => ID_NAMES.has(localName(name)))) return null;
  for (const pattern of ID_LIKE) {
    for (const name of names) {
      if (!pattern.test(localName(name))) continue;
      const ids = values.map((value) => value[name]);
      if (
        ids.every((id) => typeof id === "string" || typeof id === "number") &&
        new Set(ids).size === ids.length
      )
        return name;
    }
  }
  return null;
}

/**
 * If prices under this name are objects such as {amount, currency}, returns the names of these two members.
 */
function priceMembers(values: readonly FeedObject[], name: string) {
  const objects = values.map((value) => value[name]).filter(isFeedObject);
  const amount = AMOUNTS.find((member) => objects.some((object) => isNumeric(object[member])));
  if (amount === undefined) return null;
  const currency = CURRENCIES.find((member) => objects.some((object) => typeof object[member] === "string"));
  return { amount, currency: currency ?? null };
}

function isNumeric(value: unknown): boolean {
  return typeof value === "number" || (typeof value === "string" && parseNumber(value) !== null);
}

/** Makes a valid field name: `Größe (EU)` becomes `groesse_eu`. */
function cleanName(name: string): string {
  const ascii = name
    .replace(/ä/gi, "ae")
    .replace(/ö/gi, "oe")
    .replace(/ü/gi, "ue")
    .replace(/ß/g, "ss")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "");
  const words = ascii.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_+|_+$/g, "");
  const clean = words.toLowerCase().slice(0, NAME_CHARACTERS_MAX);
  return /^[a-z]/.test(clean) ? clean : clean === "" ? "field" : `field_${clean}`;
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}_${number}`;
    if (!taken.has(candidate)) return candidate;
  }
}

function suggestedSchema(
  items: readonly FeedItem[],
  fieldMap: Readonly<Record<string, string>>,
  idField: string | null,
): InferredSchema {
  const mapped = itemMapper({ fields: [], fieldMap, idField });
  const documents = items.flatMap((item) => {
    const { document } = mapped(item.value === null || mapped(item).id !== null ? item : numbered(item));
    return document === null ? [] : [JSON.parse(document) as Record<string, unknown>];
  });
  const observer = new Observer();
  const readers = columnReaders(documents);
  for (const document of documents) {
    const read = Object.entries(document).flatMap(([name, value]): (readonly [string, unknown])[] => {
      const reader = readers.get(name);
      return reader === undefined ? [[name, value]] : [...reader(name, value)];
    });
    observer.add(Buffer.from(JSON.stringify(Object.fromEntries(read))));
  }
  const { schema } = inferSchema(observer.fields.values(), observer.documents);
  const fields = schema.fields.map((field) => currencyFacet(field, readers));
  return { ...schema, fields };
}

/** Sets the id to the item's position, so that even an item without an id contributes its fields. */
function numbered({ at, value }: FeedItem): FeedItem {
  return { at, value: { ...value, id: String(at) } };
}

type ColumnReader = (name: string, value: unknown) => (readonly [string, unknown])[];

/**
 * Decides how each field's texts are read: as lists, as numbers or prices, or as flags. Numbers, prices and
 * flags are chosen only if all of the field's values can be read that way.
 */
function columnReaders(documents: readonly Record<string, unknown>[]): Map<string, ColumnReader> {
  const readers = new Map<string, ColumnReader>();
  for (const name of new Set(documents.flatMap((document) => Object.keys(document)))) {
    const values = documents.map((document) => document[name]).filter((value) => value !== undefined);
    const texts = values.filter((value) => typeof value === "string");
    if (LISTS.has(name)) readers.set(name, (_, value) => [[name, Array.isArray(value) ? value : [value]]]);
    else if (values.some(Array.isArray)) {
      const isScalars = values.every(
        (value) => !Array.isArray(value) || value.every((one) => typeof one === "string"),
      );
      if (isScalars && texts.length > 0) readers.set(name, (_, value) => [[name, [value].flat()]]);
    } else if (texts.length < values.length || texts.length === 0 || isCodeName(name)) continue;
    else if (texts.every((text) => parseNumber(text) !== null && !/^[+-]?0\d/.test(text.trim())))
      readers.set(name, readNumber);
    else if (texts.every((text) => FLAG.test(text.trim())))
      readers.set(name, (_, value) => [[name, /^(true|yes)$/i.test(String(value).trim())]]);
  }
  return readers;
}

/**
 * Reads a number or price. A whole price gets a fraction, so that the schema makes it a decimal field even if
 * the first prices are whole numbers.
 */
const readNumber: ColumnReader = (name, value) => {
  const { digits, currency } = parseNumber(String(value))!;
  const number = Number(digits);
  if (currency === null) return [[name, number]];
  return [
    [name, Number.isInteger(number) ? number + 0.5 : number],
    [`${name}_currency`, currency],
  ];
};

/** Makes a price's currency field a facet, even if the first items have only one currency. */
function currencyFacet(field: SchemaField, readers: ReadonlyMap<string, ColumnReader>): SchemaField {
  const of = field.name.replace(/_currency$/, "");
  return of !== field.name && readers.get(of) === readNumber ? { ...field, facet: true } : field;
}
