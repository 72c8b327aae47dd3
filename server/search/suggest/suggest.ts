// Finds suggestions for partly typed input. Literal matches come first, and corrected spellings only fill the
// rest of the list. It contains either values of documents or, if grouped, one field's values with counts.
// Popular queries may precede them. Uses the same steps as a query; this file runs them in order and fills
// the list.

import type { Token } from "../../../engine-wasm/host/instance/workbench.js";
import type { SearchWord } from "../../../engine-wasm/host/programs/search-program.js";
import type { FetchedDocument } from "../../../shards/protocol/fetch.js";
import type { IndexContents } from "../../catalog/index-contents.js";
import type { ResolvedField } from "../../catalog/schema/resolved-schema.js";
import type { IndexSnapshot } from "../../fleet/reads/index-snapshot.js";
import type { RequestLife } from "../../ground/jobs/request-life.js";
import { settled, type Work } from "../../ground/jobs/work.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import type { QueryRequest } from "../../question/request/query-request.js";
import { readWithin } from "../../question/request/within.js";
import { Dictionaries } from "../../question/words/dictionaries.js";
import { fetchDocuments, type ParsedDocument, parsedDocument } from "../fetch.js";
import { WordExpander } from "../matching/expand.js";
import { countFacets, facetText } from "../matching/facets.js";
import { type Matched, matchQuery } from "../matching/match.js";
import { mergeResults, RankedRows } from "../matching/merge.js";
import { planQuery, type QueryPlan } from "../matching/plan.js";
import { withoutInfixes } from "../matching/planned-shape.js";
import type { QueriedIndex, QueriedIndexes } from "../matching/queried-index.js";
import type { Searching } from "../search.js";
import { LOGGED_QUERIES, type Suggestion, SuggestionList } from "./suggest-list.js";
import { mayBeMisspelt, readSuggestRequest, type SuggestRequest } from "./suggest-request.js";
import { type Judgement, judgeLiterally, ValueChooser } from "./suggest-values.js";

/**
 * Rows to read per suggestion in the first pass, and in the second pass if the list is still not full. A
 * third pass reads up to `suggestRowsMax` rows. The best few rows nearly always contain enough values that
 * start with a short input, and each row costs a document fetch.
 */
const ROWS_PER_SUGGESTION = [4, 20] as const;
/** Maximum number of documents per fetch. */
export const CHUNK_ROWS = 100;

export interface Suggestions {
  readonly suggestions: readonly Suggestion[];
  readonly took_ms: number;
}

/** The services that suggestions need. */
interface Suggesting extends Pick<Searching, "reads" | "limits"> {
  readonly queriedIndexes: QueriedIndexes;
}

interface Task extends Pick<Searching, "reads" | "limits"> {
  readonly index: QueriedIndex;
  readonly request: SuggestRequest;
  /** The input's words. */
  readonly input: readonly Token[];
}

/** Returns suggestions for the input in `body`. Throws SkeinError. */
export function* suggest(
  { reads, limits, queriedIndexes }: Suggesting,
  contents: IndexContents,
  body: unknown,
  filterOfAsker: string,
  life: RequestLife,
): Work<Suggestions> {
  const startedMs = performance.now();
  const queried = queriedIndexes.of(contents);
  const index = { ...queried, rules: queried.rules.hiding };
  const within = readWithin(filterOfAsker, index, limits);
  const request = readSuggestRequest(body, index, limits, within);
  const task: Task = { reads, limits, index, request, input: index.analyser.tokens(request.query.q) };
  const suggestions =
    task.input.length === 0
      ? []
      : yield* reads.answer(index.record.uid, life, undefined, (snapshot) => suggestionsOf(task, snapshot));
  return { suggestions, took_ms: Math.round(performance.now() - startedMs) };
}

/** Returns the suggestions, or null if a document no longer exists in its shard. */
function* suggestionsOf(task: Task, snapshot: IndexSnapshot): Work<readonly Suggestion[] | null> {
  const { request, input, index } = task;
  const list = new SuggestionList(request.perPage, index.analyser);
  for (const typos of mayBeMisspelt(input) ? [false, true] : [false]) {
    if (request.queries) yield* addQueries(task, snapshot, typos, list);
    const complete =
      request.fields.length === 0 || list.roundFull
        ? true
        : request.groupBy === null
          ? yield* addValues(task, snapshot, typos, list)
          : yield* addGroups(task, snapshot, typos, list, request.groupBy);
    if (!complete) return null;
    list.closeRound();
    if (list.full) break;
  }
  return list.suggestions;
}

/** Adds popular queries. If fields are suggested too, queries fill at most half of the list. */
function* addQueries(task: Task, snapshot: IndexSnapshot, typos: boolean, list: SuggestionList): Work<void> {
  const { request, index } = task;
  let places = request.fields.length === 0 ? request.perPage : Math.ceil(request.perPage / 2);
  const judge = typos ? yield* tolerantJudge(task, snapshot) : literalJudge(task);
  const judged = index.popularity.queries.map((query) => ({ query, ...judge(query.tokens) }));
  for (const starting of [true, false]) {
    for (const { query, fits, startsWithInput } of judged) {
      if (places === 0) return;
      if (!fits || startsWithInput !== starting) continue;
      const { value, count } = query;
      if (Buffer.byteLength(value) > FIXED_LIMITS.suggestionBytesMax) continue;
      if (list.add({ value, field: LOGGED_QUERIES, count }, startsWithInput)) places--;
    }
  }
}

