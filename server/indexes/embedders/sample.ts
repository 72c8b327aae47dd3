// Selects the documents that a model is trained on, which are those with the smallest id hashes. This amounts
// to a random sample that depends neither on the number of shards nor on the order in which documents arrive.
import { discardMemory } from "../../../engine-wasm/host/runtime/discards.js";
import type { Reads } from "../../fleet/reads/reads.js";
import { RequestLife } from "../../ground/jobs/request-life.js";
import type { VectorMessages } from "./vector-messages.js";

const DOCUMENTS_MAX = 20_000;
/** Sampling stops after the document that brings the sample to this many bytes. */
const BYTES_MAX = 64 * 1024 * 1024;
const DOCUMENTS_AT_ONCE = 200;

export interface DocumentSample {
  /** The documents' JSON texts, concatenated. `ends` contains the end offset of each text. */
  readonly documents: Uint8Array;
  readonly ends: Uint32Array;
}

/**
 * Samples the index's current documents, with only the members named in `fields` and the id. The index must
 * stay open until the promise settles.
 */
export async function sampleDocuments(
  reads: Reads,
  vectors: VectorMessages,
  uid: number,
  fields: readonly string[],
  signal: AbortSignal,
): Promise<DocumentSample> {
  const snapshot = await reads.snapshot(uid, new RequestLife());
  try {
    const byShard = await vectors.sample(uid, snapshot.generation, DOCUMENTS_MAX);
    const places = byShard
      .flatMap((sampled, shard) => sampled.map((one) => ({ ...one, shard })))
      .sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : a.seq - b.seq))
      .slice(0, DOCUMENTS_MAX);
    const texts: Uint8Array[] = [];
    let bytes = 0;
    for (let at = 0; at < places.length && bytes < BYTES_MAX; at += DOCUMENTS_AT_ONCE) {
      signal.throwIfAborted();
      const some = places.slice(at, at + DOCUMENTS_AT_ONCE);
      const fetched = new Map<number, Uint8Array>();
      await Promise.all(
        byShard.map(async (_, shard) => {
          const seqs = some.filter((place) => place.shard === shard).map(({ seq }) => seq);
          if (seqs.length === 0) return;
          const documents = await snapshot.fetch(shard, seqs, { fields: ["id", ...fields] });
          for (const [i, seq] of seqs.entries()) fetched.set(seq, documents[i]!.document);
        }),
      );
      for (const { seq } of some) {
        const text = fetched.get(seq)!;
        // Skip documents that have been deleted, and all remaining documents once the sample is full.
        if (text.length === 0 || bytes >= BYTES_MAX) continue;
        texts.push(text);
        bytes += text.length;
      }
    }
    const sample = joined(texts, bytes);
    discardMemory(bytes); // returns memory to the system, because training needs a lot
    return sample;
  } finally {
    snapshot.release();
  }
}

function joined(texts: readonly Uint8Array[], bytes: number): DocumentSample {
  const documents = new Uint8Array(bytes);
  const ends = new Uint32Array(texts.length);
  let at = 0;
  for (const [i, text] of texts.entries()) {
    documents.set(text, at);
    at += text.length;
    ends[i] = at;
  }
  return { documents, ends };
}
