// Reads an index's live documents and their vectors from the database page by page. The index need not be
// open.
import { type MovedVector, movedBytes, type StoredPage, type StoredRequest } from "../../protocol/move.js";
import { decodeDeadDocuments } from "../../segments/dead-documents.js";
import { decodeDocument } from "../../segments/document-record.js";
import { decodeManifest } from "../../segments/manifest.js";
import { DamagedBytesError } from "../../storage/envelope.js";
import {
  deadDocumentsRange,
  documentRange,
  manifestKey,
  numberOfKey,
  vectorKey,
} from "../../storage/keyspace.js";
import type { Store } from "../../storage/store.js";
import { decodeVector } from "../../vectors/vector-record.js";

type Report = (message: string, error: unknown) => void;

/** Number of documents whose vectors are read in one batch. */
const VECTORS_AT_ONCE = 64;

/**
 * The index must not be written while this runs. A damaged vector is reported and treated as missing. Throws
 * the envelope's errors.
 */
export async function storedDocuments(
  store: Store,
  request: StoredRequest,
  report: Report,
): Promise<StoredPage> {
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
  let without = 0; // index of the first document whose vector is unread
  const addVectors = async (): Promise<void> => {
    const some = page.documents.slice(without);
    const keys = some.map(({ seq }) => vectorKey(uid, seq));
    for (const [i, value] of (await store.getMany(keys)).entries()) {
      some[i]!.vector = vectorOf(keys[i]!, value, report);
      bytes += movedBytes(some[i]!);
    }
    without = page.documents.length;
  };
  for await (const [key, value] of store.entries(documentRange(uid, afterSeq + 1, maxSeq))) {
    const seq = numberOfKey(key);
    if (dead.has(seq)) continue;
    const { id, raw } = decodeDocument(key, value);
    page.documents.push({ seq, id, raw, vector: null });
    const unread = page.documents.length - without;
    const isFull = bytes + value.length >= bytesMax;
    if (unread < VECTORS_AT_ONCE && !isFull && value.length < bytesMax / VECTORS_AT_ONCE) continue;
    await addVectors();
    if (bytes >= bytesMax) return { ...page, more: true };
  }
  await addVectors();
  return page;
}

function vectorOf(key: Uint8Array, value: Uint8Array | undefined, report: Report): MovedVector | null {
  if (value === undefined) return null;
  try {
    return decodeVector(key, value);
  } catch (error) {
    if (!(error instanceof DamagedBytesError)) throw error;
    report("a vector cannot be read and will be replaced", error);
    return null;
  }
}
