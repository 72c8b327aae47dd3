// The stored documents of a page: only the shards that own a winner are asked, documents and highlights stay
// the bytes they are.
import type { SearchProgram } from "../../engine-wasm/host/search-program.js";
import type { FetchedDocument, FetchOptions } from "../../shards/protocol/fetch.js";
import type { IndexSettings } from "../catalog/types.js";
import { highlightRequest } from "./highlight-request.js";
import type { Winner } from "./merge.js";
import type { QueryRequest } from "./query-request.js";
import type { QueryText } from "./query-text.js";
import type { Hit } from "./respond.js";
import type { Snapshot } from "./snapshot.js";

/** Documents not yet `known` are fetched. Hits in the order of the winners, or null when a shard no longer has one of the documents. */
export async function fetchHits(
  snapshot: Snapshot,
  winners: readonly Winner[],
  known: ReadonlyMap<number, FetchedDocument>,
  options: FetchOptions,
): Promise<Hit[] | null> {
  const seqs = new Map<number, number[]>();
  for (const { shard, seq } of winners) {
    if (known.has(seq)) continue;
    const wanted = seqs.get(shard);
    if (wanted === undefined) seqs.set(shard, [seq]);
    else wanted.push(seq);
  }
  const fetched = new Map(known);
  await Promise.all(
    Array.from(seqs, async ([shard, wanted]) => {
      const documents = await snapshot.fetch(shard, wanted, options);
      for (const [i, seq] of wanted.entries()) fetched.set(seq, documents[i] as FetchedDocument);
    }),
  );
  const hits = winners.map(({ seq, textMatch, bonus, matched }) => ({
    ...(fetched.get(seq) as FetchedDocument),
    textMatch,
    bonus,
    pinnedOnly: !matched,
    explanation: null,
  }));
  return hits.every((hit) => hit.document.length > 0) ? hits : null;
}

/** What to keep of the documents and what to mark in them. */
export function fetchOptions(
  request: QueryRequest,
  text: QueryText,
  program: SearchProgram,
  settings: IndexSettings,
): FetchOptions {
  return {
    ...(request.keepFields === null ? {} : { fields: [...request.keepFields] }),
    ...(request.dropFields === null ? {} : { excludeFields: [...request.dropFields] }),
    ...(request.highlight.length === 0 || program.words.length === 0
      ? {}
      : { highlight: highlightRequest(request.highlight, text, program.words, settings) }),
  };
}
