// Gets vectors from an endpoint for waiting documents: reads the documents from the shards, requests their
// vectors and writes the vectors to the shards. The shards record which documents are waiting, so nothing is
// lost if the server stops in between.
import { VECTOR_BYTES } from "../../../engine-wasm/assembly/layout.js";
import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { Limits } from "../../ground/limits.js";
import type { Logger } from "../../ground/log.js";
import { documentText, embeddedFields } from "../../models/document-text.js";
import type { EmbeddingEndpoint } from "../../models/embedding-endpoint.js";
import type { EndpointError } from "../../models/model-server.js";
import type { VectorMessages } from "./vector-messages.js";

const DOCUMENTS_AT_ONCE = 128;
const BYTES_AT_ONCE = 4 * 1024 * 1024;

export interface EndpointQueueOptions {
  readonly vectors: VectorMessages;
  readonly workbench: Workbench;
  readonly limits: Limits;
  readonly log: Logger;
}

/**
 * Runs until no shard has waiting documents. `origin` identifies the source of the vectors; `stored` is
 * called after each batch. A document that the endpoint refuses is stored without a vector, so that it does
 * not block later documents. Its vector is requested again when the document is rewritten or the origin
 * changes. Throws EndpointError if the endpoint fails.
 */
export async function embedWaiting(
  { vectors, workbench, limits, log }: EndpointQueueOptions,
  record: IndexRecord,
  endpoint: EmbeddingEndpoint,
  origin: number,
  shards: number,
  stored: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = record;
  const fields = embeddedFields(record);
  const emptyShard = async (shard: number): Promise<void> => {
    for (;;) {
      signal.throwIfAborted();
      const waiting = await vectors.pending(uid, shard, DOCUMENTS_AT_ONCE, BYTES_AT_ONCE);
      if (waiting.length === 0) return;
      const texts = waiting.map(({ raw }) => documentText(raw, fields, limits.embeddingTextCharactersMax));
      const refusals: EndpointError[] = [];
      const made = await endpoint.embedDocuments(texts, signal, (refusal) => refusals.push(refusal));
      const records = new Uint8Array(waiting.length * VECTOR_BYTES);
      for (const [i, vector] of made.entries()) {
        const one = workbench.vectorOf(vector);
        if (one !== null) records.set(one, i * VECTOR_BYTES); // null for a blank or refused text
      }
      const seqs = waiting.map(({ seq }) => seq);
      await vectors.putVectors(shard, shards, { uid, origin, seqs, vectors: records });
      stored();
      if (refusals.length === 0) continue;
      const told = { err: refusals[0], index: record.name, documents: refusals.length };
      log.warn(told, "an endpoint refuses documents; they have no vector until they change");
    }
  };
  await Promise.all(Array.from({ length: shards }, (_, shard) => emptyShard(shard)));
}