type Judge = (value: readonly Token[]) => Judgement;

function literalJudge({ input }: Task): Judge {
  return (value) => judgeLiterally(value, input);
}

function* tolerantJudge(task: Task, snapshot: IndexSnapshot): Work<Judge> {
  const plan = planOf(task, true, { perPage: 0 });
  const dictionaries = new Dictionaries(snapshot, plan.typosPerWordMax);
  const { words } = yield* new WordExpander(plan, dictionaries).asWritten();
  const chooser = chooserOf(task, plan, words, true);
  return (value) => chooser.judge(value);
}

/** Adds values from the best documents. Returns false if a document no longer exists in its shard. */
function* addValues(
  task: Task,
  snapshot: IndexSnapshot,
  typos: boolean,
  list: SuggestionList,
): Work<boolean> {
  const { fields } = task.request;
  const { replyBytesMax } = task.limits;
  const options = { fields: fields.map((field) => field.name) };
  const bytesMax = Math.floor(replyBytesMax / snapshot.shards);
  let from = 0;
  for (const rows of windows(task)) {
    const plan = planOf(task, typos, { perPage: rows });
    if (plan.text.words.length === 0) return true;
    const first = from === 0;
    // In the first pass, the shards send documents along with their rows. Otherwise they are fetched in
    // chunks.
    const page = { offset: from, count: first ? rows : 0, options: { ...options, bytesMax } };
    const matched = yield* matchQuery(plan, snapshot, { page: () => page });
    const { rows: ranked, found } = merged(matched, from, rows - from);
    const chooser = chooserOf(task, plan, matched.program.words, typos);
    for (let at = 0; at < ranked.length && !list.roundFull; at += CHUNK_ROWS) {
      if (!first || at > 0) yield* settled(snapshot.slices.next()); // few lists need that many documents
      const chunk = ranked.slice(at, at + CHUNK_ROWS);
      const known = [matched.documents];
      const shown = yield* settled(
        fetchDocuments(snapshot, chunk, new RankedRows(), known, options, replyBytesMax),
      );
      if (shown === null) return false;
      for (const document of mostClickedFirst(task, shown)) {
        for (const { value, field, startsWithInput } of chooser.choose(document, fields))
          list.add({ value, field, document_id: document.id }, startsWithInput);
      }
    }
    if (list.roundFull || found <= rows) return true;
    from = rows;
  }
  return true;
}

/** Returns the row number at which each pass ends (exclusive), in order. */
function windows({ request }: Task): number[] {
  const rowsMax = FIXED_LIMITS.suggestRowsMax;
  const first = ROWS_PER_SUGGESTION.map((rows) => rows * request.perPage);
  return [...first.filter((rows) => rows < rowsMax), rowsMax];
}

/** Adds the group field's values over all matching documents, the values with the most documents first. */
function* addGroups(
  task: Task,
  snapshot: IndexSnapshot,
  typos: boolean,
  list: SuggestionList,
  field: ResolvedField,
): Work<boolean> {
  const plan = planOf(task, typos, { perPage: 0 });
  if (plan.text.words.length === 0) return true;
  const facets = [{ slot: field.slot, type: field.code, limit: 0 }];
  const counted = { ...plan, program: { ...plan.program, facets } };
  const page = { offset: 0, count: 0, options: {} };
  const matched = yield* matchQuery(counted, snapshot, { page: () => page });
  const chooser = chooserOf(task, plan, matched.program.words, typos);
  const [groups] = yield* settled(countFacets(snapshot, matched.program, matched.results));
  for (let i = 0; i < groups!.length && !list.roundFull; i++) {
    const text = facetText(groups!.valueAt(i), field);
    list.add({ value: text, field: field.name, count: groups!.countAt(i) }, chooser.startsWithInput(text));
  }
  return true;
}

function planOf(task: Task, typos: boolean, page: { perPage: number }): QueryPlan {
  const { reads, index, request } = task;
  const query: QueryRequest = { ...request.query, ...page, ...(typos ? {} : { numTypos: 0 }) };
  const scale = reads.scale(index.record.uid);
  const plan = planQuery(query, index, scale);
  // Does not drop words, because the suggestions would then no longer fit the input. Does not match inside
  // words either.
  return {
    ...plan,
    fields: withoutInfixes(plan.fields),
    dropThreshold: 0,
    typoPolicy: typos ? "always" : "missing",
  };
}

function chooserOf(task: Task, plan: QueryPlan, words: readonly SearchWord[], typos: boolean): ValueChooser {
  return new ValueChooser({
    analyser: task.index.analyser,
    languages: plan.fields.languages,
    input: task.input,
    words,
    otherForms: typos,
    bytesMax: FIXED_LIMITS.suggestionBytesMax,
  });
}

function merged(matched: Matched, offset: number, count: number): ReturnType<typeof mergeResults> {
  return mergeResults(matched.results, { offset, count });
}

/**
 * Parses the documents. If the index has no default sorting field as a measure of popularity, the most
 * clicked come first.
 */
function mostClickedFirst({ index }: Task, shown: readonly FetchedDocument[]): ParsedDocument[] {
  const documents = shown.map(({ document }) => parsedDocument(document));
  if (index.schema.defaultSort !== null) return documents;
  const clicks = ({ id }: ParsedDocument): number => index.popularity.clicksOf(id);
  return documents.sort((a, b) => clicks(b) - clicks(a));
}
