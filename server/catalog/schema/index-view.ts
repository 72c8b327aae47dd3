// What queries and writes need to know of an index record, derived once per record: fields by name and by
// slot with their engine codes, the searchable fields with their weights, the schema as the shards get it.
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
import type { IndexRecord } from "../records/index-record.js";

/** More than an index's schema ever has. */
const SCHEMA_VERSIONS = 2 ** 20;

export interface ViewField {
  readonly name: string;
  readonly type: FieldType;
  /** TYPE_* of the engine. */
  readonly code: number;
  readonly kind: ValueKind;
  readonly array: boolean;
  readonly slot: number;
  readonly index: boolean;
  readonly facet: boolean;
  readonly sort: boolean;
  /** Words of a query are also found inside of the words of its text. */
  readonly infix: boolean;
  /** Number of the language its text is stemmed in, 0 for none. */
  readonly language: number;
}

export interface WeightedField {
  readonly field: ViewField;
  /** Positive. */
  readonly weight: number;
}

export class IndexView {
  readonly #byName = new Map<string, ViewField>();
  readonly #bySlot = new Map<number, ViewField>();
  /** Searched when a query names no fields. */
  readonly searchable: readonly WeightedField[];
  readonly symbolsToIndex: string;
  readonly tokenSeparators: string;
  readonly defaultSort: ViewField | null;
  /** Slots of the fields that hold part numbers. */
  readonly skuSlots: readonly number[];
  readonly brandSlot: number | null;
  readonly shardSchema: ShardSchema;

  constructor(record: IndexRecord) {
    for (const definition of record.fields) {
      const field = viewField(definition, record.settings);
      this.#byName.set(field.name, field);
      this.#bySlot.set(field.slot, field);
    }
    this.symbolsToIndex = record.settings.symbols_to_index.join("");
    this.tokenSeparators = record.settings.token_separators.join("");
    this.searchable = this.#searchable(record);
    const defaultSort = record.defaultSortingField;
    this.defaultSort = defaultSort === null ? null : (this.#byName.get(defaultSort) ?? null);
    const { sku_fields: skus, brand_field: brand } = record.settings;
    this.skuSlots = skus.flatMap((name) => this.#byName.get(name)?.slot ?? []);
    this.brandSlot = brand === null ? null : (this.#byName.get(brand)?.slot ?? null);
    this.shardSchema = {
      // a new way of analysing is a change of every index's schema
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

  field(name: string): ViewField | undefined {
    return this.#byName.get(name);
  }

  fieldOfSlot(slot: number): ViewField | undefined {
    return this.#bySlot.get(slot);
  }

  /** The weight the settings give a field: its own, or descending by the order of searchable attributes. */
  weightOf(field: ViewField): number {
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

export function isSearchable(field: ViewField): boolean {
  return field.kind === "string" && field.index;
}

/** Records never change and a view follows from its record alone: one map serves everybody in a thread. */
const views = new WeakMap<IndexRecord, IndexView>();

/** The view of a record; records are immutable, so it is made once. */
export function viewOf(record: IndexRecord): IndexView {
  let view = views.get(record);
  if (view === undefined) {
    view = new IndexView(record);
    views.set(record, view);
  }
  return view;
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

function viewField(definition: FieldDefinition, settings: IndexSettings): ViewField {
  const { name, type, slot, index, facet, sort, infix } = definition;
  const { code, kind, array } = FIELD_TYPES[type];
  const language = definition.language ?? settings.language;
  return {
    name,
    type,
    code,
    kind,
    array,
    slot,
    index,
    facet,
    sort,
    infix,
    language: kind === "string" && language !== null ? languageNumber(language) : 0,
  };
}
