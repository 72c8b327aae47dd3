// Determines the bonuses that a document can get in addition to the score of its words. A document gets a
// bonus if the query is its part number or a part of it, if the query contains its brand, or if a field
// equals the query or begins with it. docs/ranking.md explains the sizes of the bonuses.
import { TERM_VALUE } from "../../../engine-wasm/assembly/layout.js";
import type { SearchBonuses, TermBonus } from "../../../engine-wasm/host/programs/search-program.js";
import type { ResolvedSchema } from "../../catalog/schema/resolved-schema.js";
import type { QueryText } from "../words/query-text.js";
import { skuTerm, skuText } from "../words/variants.js";

/** One point of relevance, in units of text_match. */
export const POINT = 2 ** 24;
/**
 * Bonus if the whole query is the part number. The only bonus that can rank a document above documents that
 * match more words.
 */
export const SKU_WHOLE = 2 ** 52;
const SKU_PART = 4 * POINT;
const WHOLE_FIELD = POINT;
const BRAND = POINT;
const FIELD_START = POINT / 16;

/** Bonuses belong to groups. Of the bonuses in one group, a document gets only the largest. */
export const SKU_GROUP = 0;
const BRAND_GROUP = 1;
const BRAND_TERMS_MAX = 4;
/** Marks the terms of whole values, such as brands, in a dictionary. */
const BRAND_PREFIX = String.fromCharCode(TERM_VALUE);
/** Only this many words at the beginning of a query are searched for brand names. */
const BRAND_WORDS_MAX = 16;

const NO_BONUSES: SearchBonuses = { whole: 0, starts: 0, terms: [] };
/** The bonuses of an index without part numbers and brands. */
const PLACE_BONUSES: SearchBonuses = { whole: WHOLE_FIELD, starts: FIELD_START, terms: [] };

export function bonusesOf(text: QueryText, schema: ResolvedSchema): SearchBonuses {
  if (text.words.length === 0) return NO_BONUSES;
  if (schema.skuSlots.length === 0 && schema.brandSlot === null) return PLACE_BONUSES;
  return {
    whole: WHOLE_FIELD,
    starts: FIELD_START,
    terms: [...skuBonuses(text, schema), ...brandBonuses(text, schema)],
  };
}

function skuBonuses(text: QueryText, schema: ResolvedSchema): TermBonus[] {
  const sku = schema.skuSlots.length === 0 ? null : skuText(text);
  if (sku === null) return [];
  const [word] = text.terms;
  return schema.skuSlots.flatMap((slot) => [
    { group: SKU_GROUP, slot, term: { term: skuTerm(sku), prefix: false }, bonus: SKU_WHOLE },
    { group: SKU_GROUP, slot, term: { term: skuTerm(sku), prefix: true }, bonus: SKU_PART },
    ...(text.terms.length === 1
      ? [{ group: SKU_GROUP, slot, term: { term: word as string, prefix: false }, bonus: SKU_PART }]
      : []),
  ]);
}

/** Returns one bonus for each sequence of query words that may be a complete brand name. */
function brandBonuses(text: QueryText, schema: ResolvedSchema): TermBonus[] {
  const slot = schema.brandSlot;
  if (slot === null) return [];
  const { terms } = text;
  const end = Math.min(terms.length, BRAND_WORDS_MAX);
  const values = new Set<string>();
  for (let first = 0; first < end; first++) {
    let value = BRAND_PREFIX + terms[first]!;
    values.add(value);
    for (let last = first + 1; last < Math.min(end, first + BRAND_TERMS_MAX); last++) {
      value += ` ${terms[last]!}`;
      values.add(value);
    }
  }
  return Array.from(values, (term) => ({
    group: BRAND_GROUP,
    slot,
    term: { term, prefix: false },
    bonus: BRAND,
  }));
}
