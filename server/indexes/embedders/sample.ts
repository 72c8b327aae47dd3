// The documents that a model is trained on: those with the smallest hashes of their ids, which is as good as drawing lots, and
// the same for any number of shards and any order in which the documents came.
import { discardMemory } from "../../../engine-wasm/host/runtime/discards.js";
import type { Reads } from "../../fleet/reads/reads.js";
import type { VectorMessages } from "./vector-messages.js";

const DOCUMENTS_MAX = 20_000;
/** The sample ends with the document that reaches this. */
const BYTES_MAX = 64 * 1024 * 1024;
const DOCUMENTS_AT_ONCE = 200;

export interface DocumentSample {
  /** JSON texts, one behind the other, and where each ends. */
  readonly documents: Uint8Array;
  readonly ends: Uint32Array;
}

/** Of the index as it is now, with only these members of the documents. It must stay open until the promise settles. */
export async function sampleDocuments(
  reads: Reads,
  vectors: VectorMessages,
  uid: number,
  fields: readonly string[],
  signal: AbortSignal,
): Promise<DocumentSample> {
  const readView = await reads.view(uid);
  try {
    const byShard = await vectors.sample(uid, readView.generation, DOCUMENTS_MAX);
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
          const documents = await readView.fetch(shard, seqs, { fields: ["id", ...fields] });
          for (const [i, seq] of seqs.entries()) fetched.set(seq, documents[i]!.document);
        }),
      );
      for (const { seq } of some) {
        const text = fetched.get(seq)!;
        if (text.length === 0 || bytes >= BYTES_MAX) continue; // it has died, or there is enough
        texts.push(text);
        bytes += text.length;
      }
    }
    const sample = joined(texts, bytes);
    discardMemory(bytes); // a training needs much of it
    return sample;
  } finally {
    readView.release();
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
