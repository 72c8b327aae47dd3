// What an index finds now, for the coach: searches that nobody sees, with a rule that may not exist yet. Words alone find, since the
// coach is about words: what only vectors would find is still missing. They are not logged, not counted and not remembered.

import type { Catalog } from "../catalog/catalog.js";
import { contentsOf } from "../catalog/index-contents.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { RankingRule, RuleDraft } from "../catalog/records/rule.js";
import type { IndexView } from "../catalog/schema/index-view.js";
import { isTextType } from "../ground/field-types.js";
import { QueryTrace } from "../ground/metrics/query-trace.js";
import type { QueriedIndexes } from "../search/matching/queried-index.js";
import { type QuerySearching, search } from "../search/search.js";
import type { ShopAnswer, ShopHit, ShopQuestion } from "./shop.js";

const HITS = 10;
const NOTHING_FOUND: ShopAnswer = { found: 0, hits: [], corrections: [] };
/** The proposed rule wins against none that exists. */
const LAST_ID = Number.MAX_SAFE_INTEGER;

interface ShopSearching extends QuerySearching {
  readonly catalog: Catalog;
  /** Its own one: rules that are tried must not reach other queries. */
  readonly queriedIndexes: QueriedIndexes;
}

interface SearchResponse {
  readonly found: number;
  readonly hits: readonly { readonly document: Readonly<Record<string, unknown>> }[];
  readonly suggestions: readonly { readonly value: string }[];
}

export class IndexShop {
  readonly #searching: ShopSearching;
  #asked = 0;

  constructor(searching: ShopSearching) {
    this.#searching = searching;
  }

  /** Throws SkeinError. */
  async search(record: IndexRecord, { q, exact = false, rule }: ShopQuestion): Promise<ShopAnswer> {
    const { catalog, queriedIndexes, limits } = this.#searching;
    const contents = contentsOf(catalog.state, catalog.state.indexes.get(record.uid) ?? record);
    const tried = rule === undefined ? [] : [triedRule(rule, record)];
    const index = queriedIndexes.of({ ...contents, rules: [...contents.rules, ...tried] });
    const facets = record.fields.filter(({ facet, type }) => facet && type.startsWith("string"));
    const searched = searchedFields(index.view, contents.record);
    if (searched !== null && searched.length === 0) return NOTHING_FOUND;
    const body = {
      q,
      ...(searched === null ? {} : { query_by: searched.join(",") }),
      search_mode: "keyword",
      per_page: HITS,
      fields: facets.map(({ name }) => name),
      ...(exact ? { prefix: false, num_typos: 0, drop_tokens_threshold: 0 } : {}),
    };
    // No two questions are the same, so no answer is remembered.
    const question = {
      state: index.state,
      body: Buffer.from(`coach ${++this.#asked}`),
      bytesMax: limits.replyBytesMax,
      // What is tried is how the words themselves are found.
      understood: false,
      within: "",
    };
    const { bytes } = await search(this.#searching, index, body, question, "", new QueryTrace());
    const { found, hits, suggestions } = JSON.parse(Buffer.from(bytes).toString()) as SearchResponse;
    return {
      found,
      hits: hits.map(({ document }) => hitOf(document)),
      corrections: suggestions.map(({ value }) => value),
    };
  }
}

/**
 * Null: what the settings say. Where they name no field, people's queries name fields of their own, so all that have text are
 * searched. Empty for an index without text.
 */
function searchedFields({ searchable }: IndexView, { fields }: IndexRecord): string[] | null {
  if (searchable.length > 0) return null;
  const texts = fields.filter(({ type, index }) => isTextType(type) && index).map(({ name }) => name);
  return texts.filter((name) => !name.includes(",")); // query_by cannot name others
}

function triedRule(rule: RuleDraft, { uid }: IndexRecord): RankingRule {
  return { ...rule, id: LAST_ID, index: uid, created_at: "", updated_at: "" };
}

function hitOf({ id, ...facets }: Readonly<Record<string, unknown>>): ShopHit {
  const entries = Object.entries(facets).map(([field, value]) => [
    field,
    (Array.isArray(value) ? value : [value]).filter((one) => typeof one === "string"),
  ]);
  return { id: String(id), facets: Object.fromEntries(entries) };
}
