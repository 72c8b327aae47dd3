// Fetches the stored documents for a page, from only those shards that store any of them. Documents and
// highlights stay unparsed bytes. shown-documents.ts decides which members of each document are returned.
import type { FetchedDocument, FetchOptions } from "../../shards/protocol/fetch.js";
import type { IndexSnapshot } from "../fleet/reads/index-snapshot.js";
import { ReplyTooLargeError } from "../fleet/threads/shard-errors.js";
import { settled, together, type Work } from "../ground/jobs/work.js";
import type { RankedRows } from "./matching/merge.js";
import { documentBytes } from "./shown-documents.js";

/** Documents that the shards sent along with their rows, by sequence number. */
export type KnownDocuments = ReadonlyMap<number, FetchedDocument>;

/** A document with its requested members. Its id is always included. */
export type ParsedDocument = Readonly<Record<string, unknown>> & { readonly id: string };

/**
 * Returns the documents of the page's rows, followed by those of the related rows. Fetches only documents
 * that are not in `known`. Returns null if a shard no longer has one of the documents. Drops the related
 * documents if the reply would be too large, and throws SK-SE-413 if it would still be too large without
 * them.
 */
export function* fetchDocuments(
  snapshot: IndexSnapshot,
  rows: RankedRows,
  related: RankedRows,
  known: readonly KnownDocuments[],
  options: FetchOptions,
  replyBytesMax: number,
): Work<FetchedDocument[] | null> {
  if (related.length === 0) return yield* documentsOf(snapshot, rows, known, options, replyBytesMax);
  try {
    return yield* documentsOf(snapshot, rows.concat(related), known, options, replyBytesMax);
  } catch (error) {
    if (!(error instanceof ReplyTooLargeError)) throw error;
    return yield* documentsOf(snapshot, rows, known, options, replyBytesMax);
  }
}

function* documentsOf(
  snapshot: IndexSnapshot,
  rows: RankedRows,
  known: readonly KnownDocuments[],
  options: FetchOptions,
  replyBytesMax: number,
): Work<FetchedDocument[] | null> {
  const bytesMax = documentBytes(replyBytesMax, rows.length);
  if (rows.length === 0) return [];
  if (snapshot.shards === 1 && known.every(({ size }) => size === 0)) {
    const documents = yield* settled(snapshot.fetch(0, rows.seqs, { ...options, bytesMax }));
    return documents.some(isMissing) ? null : documents;
  }
  let bytesLeft = bytesMax;
  const documents: FetchedDocument[] = [];
  const put = (place: number, one: FetchedDocument): void => {
    bytesLeft -= one.document.length + one.highlight.length;
    if (bytesLeft < 0) throw new ReplyTooLargeError();
    documents[place] = one;
  };
  /** For each shard, the places of the documents to fetch from it. */
  const missing = new Map<number, number[]>();
  for (const [place, seq] of rows.seqs.entries()) {
    const sent = documentIn(known, seq);
    const shard = rows.shards[place]!;
    const wanted = missing.get(shard);
    if (sent !== undefined) put(place, sent);
    else if (wanted === undefined) missing.set(shard, [place]);
    else wanted.push(place);
  }
  const fetchFrom = function* (shard: number, places: readonly number[]): Work<void> {
    const seqs = places.map((place) => rows.seqs[place]!);
    const fetched = yield* settled(snapshot.fetch(shard, seqs, { ...options, bytesMax: bytesLeft }));
    for (const [i, place] of places.entries()) put(place, fetched[i]!);
  };
  if (missing.size > 0)
    yield* together(...Array.from(missing, ([shard, places]) => fetchFrom(shard, places)));
  return documents.some(isMissing) ? null : documents;
}

function isMissing({ document }: FetchedDocument): boolean {
  return document.length === 0;
}

/** Parses a stored document, for callers that need its values. Responses copy the bytes unparsed. */
export function parsedDocument({ buffer, byteOffset, byteLength }: Uint8Array): ParsedDocument {
  return JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString());
}

function documentIn(known: readonly KnownDocuments[], seq: number): FetchedDocument | undefined {
  for (const documents of known) {
    const document = documents.get(seq);
    if (document !== undefined) return document;
  }
  return undefined;
}
