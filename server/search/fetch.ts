// Fetches the stored documents for a page, from only those shards that store any of them. Documents and
// highlights stay unparsed bytes. shown-documents.ts decides which members of each document are returned.
import type { FetchedDocument, FetchOptions } from "../../shards/protocol/fetch.js";
import type { IndexSnapshot } from "../fleet/reads/index-snapshot.js";
import { ReplyTooLargeError } from "../fleet/threads/shard-errors.js";
import { settled, together, type Work } from "../ground/jobs/work.js";
import type { Hit } from "./found.js";
import type { Winner } from "./matching/merge.js";
import { matchTypeOf } from "./semantic/match-type.js";
import type { Compared } from "./semantic/nearest.js";
import { documentBytes } from "./shown-documents.js";

/** A document with its requested members. Its id is always included. */
export type ParsedDocument = Readonly<Record<string, unknown>> & { readonly id: string };

/** The documents to show: the page's hits, and related hits if they fit into the reply. */
export interface ShownWinners {
  readonly winners: readonly Winner[];
  readonly related: readonly Winner[];
  /**
   * The documents whose vectors were compared with the query's vector; they determine each hit's match type.
   */
  readonly compared: Compared;
}

/**
 * Returns the page's hits, followed by the related hits. Fetches only documents that are not in `known`.
 * Returns null if a shard no longer has one of the documents. Drops the related hits if the reply would be
 * too large, and throws SK-SE-413 if it would still be too large without them.
 */
export function* fetchHits(
  snapshot: IndexSnapshot,
  { winners, related, compared }: ShownWinners,
  known: readonly ReadonlyMap<number, FetchedDocument>[],
  options: FetchOptions,
  replyBytesMax: number,
): Work<Hit[] | null> {
  const fetchAll = (all: readonly Winner[]): Work<Hit[] | null> =>
    hitsOf(snapshot, all, known, compared, {
      ...options,
      bytesMax: documentBytes(replyBytesMax, all.length),
    });
  try {
    return yield* fetchAll([...winners, ...related]);
  } catch (error) {
    if (!(error instanceof ReplyTooLargeError) || related.length === 0) throw error;
    return yield* fetchAll(winners);
  }
}

function* hitsOf(
  snapshot: IndexSnapshot,
  winners: readonly Winner[],
  known: readonly ReadonlyMap<number, FetchedDocument>[],
  compared: Compared,
  options: FetchOptions & { readonly bytesMax: number },
): Work<Hit[] | null> {
  const documents = winners.map(({ seq }) => documentIn(known, seq));
  let bytesLeft = options.bytesMax;
  const count = ({ document, highlight }: FetchedDocument): void => {
    bytesLeft -= document.length + highlight.length;
    if (bytesLeft < 0) throw new ReplyTooLargeError();
  };
  /** For each shard, the positions in `winners` of the documents to fetch from it. */
  const missing = new Map<number, number[]>();
  for (const [place, { shard }] of winners.entries()) {
    const sent = documents[place];
    const wanted = missing.get(shard);
    if (sent !== undefined) count(sent);
    else if (wanted === undefined) missing.set(shard, [place]);
    else wanted.push(place);
  }
  const fetchFrom = function* (shard: number, places: readonly number[]): Work<void> {
    const seqs = places.map((place) => winners[place]!.seq);
    const fetched = yield* settled(snapshot.fetch(shard, seqs, { ...options, bytesMax: bytesLeft }));
    for (const [i, place] of places.entries()) {
      count(fetched[i]!);
      documents[place] = fetched[i]!;
    }
  };
  if (missing.size > 0)
    yield* together(...Array.from(missing, ([shard, places]) => fetchFrom(shard, places)));
  if (documents.some((one) => one!.document.length === 0)) return null;
  return winners.map((winner, place): Hit => {
    const { id, document, highlight } = documents[place]!;
    return { winner, id, document, highlight, matchType: matchTypeOf(winner, compared), explanation: null };
  });
}

/** Parses a stored document, for callers that need its values. Responses copy the bytes unparsed. */
export function parsedDocument({ buffer, byteOffset, byteLength }: Uint8Array): ParsedDocument {
  return JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString());
}

function documentIn(
  known: readonly ReadonlyMap<number, FetchedDocument>[],
  seq: number,
): FetchedDocument | undefined {
  for (const documents of known) {
    const document = documents.get(seq);
    if (document !== undefined) return document;
  }
  return undefined;
}
