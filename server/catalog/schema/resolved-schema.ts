// The resolved schema contains what queries and writes need from an index record, derived once per record:
// the fields (by name and by slot) with their engine codes, the searchable fields with their weights, and the
// schema in the form sent to the shards.
import {
  ANALYSIS_VERSION,
  FLAG_BRAND,
  FLAG_FACET,
  FLAG_INDEX,
  FLAG_REQUIRED,
  FLAG_SKU,
  FLAG_SORT,
} from "../../../engine-wasm/assembly/layout.js";
import { languageNumber } from "../../../engine-wasm/host/stemmer.js";
import type { ShardSchema } from "../../../shards/protocol/control.js";
import { FIELD_TYPES, type FieldType, type ValueKind } from "../../ground/field-types.js";
import type { FieldDefinition } from "../definition/schema.js";
import type { IndexSettings } from "../definition/settings.js";
import type { FieldUse, IndexRecord } from "../records/index-record.js";

/**
 * Distance between the schema versions of two analyser versions. No index reaches this many schema versions,
 * so every combination of analyser version and schema version gets a number of its own.
 */
const SCHEMA_VERSIONS = 2 ** 20;

export interface ResolvedField {
  readonly name: string;
  readonly type: FieldType;
  /** The engine's TYPE_* constant for `type`. */
  readonly code: number;
  readonly kind: ValueKind;
  readonly array: boolean;
  readonly slot: number;
  /** What queries may use the field for. False while documents are still re-indexed for that use. */
  readonly index: boolean;
  readonly facet: boolean;
  readonly sort: boolean;
  /** The uses that are false only for as long as documents are re-indexed for them. */
  readonly unready: readonly FieldUse[];
  /** True if query words also match inside longer words of the field's text. */
  readonly infix: boolean;
  /** Number of the language whose stemmer the field's text uses; 0 for none. */
  readonly language: number;
}

export interface WeightedField {
  readonly field: ResolvedField;
  /** Greater than zero. */
  readonly weight: number;
}

export class ResolvedSchema {
  readonly #byName = new Map<string, ResolvedField>();
  readonly #bySlot = new Map<number, ResolvedField>();
  /** The fields to search if a query names none. */
  readonly searchable: readonly WeightedField[];
  readonly symbolsToIndex: string;
  readonly tokenSeparators: string;
  readonly defaultSort: ResolvedField | null;
  /** Slots of the fields that contain part numbers. */
  readonly skuSlots: readonly number[];
  readonly brandSlot: number | null;
  readonly shardSchema: ShardSchema;

  constructor(record: IndexRecord) {
    for (const definition of record.fields) {
      const field = resolvedField(definition, record);
      this.#byName.set(field.name, field);
      this.#bySlot.set(field.slot, field);
    }
    this.symbolsToIndex = record.settings.symbols_to_index.join("");
    this.tokenSeparators = record.settings.token_separators.join("");
    this.searchable = this.#searchable(record);
    const defaultSort = this.#byName.get(record.defaultSortingField ?? "");
    this.defaultSort = defaultSort?.sort === true ? defaultSort : null;
    const { sku_fields: skus, brand_field: brand } = record.settings;
    this.skuSlots = skus.flatMap((name) => this.#byName.get(name)?.slot ?? []);
    this.brandSlot = brand === null ? null : (this.#byName.get(brand)?.slot ?? null);
    this.shardSchema = {
      // A new analyser version changes the schema version of every index, so stored segments become stale.
      version: (ANALYSIS_VERSION - 1) * SCHEMA_VERSIONS + record.schemaVersion,
      fields: record.fields.map((definition) => ({
        slot: definition.slot,
        name: definition.name,
        type: FIELD_TYPES[definition.type].code,
        flags: flagsOf(definition, record.settings),
        language: this.#bySlot.get(definition.slot)!.language,
      })),
      analysis: { symbolsToIndex: this.symbolsToIndex, tokenSeparators: this.tokenSeparators },
    };
  }

  field(name: string): ResolvedField | undefined {
    return this.#byName.get(name);
  }

  fieldOfSlot(slot: number): ResolvedField | undefined {
    return this.#bySlot.get(slot);
  }

  /**
   * The field's weight from the settings. If the settings list no weights, the searchable fields have
   * descending weights in their order, and the last field has 1. Returns 1 for a field that is not
   * searchable.
   */
  weightOf(field: ResolvedField): number {
    return this.searchable.find((entry) => entry.field === field)?.weight ?? 1;
  }

  #searchable(record: IndexRecord): WeightedField[] {
    const { searchable_attributes: names, weights } = record.settings;
    const wanted = names ?? record.fields.map((field) => field.name);
    const fields = wanted.flatMap((name, position) => {
      const field = this.#byName.get(name);
      return field !== undefined && isSearchable(field) ? [{ field, given: weights?.[position] }] : [];
    });
    return fields.map(({ field, given }, i) => ({ field, weight: given ?? fields.length - i }));
  }
}

export function isSearchable(field: ResolvedField): boolean {
  return field.kind === "string" && field.index;
}

/**
 * Records are immutable and a resolved schema depends only on its record, so one map serves the whole thread.
 */
const resolved = new WeakMap<IndexRecord, ResolvedSchema>();

/** A record's resolved schema, computed once. */
export function resolvedSchemaOf(record: IndexRecord): ResolvedSchema {
  let schema = resolved.get(record);
  if (schema === undefined) {
    schema = new ResolvedSchema(record);
    resolved.set(record, schema);
  }
  return schema;
}

function flagsOf(
  { name, facet, sort, index, optional }: FieldDefinition,
  { sku_fields: skus, brand_field: brand }: IndexSettings,
): number {
  return (
    (facet ? FLAG_FACET : 0) |
    (sort ? FLAG_SORT : 0) |
    (index ? FLAG_INDEX : 0) |
    (optional ? 0 : FLAG_REQUIRED) |
    (skus.includes(name) ? FLAG_SKU : 0) |
    (brand === name ? FLAG_BRAND : 0)
  );
}

/** The uses of the field that wait for the re-indexing. A field may be called "constructor". */
function unreadyUsesOf(name: string, { unready = {} }: IndexRecord): readonly FieldUse[] {
  return Object.hasOwn(unready, name) ? unready[name]! : [];
}

function resolvedField(definition: FieldDefinition, record: IndexRecord): ResolvedField {
  const { settings } = record;
  const { name, type, slot, infix } = definition;
  const unready = unreadyUsesOf(name, record);
  const may = (use: FieldUse): boolean => definition[use] && !unready.includes(use);
  const { code, kind, array } = FIELD_TYPES[type];
  const language = definition.language ?? settings.language;
  return {
    name,
    type,
    code,
    kind,
    array,
    slot,
    index: may("index"),
    facet: may("facet"),
    sort: may("sort"),
    unready,
    infix,
    language: kind === "string" && language !== null ? languageNumber(language) : 0,
  };
}
