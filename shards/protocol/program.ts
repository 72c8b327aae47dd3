// EXPAND, COMPANY, SEARCH, EXPLAIN, NEAREST and DELETE_WHERE run an engine program on one generation of an
// index. Programs and results are the engine's bytes, passed through unchanged. DELETE_WHERE is a write, with
// a write's head and a reply of its own.
//
//   request  u8 op, u32 uid, f64 generation, f64 oldestGeneration, f64 deadline, program
//   reply    u8 0, result bytes
//
//   DELETE_WHERE  u8 op, head (write-head.ts), program
//         reply   u8 0, f64 deleted, f64 liveDocs
import { type MessageReader, MessageWriter } from "./bytes.js";
import { Op, REPLY_OK } from "./ops.js";
import { openReply } from "./reply.js";
import { putWriteHead, readWriteHead, WRITE_HEAD_BYTES, type WriteHead } from "./write-head.js";

export interface ProgramRequest {
  uid: number;
  /** The newest snapshot whose generation is not above this one answers. */
  generation: number;
  /** Lowest generation that a read may still request. */
  oldestGeneration: number;
  /** Date.now() after which the reply is useless; 0 or absent means no deadline. */
  deadline?: number;
  /** An EXPAND, COMPANY or SEARCH program, or an EXPLAIN or NEAREST request. */
  program: Uint8Array;
}

export interface DeleteWhereRequest extends WriteHead {
  /** A SEARCH program. The rows that it returns are deleted. */
  program: Uint8Array;
}

export interface DeleteWhereReply {
  deleted: number;
  liveDocs: number;
}

const HEAD_BYTES = 1 + 4 + 8 + 8 + 8;

/** Starts a request with a program, and reserves `bytesAfter` bytes for the parts that follow. */
export function programHead(op: Op, request: ProgramRequest, bytesAfter: number): MessageWriter {
  return new MessageWriter(HEAD_BYTES + bytesAfter)
    .u8(op)
    .u32(request.uid)
    .whole(request.generation)
    .whole(request.oldestGeneration)
    .time(request.deadline ?? 0);
}

function encode(op: Op, request: ProgramRequest): Uint8Array<ArrayBuffer> {
  return programHead(op, request, request.program.length).bytes(request.program).finish();
}

export function encodeExpandRequest(request: ProgramRequest): Uint8Array<ArrayBuffer> {
  return encode(Op.EXPAND, request);
}

export function encodeCompanyRequest(request: ProgramRequest): Uint8Array<ArrayBuffer> {
  return encode(Op.COMPANY, request);
}

export function encodeSearchRequest(request: ProgramRequest): Uint8Array<ArrayBuffer> {
  return encode(Op.SEARCH, request);
}

export function encodeExplainRequest(request: ProgramRequest): Uint8Array<ArrayBuffer> {
  return encode(Op.EXPLAIN, request);
}

export function encodeNearestRequest(request: ProgramRequest): Uint8Array<ArrayBuffer> {
  return encode(Op.NEAREST, request);
}

export function encodeDeleteWhere(request: DeleteWhereRequest): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter(1 + WRITE_HEAD_BYTES + request.program.length).u8(Op.DELETE_WHERE);
  return putWriteHead(writer, request).bytes(request.program).finish();
}

/** Decodes the payload, which follows the op byte. The program is a view into the message. */
export function decodeDeleteWhere(reader: MessageReader): DeleteWhereRequest {
  return { ...readWriteHead(reader), program: reader.rest() };
}

/** Decodes the payload, which follows the op byte. The program is a view into the message. */
export function decodeProgram(reader: MessageReader): ProgramRequest {
  return {
    uid: reader.u32(),
    generation: reader.whole(),
    oldestGeneration: reader.whole(),
    deadline: reader.time(),
    program: reader.rest(),
  };
}

/**
 * Returns the engine's result bytes for EXPAND, COMPANY, SEARCH, EXPLAIN or NEAREST, as a view into the
 * reply.
 */
export function decodeResult(reply: Uint8Array): Uint8Array {
  return openReply(reply).rest();
}

export function encodeDeleteWhereReply(reply: DeleteWhereReply): Uint8Array<ArrayBuffer> {
  return new MessageWriter(17).u8(REPLY_OK).whole(reply.deleted).whole(reply.liveDocs).finish();
}

export function decodeDeleteWhereReply(reply: Uint8Array): DeleteWhereReply {
  const reader = openReply(reply);
  const decoded = { deleted: reader.whole(), liveDocs: reader.whole() };
  reader.end();
  return decoded;
}
