// Messages for exports. ALL_SEQS returns a generation's sequence numbers, page by page; EXPORT returns
// documents as NDJSON. While a caller pages, it must keep reporting the generation as in use
// (oldestGeneration).
//
//   ALL_SEQS request  u8 op, u32 uid, f64 generation, f64 afterSeq, u32 limit
//            reply    u8 0, u32 count, count x f64 seq
//   EXPORT   request  u8 op, u32 uid, u32 count, count x f64 seq
//            reply    u8 0, u32 count, NDJSON bytes of the first count seqs (each line ends in \n)
import { type MessageReader, MessageWriter } from "./bytes.js";
import { Op, REPLY_OK } from "./ops.js";
import { openReply } from "./reply.js";

export interface AllSeqsRequest {
  uid: number;
  generation: number;
  /** Returns only larger seqs; 0 for the first page. */
  afterSeq: number;
  limit: number;
}

export interface ExportRequest {
  uid: number;
  seqs: number[];
}

/**
 * The existing documents among the first `count` (at least one) requested documents, in request order, as
 * NDJSON.
 */
export interface ExportLines {
  count: number;
  lines: Uint8Array;
}

export function encodeAllSeqs(request: AllSeqsRequest): Uint8Array<ArrayBuffer> {
  return new MessageWriter(1 + 4 + 8 + 8 + 4)
    .u8(Op.ALL_SEQS)
    .u32(request.uid)
    .whole(request.generation)
    .whole(request.afterSeq)
    .u32(request.limit)
    .finish();
}

/** Decodes the payload, which follows the op byte. */
export function decodeAllSeqs(reader: MessageReader): AllSeqsRequest {
  const request = {
    uid: reader.u32(),
    generation: reader.whole(),
    afterSeq: reader.whole(),
    limit: reader.u32(),
  };
  reader.end();
  return request;
}

export function encodeAllSeqsReply(seqs: readonly number[]): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter(1 + 4 + seqs.length * 8).u8(REPLY_OK).u32(seqs.length);
  for (const seq of seqs) writer.whole(seq);
  return writer.finish();
}

/** Returns the seqs in ascending order. If there are fewer than the limit, this is the last page. */
export function decodeAllSeqsReply(reply: Uint8Array): number[] {
  const reader = openReply(reply);
  const seqs: number[] = [];
  for (let left = reader.count(8); left > 0; left--) seqs.push(reader.whole());
  reader.end();
  return seqs;
}

export function encodeExport(request: ExportRequest): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter(1 + 4 + 4 + request.seqs.length * 8);
  writer.u8(Op.EXPORT).u32(request.uid).u32(request.seqs.length);
  for (const seq of request.seqs) writer.whole(seq);
  return writer.finish();
}

/** Decodes the payload, which follows the op byte. */
export function decodeExport(reader: MessageReader): ExportRequest {
  const uid = reader.u32();
  const seqs: number[] = [];
  for (let left = reader.count(8); left > 0; left--) seqs.push(reader.whole());
  reader.end();
  return { uid, seqs };
}

export function encodeExportReply({ count, lines }: ExportLines): Uint8Array<ArrayBuffer> {
  return new MessageWriter(1 + 4 + lines.length).u8(REPLY_OK).u32(count).bytes(lines).finish();
}

/** The lines are a view into the reply. */
export function decodeExportReply(reply: Uint8Array): ExportLines {
  const reader = openReply(reply);
  return { count: reader.u32(), lines: reader.rest() };
}
