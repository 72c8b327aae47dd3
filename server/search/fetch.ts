// Fetches the stored documents of a page. Only the shards that own a winner are asked, and documents and highlights stay
// bytes that nobody parses. shown-documents.ts decides what is wanted of each document.
import type { FetchedDocument, FetchOptions } from "../../shards/protocol/fetch.js";
import type { Winner } from "../matching/merge.js";
import type { ReadView } from "../reads/read-view.js";
import { matchTypeOf } from "../semantic/match-type.js";
import type { Compared } from "../semantic/nearest.js";
import { ReplyTooLargeError } from "../threads/shard-errors.js";
import type { Hit } from "./respond.js";
import { documentBytes } from "./shown-documents.js";

/** What is shown of an answer: the hits of the page, and related ones where there is room for them. */
export interface ShownWinners {
  readonly winners: readonly Winner[];
  readonly related: readonly Winner[];
  /** What was compared with the query's vector. */
  readonly compared: Compared;
}

/**
 * The hits of the winners, then those of the related ones. Documents that are not yet `known` are fetched. Null when a
 * shard no longer has one of the documents. Throws SK-SE-413 when the winners alone are too large for the reply.
 */
export async function fetchHits(
  readView: ReadView,
  { winners, related, compared }: ShownWinners,
  known: readonly ReadonlyMap<number, FetchedDocument>[],
  options: FetchOptions,
  replyBytesMax: number,
): Promise<Hit[] | null> {
  const fetchAll = (all: readonly Winner[]): Promise<Hit[] | null> =>
    hitsOf(readView, all, known, compared, {
      ...options,
      bytesMax: documentBytes(replyBytesMax, all.length),
    });
  try {
    return await fetchAll([...winners, ...related]);
  } catch (error) {
    if (!(error instanceof ReplyTooLargeError) || related.length === 0) throw error;
    return fetchAll(winners);
  }
}

async function hitsOf(
  readView: ReadView,
  winners: readonly Winner[],
  known: readonly ReadonlyMap<number, FetchedDocument>[],
  compared: Compared,
  options: FetchOptions & { readonly bytesMax: number },
): Promise<Hit[] | null> {
  const knownDocument = (seq: number): FetchedDocument | undefined => {
    for (const documents of known) {
      const document = documents.get(seq);
      if (document !== undefined) return document;
    }
    return undefined;
  };
  const left = { bytes: options.bytesMax };
  const count = ({ document, highlight }: FetchedDocument): void => {
    left.bytes -= document.length + highlight.length;
    if (left.bytes < 0) throw new ReplyTooLargeError();
  };
  const seqs = new Map<number, number[]>();
  for (const { shard, seq } of winners) {
    const sent = knownDocument(seq);
    if (sent !== undefined) {
      count(sent);
      continue;
    }
    const wanted = seqs.get(shard);
    if (wanted === undefined) seqs.set(shard, [seq]);
    else wanted.push(seq);
  }
  const fetched = new Map<number, FetchedDocument>();
  if (seqs.size > 0) {
    await Promise.all(
      Array.from(seqs, async ([shard, wanted]) => {
        const documents = await readView.fetch(shard, wanted, { ...options, bytesMax: left.bytes });
        documents.forEach(count);
        for (const [i, seq] of wanted.entries()) fetched.set(seq, documents[i] as FetchedDocument);
      }),
    );
  }
  const hits = winners.map((winner): Hit => {
    const { seq, textMatch, bonus } = winner;
    const { id, document, highlight } = knownDocument(seq) ?? (fetched.get(seq) as FetchedDocument);
    return {
      id,
      document,
      highlight,
      textMatch,
      bonus,
      matchType: matchTypeOf(winner, compared),
      explanation: null,
    };
  });
  return hits.every((hit) => hit.document.length > 0) ? hits : null;
}
