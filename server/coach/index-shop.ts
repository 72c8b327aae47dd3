// Runs the coach's searches on an index, optionally with a proposed rule. The searches leave no trace: they
// are not logged, counted or cached. They match by keywords only, because the coach looks for missing words:
// a document that only its vector would find counts as missing.

import type { FetchedDocument } from "../../shards/protocol/fetch.js";
import type { Catalog } from "../catalog/catalog.js";
import { contentsOf } from "../catalog/index-contents.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { RankingRule, RuleDraft } from "../catalog/records/rule.js";
import { isSearchable, type ResolvedSchema } from "../catalog/schema/resolved-schema.js";
import { RequestLife } from "../ground/jobs/request-life.js";
import { run } from "../ground/jobs/work.js";
import { QueryTrace } from "../ground/metrics/query-trace.js";
import { parsedDocument } from "../search/fetch.js";
import type { QueriedIndexes } from "../search/matching/queried-index.js";
import { find, type QueryBounds, type QuerySearching, readQuery } from "../search/search.js";
import type { ShopAnswer, ShopHit, ShopQuestion } from "./shop.js";

const HITS = 10;
const NOTHING_FOUND: ShopAnswer = { found: 0, hits: [], corrections: [] };
/** Larger than any real rule id, so a proposed rule loses every tie with an existing one. */
const LAST_ID = Number.MAX_SAFE_INTEGER;

interface ShopSearching extends QuerySearching {
  readonly catalog: Catalog;
  /** A separate instance for the coach, so that its proposed rules cannot affect other queries. */
  readonly queriedIndexes: QueriedIndexes;
}

export class IndexShop {
  readonly #searching: ShopSearching;

  constructor(searching: ShopSearching) {
    this.#searching = searching;
  }

  /** Runs one search. Throws SkeinError. */
  async search(record: IndexRecord, { q, exact = false, rule }: ShopQuestion): Promise<ShopAnswer> {
    const { catalog, queriedIndexes, limits } = this.#searching;
    const contents = contentsOf(catalog.state, catalog.state.indexes.get(record.uid) ?? record);
    const tried = rule === undefined ? [] : [triedRule(rule, record)];
    const index = queriedIndexes.of({ ...contents, rules: [...contents.rules, ...tried] });
    const facets = record.fields.filter(({ facet, type }) => facet && type.startsWith("string"));
    const searched = searchedFields(index.schema, contents.record);
    if (searched !== null && searched.length === 0) return NOTHING_FOUND;
    const body = {
      q,
      ...(searched === null ? {} : { query_by: searched.join(",") }),
      search_mode: "keyword",
      per_page: HITS,
      fields: facets.map(({ name }) => name),
      ...(exact ? { prefix: false, num_typos: 0, drop_tokens_threshold: 0 } : {}),
    };
    // Query understanding is off, because the coach tests what the words themselves find.
    const bounds: QueryBounds = { bytesMax: limits.replyBytesMax, understood: false, within: "" };
    const life = new RequestLife();
    const asked = await run(readQuery(this.#searching, index, body, bounds.within, life));
    const answer = await run(find(this.#searching, index, asked, bounds, life, new QueryTrace()));
    const { found, hits, suggestions } = answer;
    return { found, hits: hits.documents.map(shopHit), corrections: suggestions.map(({ value }) => value) };
  }
}

/**
 * The fields to search. Null means the fields in the settings. If the settings name none, every real query
 * has to name its own, so the coach searches all indexed text fields. Empty if the index has no such field.
 */
function searchedFields(schema: ResolvedSchema, { fields }: IndexRecord): string[] | null {
  if (schema.searchable.length > 0) return null;
  const texts = fields.flatMap(({ name }) => schema.field(name) ?? []).filter(isSearchable);
  const names = texts.map(({ name }) => name);
  return names.filter((name) => !name.includes(",")); // query_by is separated by commas
}

function triedRule(rule: RuleDraft, { uid }: IndexRecord): RankingRule {
  return { ...rule, id: LAST_ID, index: uid, created_at: "", updated_at: "" };
}

function shopHit({ document }: FetchedDocument): ShopHit {
  const { id, ...facets } = parsedDocument(document);
  const entries = Object.entries(facets).map(([field, value]) => [
    field,
    (Array.isArray(value) ? value : [value]).filter((one) => typeof one === "string"),
  ]);
  return { id: String(id), facets: Object.fromEntries(entries) };
}
