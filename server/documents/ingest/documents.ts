// Operations on single documents, and deletion by filter.

import { EngineError } from "../../../engine-wasm/host/engine-error.js";
import { encodeSearch } from "../../../engine-wasm/host/programs/search-program.js";
import { decodeGetReply, encodeGet } from "../../../shards/protocol/fetch.js";
import { Action } from "../../../shards/protocol/ops.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { shardOf } from "../../catalog/schema/placement.js";
import { asDocumentError } from "../../fleet/threads/shard-errors.js";
import { SkeinError } from "../../ground/errors.js";
import { describe } from "../../ground/input/json-value.js";
import { compileDocumentFilter, type FilterTexts, filterProgram } from "./document-filter.js";
import { prepareOne } from "./prepare.js";
import { type Ingest, writePrepared } from "./write.js";

/**
 * Estimated time that a deletion takes to free some of the plan's bytes, after which the client may retry.
 */
const OVER_BYTES_RETRY_SECONDS = 5;

/** Returns the document's JSON without internal members, or null if there is no such document. */
export async function getDocument(
  ingest: Ingest,
  record: IndexRecord,
  id: string,
): Promise<Uint8Array | null> {
  const hash = ingest.workbench.hash(id);
  try {
    return await ingest.reads.one(
      record.uid,
      ({ data, places }) => ({
        shard: places[shardOf(hash, places.length)]!,
        request: encodeGet({ uid: data, id, hash }),
      }),
      decodeGetReply,
    );
  } catch (error) {
    throw asDocumentError(error);
  }
}

/**
 * Replaces the members given in `raw`, a JSON object, and returns the stored document. Throws SK-DOC-404 if
 * there is no such document, or the write's error.
 */
export async function patchDocument(
  ingest: Ingest,
  record: IndexRecord,
  id: string,
  raw: Uint8Array,
): Promise<Uint8Array> {
  checkPatch(ingest, id, raw);
  const failure = await writeOne(ingest, record, id, raw, Action.UPDATE);
  if (failure !== null) throw failure;
  const stored = await getDocument(ingest, record, id);
  if (stored === null) throw new SkeinError("SK-DOC-404", "the document was deleted in the meantime");
  return stored;
}

/** Deletes a document. Returns false if there was none. */
export async function deleteDocument(ingest: Ingest, record: IndexRecord, id: string): Promise<boolean> {
  const failure = await writeOne(ingest, record, id, new Uint8Array(0), Action.DELETE);
  if (failure === null) return true;
  if (failure.code === "SK-DOC-404") return false;
  throw failure;
}

/**
 * Deletes every document that matches the filter and returns their number. Throws SK-DOC-400 for an empty or
 * invalid filter.
 */
export async function deleteWhere(
  ingest: Ingest & FilterTexts,
  record: IndexRecord,
  filterBy: string,
): Promise<number> {
  if (filterBy.trim() === "")
    throw new SkeinError("SK-DOC-400", "filter_by is empty; expected a filter expression");
  const compile = (current: IndexRecord): Uint8Array =>
    encodeSearch(filterProgram(compileDocumentFilter(ingest, current, filterBy)));
  try {
    return await ingest.writes.deleteWhere(record.uid, compile);
  } catch (error) {
    throw asDocumentError(error);
  }
}

/** Writes one document. Returns its error, or null on success. */
async function writeOne(
  ingest: Ingest,
  record: IndexRecord,
  id: string,
  raw: Uint8Array,
  action: Action,
): Promise<SkeinError | null> {
  const document = { id, hash: ingest.workbench.hash(id), raw };
  ingest.recorder.documentBytes("single", raw.length);
  const { errors } = await writePrepared(
    ingest,
    record,
    prepareOne(document, action, ingest.writes.shards(record.uid)),
    null,
  );
  const [error] = errors;
  ingest.recorder.documentsTaken("single", error === undefined ? 1 : 0, error === undefined ? 0 : 1);
  if (error === undefined) return null;
  const retryAfter = error.code === "SK-SYS-429" ? { retryAfter: OVER_BYTES_RETRY_SECONDS } : {};
  return new SkeinError(error.code, error.error, retryAfter);
}

function checkPatch(ingest: Ingest, id: string, raw: Uint8Array): void {
  const { documentBytesMax } = ingest.limits;
  if (raw.length > documentBytesMax) {
    throw new SkeinError("SK-DOC-413", `the body is larger than ${documentBytesMax} bytes`);
  }
  let given: unknown = id;
  try {
    const member = ingest.workbench.topLevel(raw).find(({ name }) => name === "id");
    if (member !== undefined)
      given = JSON.parse(Buffer.from(raw.subarray(member.valueStart, member.valueEnd)).toString());
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== "json") throw error;
    throw new SkeinError(
      "SK-DOC-400",
      `the body must be a JSON object with the members to change (byte ${error.at})`,
      {
        cause: error,
      },
    );
  }
  if (given !== id) {
    throw new SkeinError(
      "SK-DOC-400",
      `id must be omitted or match the id in the path, not ${describe(given)}`,
    );
  }
}
