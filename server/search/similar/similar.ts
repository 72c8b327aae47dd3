// Finds documents similar to a given document in the index: those with the nearest vectors or, without
// vectors, those that share its rare words. Filters apply, but ranking rules do not.
import { FilterWriter, NO_FILTER } from "../../../engine-wasm/host/programs/filter-program.js";
import { EVERY_DOCUMENT, type SearchProgram } from "../../../engine-wasm/host/programs/search-program.js";
import type { IndexContents } from "../../catalog/index-contents.js";
import type { IndexSnapshot } from "../../fleet/reads/index-snapshot.js";
import type { Reads } from "../../fleet/reads/reads.js";
import { SkeinError } from "../../ground/errors.js";
import type { RequestLife } from "../../ground/jobs/request-life.js";
import { settled, together, type Work } from "../../ground/jobs/work.js";
import type { Limits } from "../../ground/limits.js";
import { both } from "../../question/filter/filter-compile.js";
import { readWithin, type Within } from "../../question/request/within.js";
import { mergeResults } from "../matching/merge.js";
import type { QueriedIndex, QueriedIndexes } from "../matching/queried-index.js";
import { NO_PLACES, nearestDocuments, nearestFirst, type PlacedDocument } from "../semantic/nearest.js";
import { documentVector } from "../semantic/query-vector.js";
import { sharingRareWords } from "./rare-words.js";
import { readSimilarRequest, type SimilarRequest } from "./similar-request.js";

/** The services needed to find similar documents. */
interface Finding {
  readonly reads: Reads;
  readonly limits: Limits;
  readonly queriedIndexes: QueriedIndexes;
}

/** A similar document. Its similarity is null if the given document has no vector. */
export interface SimilarHit extends PlacedDocument {
  readonly similarity: number | null;
}

/**
 * Returns `{"hits":[...],"took_ms":n}`. Throws SkeinError; SK-DOC-404 means that the document does not exist.
 */
export function* similarDocuments(
  { reads, limits, queriedIndexes }: Finding,
  contents: IndexContents,
  id: string,
  body: unknown,
  filterOfAsker: string,
  life: RequestLife,
): Work<Uint8Array> {
  const startedMs = performance.now();
  const index = queriedIndexes.of(contents);
  const within = readWithin(filterOfAsker, index, limits);
  const request = readSimilarRequest(body, index, limits, within);
  return yield* reads.answer(index.record.uid, life, undefined, function* (snapshot) {
    const source = yield* documentOf(snapshot, index, id, within);
    const hits = yield* hitsFor(snapshot, index, source, request, reads, limits);
    const parts = yield* shownHits(snapshot, hits, request, limits);
    if (parts === null) return null;
    const tookMs = Math.round(performance.now() - startedMs);
    return Buffer.concat([Buffer.from('{"hits":['), ...parts, Buffer.from(`],"took_ms":${tookMs}}`)]);
  });
}

function* documentOf(
  snapshot: IndexSnapshot,
  { analyser }: QueriedIndex,
  id: string,
  within: Within | null,
): Work<PlacedDocument> {
  const named = new FilterWriter();
  named.ids();
  named.id(analyser.hash(id));
  const filter = both(within?.filter ?? NO_FILTER, named.finish());
  const program = { ...EVERY_DOCUMENT, k: 1, filter };
  const { rows } = mergeResults(yield* settled(snapshot.search(program)), { offset: 0, count: 1 });
  if (rows.length === 0) throw new SkeinError("SK-DOC-404", "the document does not exist");
  return { shard: rows.shards[0]!, seq: rows.seqs[0]! };
}

function* hitsFor(
  snapshot: IndexSnapshot,
  index: QueriedIndex,
  source: PlacedDocument,
  request: SimilarRequest,
  reads: Reads,
  limits: Limits,
): Work<SimilarHit[]> {
  if (request.perPage === 0) return [];
  const { filter } = request;
  const vector = yield* documentVector(snapshot, source);
  if (vector === null)
    return yield* sharingRareWords(
      snapshot,
      index,
      source,
      request.perPage,
      filter,
      reads.scale(index.record.uid),
      limits,
    );
  const program: SearchProgram = { ...EVERY_DOCUMENT, k: 0, filter };
  const compared = yield* nearestDocuments(snapshot, program, vector, request.perPage + 1, NO_PLACES);
  return nearestFirst(compared)
    .filter(({ seq, similarity }) => seq !== source.seq && similarity > 0)
    .slice(0, request.perPage);
}

/** Returns the hits as JSON, or null if a shard no longer has one of them. */
function* shownHits(
  snapshot: IndexSnapshot,
  hits: readonly SimilarHit[],
  { fields }: SimilarRequest,
  { replyBytesMax: bytesMax }: Limits,
): Work<Uint8Array[] | null> {
  const options = { ...(fields === null ? {} : { fields: [...fields] }), bytesMax };
  const shown = yield* together(
    ...hits.map(({ shard, seq }) => settled(snapshot.fetch(shard, [seq], options))),
  );
  const documents = shown.map(([one]) => one!.document);
  if (documents.some(({ length }) => length === 0)) return null;
  return documents.flatMap((document, i) => [
    Buffer.from(i === 0 ? '{"document":' : ',{"document":'),
    document,
    Buffer.from(`,"similarity":${JSON.stringify(rounded(hits[i]!.similarity))}}`),
  ]);
}

function rounded(similarity: number | null): number | null {
  return similarity === null ? null : Math.round(similarity * 10_000) / 10_000;
}
