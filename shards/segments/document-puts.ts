// Creates the put operations that store documents in the database. Each document is encoded just in time,
// because thousands of encoded values in memory at once would make garbage collections frequent and long.
import { documentKey } from "../storage/keyspace.js";
import { lazily } from "../storage/lazy-ops.js";
import { Scratch } from "../storage/scratch.js";
import type { StoreOp } from "../storage/store.js";
import { type DocumentRecord, encodeDocument } from "./document-record.js";

export interface NumberedDocument extends DocumentRecord {
  seq: number;
}

export function documentPuts(uid: number, documents: Iterable<NumberedDocument>): Iterable<StoreOp> {
  return lazily(() => puts(uid, documents));
}

function* puts(uid: number, documents: Iterable<NumberedDocument>): Iterable<StoreOp> {
  const scratch = new Scratch();
  for (const document of documents) {
    const key = documentKey(uid, document.seq);
    yield { type: "put", key, value: encodeDocument(key, document, scratch) };
  }
}
