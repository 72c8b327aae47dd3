// What a plan takes from the query's shape: fields and their weights, sort keys, facets. Computed once for
// all queries of a shape.
import type {
  FacetRequest,
  QueriedField,
  SearchProgram,
  SortKey,
} from "../../../engine-wasm/host/programs/search-program.js";
import type { ResolvedSchema } from "../../catalog/schema/resolved-schema.js";
import type { QueryShape } from "../../question/request/query-request.js";
import type { AverageLengths } from "../../question/words/average-lengths.js";
import type { SearchedFields } from "../../question/words/word-memory.js";
import { facetRequests } from "./facets.js";

/**
 * Shared by all indexes of the thread. Does not keep a schema alive: a client may go on using the shape of a
 * query after the index has another schema.
 */
const planned = new WeakMap<ResolvedSchema, WeakMap<QueryShape, PlannedShape>>();

export function plannedShape(shape: QueryShape, schema: ResolvedSchema): PlannedShape {
  let ofSchema = planned.get(schema);
  if (ofSchema === undefined) {
    ofSchema = new WeakMap();
    planned.set(schema, ofSchema);
  }
  let known = ofSchema.get(shape);
  if (known === undefined) {
    known = new PlannedShape(shape, schema);
    ofSchema.set(shape, known);
  }
  return known;
}

/** The parts of a program that depend on the lengths of the index's fields. */
type Measured = Pick<SearchProgram, "slots" | "averageLength">;

export class PlannedShape {
  readonly fields: SearchedFields;
  /** The queried fields without average lengths. */
  readonly slots: readonly QueriedField[];
  readonly hasSkuField: boolean;
  readonly byRelevance: boolean;
  readonly facets: readonly FacetRequest[];
  readonly #sort: readonly SortKey[];
  readonly #sortByClass: readonly SortKey[];
  /** Lengths used by the latest query, and the result computed from them. */
  #lengths: AverageLengths | null = null;
  #measured: Measured;

  constructor(shape: QueryShape, schema: ResolvedSchema) {
    this.fields = searchedFields(shape);
    this.slots = weightedSlots(shape);
    this.hasSkuField = this.fields.slots.some((slot) => schema.skuSlots.includes(slot));
    this.byRelevance = shape.sort === null || shape.sort[0]?.field === null;
    this.facets = facetRequests(shape.facets, shape.maxFacetValues);
    this.#sort = sortKeys(shape, schema, false);
    this.#sortByClass = sortKeys(shape, schema, true);
    this.#measured = { slots: this.slots, averageLength: 0 };
  }

  /** `moved` is true if rules put documents first or last regardless of the sort. */
  sort(moved: boolean): readonly SortKey[] {
    return moved ? this.#sortByClass : this.#sort;
  }

  /** `lengths` is in the order of the slots. */
  measured(lengths: AverageLengths): Measured {
    if (lengths !== this.#lengths) {
      const slots = this.slots.map((slot, i) => ({ ...slot, averageLength: lengths.present[i] ?? 0 }));
      const averageLength = slots.reduce((sum, { weight }, i) => sum + weight * (lengths.all[i] ?? 0), 0);
      this.#lengths = lengths;
      this.#measured = { slots, averageLength };
    }
    return this.#measured;
  }
}

function searchedFields({ fields }: QueryShape): SearchedFields {
  const slots = fields.map(({ field }) => field.slot);
  const infixSlots = fields.filter(({ field }) => field.infix).map(({ field }) => field.slot);
  const languages = [...new Set(fields.map(({ field }) => field.language))].filter((number) => number > 0);
  return { slots, infixSlots, languages, key: fieldsKey(slots, infixSlots, languages) };
}

/** Returns the same fields, but without words inside longer words. */
export function withoutInfixes({ slots, languages }: SearchedFields): SearchedFields {
  return { slots, infixSlots: [], languages, key: fieldsKey(slots, [], languages) };
}

function fieldsKey(...parts: (readonly number[])[]): string {
  return parts.map((numbers) => numbers.join()).join(" ");
}

/**
 * Scales the weights to a mean of 1. Otherwise a word's score would saturate faster in a query with more or
 * heavier fields.
 */
function weightedSlots({ fields }: QueryShape): QueriedField[] {
  const mean = fields.reduce((sum, { weight }) => sum + weight, 0) / fields.length;
  return fields.map(({ field: { slot, infix }, weight }) => ({
    slot,
    weight: weight / mean,
    averageLength: 0,
    infix,
  }));
}

/**
 * Returns the shape's sort keys, preceded by the document's class if rules put documents first or last. Ties
 * are broken by final score, then by the default sorting field in descending order, then by age, newest
 * first.
 */
function sortKeys({ sort }: QueryShape, schema: ResolvedSchema, moved: boolean): SortKey[] {
  const keys: SortKey[] = (sort ?? []).map(({ field, descending }) =>
    field === null
      ? { by: "relevance", descending }
      : { by: "field", descending, slot: field.slot, type: field.code },
  );
  if (moved) keys.unshift({ by: "class", descending: true });
  if (!keys.some((key) => key.by === "relevance")) keys.push({ by: "relevance", descending: true });
  const fallback = schema.defaultSort;
  if (fallback !== null && !keys.some((key) => key.by === "field" && key.slot === fallback.slot)) {
    keys.push({ by: "field", descending: true, slot: fallback.slot, type: fallback.code });
  }
  return keys;
}
