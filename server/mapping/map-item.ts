// An item as a document: which of its fields become which fields of the schema, with which values, and its id. Everything that
// is wrong with an item is told at once. The same item always gives the same bytes.
import { ID_BYTES_MAX } from "../../engine-wasm/assembly/layout.js";
import type { FeedItem, FeedObject } from "../feeds/feed-item.js";
import type { FieldType } from "../field-types.js";
import { coerce } from "./coerce.js";
import { type FieldPath, fieldPath, isFeedObject, localName } from "./field-path.js";
import { toJson } from "./json-text.js";

export interface FeedMapping {
  readonly fields: readonly { readonly name: string; readonly type: FieldType }[];
  /** From paths of the feed to names of fields. */
  readonly fieldMap: Readonly<Record<string, string>>;
  /** The path of the id; null: `id`, `g:id` or `sku`. */
  readonly idField: string | null;
}

export interface MappedItem {
  readonly at: number;
  readonly id: string | null;
  /** The document's JSON with its id; null when the item failed. */
  readonly document: string | null;
  readonly errors: readonly string[];
}

/** How well a value fits a name: by the map, by a name with a prefix (the vocabulary of products), by a plain name. */
const MAPPED = 2;
const PREFIXED = 1;
const PLAIN = 0;

interface Named {
  readonly value: unknown;
  readonly rank: number;
}

export function itemMapper(mapping: FeedMapping): (item: FeedItem) => MappedItem {
  const mapper = new ItemMapper(mapping);
  return (item) => mapper.map(item);
}

class ItemMapper {
  readonly #types: ReadonlyMap<string, FieldType>;
  readonly #targets: ReadonlyMap<string, string>;
  /** Paths that lead into an item. */
  readonly #paths: readonly (readonly [path: string, follow: FieldPath, target: string])[];
  readonly #idPath: FieldPath | null;

  constructor({ fields, fieldMap, idField }: FeedMapping) {
    this.#types = new Map(fields.map(({ name, type }) => [name, type]));
    this.#targets = new Map(Object.entries(fieldMap));
    this.#paths = Object.entries(fieldMap)
      .filter(([path]) => path.includes("."))
      .map(([path, target]) => [path, fieldPath(path), target]);
    this.#idPath = idField === null ? null : fieldPath(idField);
  }

  map({ at, value, problem }: FeedItem): MappedItem {
    if (value === null) return { at, id: null, document: null, errors: [problem ?? "the item is empty"] };
    const named = this.#named(value);
    const errors: string[] = [];
    const id = this.#idOf(value, named, errors);
    const members = id === null ? [] : [`"id":${JSON.stringify(id)}`];
    for (const [name, { value: given }] of named) {
      if (name !== "id") this.#addMember(members, name, given, named, errors);
    }
    return { at, id, document: errors.length > 0 ? null : `{${members.join(",")}}`, errors };
  }

  /** The values of an item by the names of their fields, in the order of the item. */
  #named(item: FeedObject): Map<string, Named> {
    const named = new Map<string, Named>();
    const put = (name: string, value: unknown, rank: number): void => {
      const before = named.get(name);
      if (before === undefined || before.rank < rank) named.set(name, { value, rank });
    };
    for (const [source, value] of Object.entries(item)) {
      const local = localName(source);
      const target = this.#targets.get(source) ?? this.#targets.get(local);
      if (target !== undefined) put(target, value, MAPPED);
      else put(local, value, local === source ? PLAIN : PREFIXED);
    }
    for (const [path, follow, target] of this.#paths) {
      const value = Object.hasOwn(item, path) ? undefined : follow(item);
      if (value !== undefined) put(target, value, MAPPED);
    }
    return named;
  }

  #idOf(item: FeedObject, named: ReadonlyMap<string, Named>, errors: string[]): string | null {
    const given = this.#idPath?.(item) ?? named.get("id")?.value ?? named.get("sku")?.value;
    const first = Array.isArray(given) ? given[0] : given;
    if (typeof first === "number" || typeof first === "bigint" || typeof first === "string") {
      const id = String(first).trim();
      if (id !== "" && Buffer.byteLength(id) <= ID_BYTES_MAX) return id;
      if (id !== "") {
        errors.push(`id must be at most ${ID_BYTES_MAX} bytes long`);
        return null;
      }
    }
    errors.push("the item has no id; set id_field when it is called otherwise");
    return null;
  }

  #addMember(
    members: string[],
    name: string,
    value: unknown,
    named: ReadonlyMap<string, Named>,
    errors: string[],
  ): void {
    const type = this.#types.get(name);
    if (type === undefined) {
      if (value !== null && value !== undefined && value !== "")
        members.push(`${JSON.stringify(name)}:${toJson(withoutPrefixes(value))}`);
      return;
    }
    const coerced = coerce(value, type);
    if (coerced === null) return;
    if ("problem" in coerced) {
      errors.push(`${name} ${coerced.problem}`);
      return;
    }
    members.push(`${JSON.stringify(name)}:${coerced.json}`);
    const currencyName = `${name}_currency`;
    if (coerced.currency !== undefined && !named.has(currencyName))
      members.push(`${JSON.stringify(currencyName)}:${JSON.stringify(coerced.currency)}`);
  }
}

/** The names inside of nested objects lose their prefixes, too. */
function withoutPrefixes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrefixes);
  if (!isFeedObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [localName(name), withoutPrefixes(member)]),
  );
}
