// Reads the live documents of an index from the database a page at a time, without opening the index.
import type { StoredPage, StoredRequest } from "../protocol/operations/move.js";
import { DamagedBytesError } from "../storage/envelope.js";
import { deadDocumentsRange, documentRange, manifestKey, numberOfKey } from "../storage/keyspace.js";
import type { Store } from "../storage/store.js";
import { decodeDeadDocuments } from "./dead-documents.js";
import { decodeDocument } from "./document-record.js";
import { decodeManifest } from "./manifest.js";

/** Requires that nobody writes to the index. Throws the envelope's errors. */
export async function storedDocuments(store: Store, request: StoredRequest): Promise<StoredPage> {
  const { uid, afterSeq, bytesMax } = request;
  const stored = await store.get(manifestKey(uid));
  if (stored === undefined) throw new DamagedBytesError(`index ${uid}, manifest: missing`);
  const { generation, maxSeq, segments } = decodeManifest(stored, `index ${uid}, manifest`);
  const liveDocs = segments.reduce((sum, { rows, deleted }) => sum + rows - deleted, 0);
  const dead = new Set<number>();
  for await (const [key, value] of store.entries(deadDocumentsRange(uid))) {
    const what = `index ${uid}, dead documents of generation ${numberOfKey(key)}`;
    for (const seq of decodeDeadDocuments(value, what)) dead.add(seq);
  }
  const page: StoredPage = { generation, maxSeq, liveDocs, more: false, documents: [] };
  let bytes = 0;
  for await (const [key, value] of store.entries(documentRange(uid, afterSeq + 1, maxSeq))) {
    const seq = numberOfKey(key);
    if (dead.has(seq)) continue;
    const { id, raw } = decodeDocument(key, value);
    page.documents.push({ seq, id, raw });
    bytes += value.length;
    if (bytes >= bytesMax) return { ...page, more: true };
  }
  return page;
}
