// Fetches the stored documents for a page, from only those shards that store any of them. Documents and
// highlights stay unparsed bytes. shown-documents.ts decides which members of each document are returned.
import type { FetchedDocument, FetchOptions } from "../../shards/protocol/fetch.js";
import type { IndexSnapshot } from "../fleet/reads/index-snapshot.js";
import { ReplyTooLargeError } from "../fleet/threads/shard-errors.js";
import { run, settled, together, type Work } from "../ground/jobs/work.js";
import type { RankedRows } from "./matching/merge.js";
import { documentBytes, withinBytes } from "./shown-documents.js";

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
export function fetchDocuments(
  snapshot: IndexSnapshot,
  rows: RankedRows,
  related: RankedRows,
  known: readonly KnownDocuments[],
  options: FetchOptions,
  replyBytesMax: number,
): Documents | Promise<Documents> {
  return related.length === 0
    ? documentsOf(snapshot, rows, known, options, replyBytesMax)
    : run(withRelated(snapshot, rows, related, known, options, replyBytesMax));
}

/** Null if a shard no longer has one of them. */
type Documents = FetchedDocument[] | null;

function* withRelated(
  snapshot: IndexSnapshot,
  rows: RankedRows,
  related: RankedRows,
  known: readonly KnownDocuments[],
  options: FetchOptions,
  replyBytesMax: number,
): Work<Documents> {
  try {
    return yield* settled(documentsOf(snapshot, rows.concat(related), known, options, replyBytesMax));
  } catch (error) {
    if (!(error instanceof ReplyTooLargeError)) throw error;
    return yield* settled(documentsOf(snapshot, rows, known, options, replyBytesMax));
  }
}

function documentsOf(
  snapshot: IndexSnapshot,
  rows: RankedRows,
  known: readonly KnownDocuments[],
  options: FetchOptions,
  replyBytesMax: number,
): Documents | Promise<Documents> {
  const bytesMax = documentBytes(replyBytesMax, rows.length);
  if (rows.length === 0) return [];
  if (snapshot.shards > 1 || !known.every(isEmpty))
    return run(gathered(snapshot, rows, known, options, bytesMax));
  const documents = snapshot.fetch(0, rows.seqs, withinBytes(options, bytesMax));
  return documents instanceof Promise ? documents.then(complete) : complete(documents);
}

function isEmpty({ size }: KnownDocuments): boolean {
  return size === 0;
}

function complete(documents: FetchedDocument[]): Documents {
  return documents.some(isMissing) ? null : documents;
}

/** Takes the known documents, and fetches the others from their shards. */
function* gathered(
  snapshot: IndexSnapshot,
  rows: RankedRows,
  known: readonly KnownDocuments[],
  options: FetchOptions,
  bytesMax: number,
): Work<Documents> {
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
    const fetched = yield* settled(snapshot.fetch(shard, seqs, withinBytes(options, bytesLeft)));
    for (const [i, place] of places.entries()) put(place, fetched[i]!);
  };
  if (missing.size > 0)
    yield* together(...Array.from(missing, ([shard, places]) => fetchFrom(shard, places)));
  return complete(documents);
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
