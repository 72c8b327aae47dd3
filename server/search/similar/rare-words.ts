// Finds documents that share a document's rare words. This is how similar documents are found without
// vectors.
import type { FilterProgram } from "../../../engine-wasm/host/programs/filter-program.js";
import type { IndexScale } from "../../fleet/reads/index-handle.js";
import type { IndexSnapshot } from "../../fleet/reads/index-snapshot.js";
import { settled, type Work } from "../../ground/jobs/work.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import { FiringRules } from "../../question/curate/fired-rules.js";
import { readQueryRequest } from "../../question/request/query-request.js";
import { Dictionaries } from "../../question/words/dictionaries.js";
import { largest } from "../../question/words/typos/ranked-typos.js";
import { parsedDocument } from "../fetch.js";
import { WordExpander } from "../matching/expand.js";
import { mergeResults } from "../matching/merge.js";
import { planQuery, programOf } from "../matching/plan.js";
import type { QueriedIndex } from "../matching/queried-index.js";
import type { PlacedDocument } from "../semantic/nearest.js";

/** Maximum number of words to look up, counted from the beginning of the document. */
const LOOKED_UP_MAX = 200;
const RARE_WORDS_MAX = 10;
const BY_RELEVANCE = [{ by: "relevance", descending: true }] as const;

/** Returns the documents that contain any of the rarest words of `source`, best first, excluding `source`. */
export function* sharingRareWords(
  snapshot: IndexSnapshot,
  index: QueriedIndex,
  source: PlacedDocument,
  count: number,
  filter: FilterProgram,
  scale: IndexScale,
  limits: Limits,
): Work<(PlacedDocument & { readonly similarity: null })[]> {
  const words = yield* rareWords(snapshot, index, source);
  if (words.length === 0) return [];
  const body = { q: words.join(" "), prefix: false, num_typos: 0, per_page: count };
  const request = readQueryRequest(body, index, limits);
  const plan = planQuery(request, { ...index, rules: new FiringRules([]) }, scale);
  const known = yield* new WordExpander(plan, new Dictionaries(snapshot, plan.typosPerWordMax)).asWritten();
  const program = {
    ...programOf(plan, "any", known.words, known.lengths),
    k: count + 1,
    sort: BY_RELEVANCE,
    facets: [],
    filter,
  };
  const { rows } = mergeResults(yield* settled(snapshot.search(program)), { offset: 0, count: count + 1 });
  return rows.seqs
    .map((seq, i) => ({ shard: rows.shards[i]!, seq, similarity: null }))
    .filter(({ seq }) => seq !== source.seq)
    .slice(0, count);
}

/**
 * Returns those words of the document's searchable fields that other documents also contain, rarest first.
 */
function* rareWords(
  snapshot: IndexSnapshot,
  { schema, analyser }: QueriedIndex,
  { shard, seq }: PlacedDocument,
): Work<string[]> {
  const names = schema.searchable.map(({ field }) => field.name);
  const [stored] = yield* settled(snapshot.fetch(shard, [seq], { fields: names }));
  if (stored === undefined || stored.document.length === 0 || names.length === 0) return [];
  const document = parsedDocument(stored.document);
  const texts = names.flatMap((name) => document[name] ?? []).filter((value) => typeof value === "string");
  const terms = [...new Set(texts.flatMap((value) => analyser.terms(value)))].slice(0, LOOKED_UP_MAX);
  const asked = terms.map((term) => ({ term, exact: true, prefix: false, typoPrefix: false, maxTypos: 0 }));
  const slots = schema.searchable.map(({ field }) => field.slot);
  const dictionaries = new Dictionaries(snapshot, FIXED_LIMITS.expansionsPerWordMax);
  const { words } = yield* dictionaries.lookUp({ slots, words: asked });
  return terms
    .map((term, i) => ({ term, documents: largest(words[i]?.exact ?? []) }))
    .filter(({ documents }) => documents > 1)
    .sort((a, b) => a.documents - b.documents)
    .slice(0, RARE_WORDS_MAX)
    .map(({ term }) => term);
}
