// SEARCH_PAGE runs a search and returns the stored documents for one page of its rows. Only for an index that
// is stored in a single shard, so that no other shard can have a better row.
//
//   request  u8 op, u32 uid, f64 generation, f64 oldestGeneration, f64 deadline, u32 offset, u32 count,
//            u32 + program, options as in FETCH
//   reply    u8 0, u32 + result, u32 documents, documents x {u16 + id, u32 + document, u32 + highlight}
import { type MessageReader, MessageWriter } from "./bytes.js";
import {
  documentsBytes,
  FETCH_OPTIONS_BYTES,
  type FetchedDocument,
  type FetchOptions,
  putDocuments,
  putFetchOptions,
  readDocuments,
  readFetchOptions,
} from "./fetch.js";
import { Op, REPLY_OK } from "./ops.js";
import { type ProgramRequest, programHead } from "./program.js";
import { openReply } from "./reply.js";

export interface PageRequest extends ProgramRequest {
  /** The documents of rows [offset, offset + count) are requested. */
  offset: number;
  count: number;
  options: FetchOptions;
}

export interface PageReply {
  /** The engine's result bytes. */
  result: Uint8Array;
  /**
   * In row order. Fewer than requested if the result has fewer rows or no more documents fit into `bytesMax`.
   */
  documents: FetchedDocument[];
}

export function encodePage(request: PageRequest): Uint8Array<ArrayBuffer> {
  const bytesAfter = 4 + 4 + 4 + request.program.length + FETCH_OPTIONS_BYTES;
  const writer = programHead(Op.SEARCH_PAGE, request, bytesAfter)
    .u32(request.offset)
    .u32(request.count)
    .block(request.program);
  return putFetchOptions(writer, request.options).finish();
}

/** Decodes the payload, which follows the op byte. The program is a view into the message. */
export function decodePage(reader: MessageReader): PageRequest {
  return {
    uid: reader.u32(),
    generation: reader.whole(),
    oldestGeneration: reader.whole(),
    deadline: reader.time(),
    offset: reader.u32(),
    count: reader.u32(),
    program: reader.block(),
    options: readFetchOptions(reader),
  };
}

export function encodePageReply({ result, documents }: PageReply): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter(1 + 4 + result.length + documentsBytes(documents))
    .u8(REPLY_OK)
    .block(result);
  return putDocuments(writer, documents).finish();
}

/** Byte arrays are views into the reply. */
export function decodePageReply(reply: Uint8Array): PageReply {
  const reader = openReply(reply);
  return { result: reader.block(), documents: readDocuments(reader) };
}
