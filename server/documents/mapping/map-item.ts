// Maps an item to a document: determines its id, and which of the item's fields become which schema fields
// with which values. Reports all of an item's problems at once. The same item always yields the same bytes.
import { ID_BYTES_MAX } from "../../../engine-wasm/assembly/layout.js";
import type { FieldType } from "../../ground/field-types.js";
import type { FeedItem, FeedObject } from "../feeds/feed-item.js";
import { coerce } from "./coerce.js";
import { type FieldPath, fieldPath, isFeedObject, localName } from "./field-path.js";
import { toJson } from "./json-text.js";

export interface FeedMapping {
  readonly fields: readonly { readonly name: string; readonly type: FieldType }[];
  /** Maps paths in the feed to field names. */
  readonly fieldMap: Readonly<Record<string, string>>;
  /**
   * Path of the id. If it is null or an item has no value there, the id comes from the item's `id` or else
   * its `sku`, with or without a prefix.
   */
  readonly idField: string | null;
}

export interface MappedItem {
  readonly at: number;
  readonly id: string | null;
  /** The document's JSON, including its id; null if the item failed. */
  readonly document: string | null;
  readonly errors: readonly string[];
}

/**
 * Ranks for feed fields that map to the same name. The highest rank wins: the field map, then a prefixed name
 * (from a product vocabulary), then a plain name.
 */
const MAPPED = 2;
const PREFIXED = 1;
const PLAIN = 0;
/** Maximum number of cached Columns per feed. A product feed has a few dozen. */
const COLUMNS_MAX = 10_000;

/** The document field that a feed field maps to. */
interface Column {
  readonly name: string;
  readonly rank: number;
  /** The start of the member in a document: a comma, the name as JSON, and a colon. */
  readonly label: string;
  readonly type: FieldType | undefined;
}

export function itemMapper(mapping: FeedMapping): (item: FeedItem) => MappedItem {
  const mapper = new ItemMapper(mapping);
  return (item) => mapper.map(item);
}

class ItemMapper {
  readonly #types: ReadonlyMap<string, FieldType>;
  readonly #targets: ReadonlyMap<string, string>;
  /** Field map entries whose path leads into nested parts of an item. */
  readonly #paths: readonly (readonly [path: string, follow: FieldPath, column: Column])[];
  readonly #idPath: FieldPath | null;
  /** Columns by the field's name in the feed. */
  readonly #columns = new Map<string, Column>();

  constructor({ fields, fieldMap, idField }: FeedMapping) {
    this.#types = new Map(fields.map(({ name, type }) => [name, type]));
    this.#targets = new Map(Object.entries(fieldMap));
    this.#paths = Object.entries(fieldMap)
      .filter(([path]) => path.includes("."))
      .map(([path, target]) => [path, fieldPath(path), this.#columnOf(target, MAPPED)]);
    this.#idPath = idField === null ? null : fieldPath(idField);
  }

  map({ at, value, problem }: FeedItem): MappedItem {
    if (value === null) return { at, id: null, document: null, errors: [problem ?? "the item is empty"] };
    const values = this.#values(value);
    const errors: string[] = [];
    const id = this.#idOf(value, values, errors);
    let document = id === null ? "" : `{"id":${JSON.stringify(id)}`;
    for (const { column, value: given } of values.values()) {
      if (column.name !== "id") document += this.#member(column, given, values, errors);
    }
    return { at, id, document: errors.length > 0 ? null : `${document}}`, errors };
  }

  /** The item's values by target field, in item order. */
  #values(item: FeedObject): Map<string, { column: Column; value: unknown }> {
    const values = new Map<string, { column: Column; value: unknown }>();
    const put = (column: Column, value: unknown): void => {
      const before = values.get(column.name);
      if (before === undefined) values.set(column.name, { column, value });
      else if (before.column.rank < column.rank) {
        before.column = column;
        before.value = value;
      }
    };
    for (const source of Object.keys(item)) put(this.#columnFor(source), item[source]);
    for (const [path, follow, column] of this.#paths) {
      const value = Object.hasOwn(item, path) ? undefined : follow(item);
      if (value !== undefined) put(column, value);
    }
    return values;
  }

  #columnFor(source: string): Column {
    const known = this.#columns.get(source);
    if (known !== undefined) return known;
    const local = localName(source);
    const target = this.#targets.get(source) ?? this.#targets.get(local);
    const rank = target !== undefined ? MAPPED : local === source ? PLAIN : PREFIXED;
    const column = this.#columnOf(target ?? local, rank);
    if (this.#columns.size < COLUMNS_MAX) this.#columns.set(source, column);
    return column;
  }

  #columnOf(name: string, rank: number): Column {
    return { name, rank, label: `,${JSON.stringify(name)}:`, type: this.#types.get(name) };
  }

  #idOf(
    item: FeedObject,
    values: ReadonlyMap<string, { readonly value: unknown }>,
    errors: string[],
  ): string | null {
    const id =
      idText(this.#idPath?.(item)) || idText(values.get("id")?.value) || idText(values.get("sku")?.value);
    if (id !== "" && Buffer.byteLength(id) <= ID_BYTES_MAX) return id;
    errors.push(
      id === ""
        ? "the item has no id; set id_field if it has another name"
        : `id must be at most ${ID_BYTES_MAX} bytes long`,
    );
    return null;
  }

  /**
   * Returns the member as JSON, with the comma before it. Returns "" if the value is absent or cannot be
   * converted.
   */
  #member(
    { name, label, type }: Column,
    value: unknown,
    values: ReadonlyMap<string, unknown>,
    errors: string[],
  ): string {
    if (type === undefined) {
      if (value === null || value === undefined || value === "") return "";
      return label + (typeof value === "object" ? toJson(withoutPrefixes(value)) : toJson(value));
    }
    const coerced = coerce(value, type);
    if (coerced === null) return "";
    if ("problem" in coerced) {
      errors.push(`${name} ${coerced.problem}`);
      return "";
    }
    if (coerced.currency === undefined) return label + coerced.json;
    const currencyName = `${name}_currency`;
    if (values.has(currencyName)) return label + coerced.json;
    return `${label}${coerced.json},${JSON.stringify(currencyName)}:${JSON.stringify(coerced.currency)}`;
  }
}

/** Returns "" if the value cannot be an id. */
function idText(value: unknown): string {
  const first = Array.isArray(value) ? value[0] : value;
  const isId = typeof first === "number" || typeof first === "bigint" || typeof first === "string";
  return isId ? String(first).trim() : "";
}

/** Removes the prefixes from all member names in a nested value. */
function withoutPrefixes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrefixes);
  if (!isFeedObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [localName(name), withoutPrefixes(member)]),
  );
}
