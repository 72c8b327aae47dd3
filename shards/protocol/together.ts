// TOGETHER combines several requests in one message, answered by one message. This saves thread hops for
// requests that arrive in the same event-loop turn. Meant for reads; the reply waits for the slowest part.
//
//   request  u8 op, u32 count, count x {u32 + request}
//   reply    u8 0, u32 count, count x {u32 + reply}   (each with its own status byte)
import { type MessageReader, MessageWriter } from "./bytes.js";
import { Op, REPLY_OK } from "./ops.js";
import { openReply } from "./reply.js";

function encode(first: number, parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let bytes = 1 + 4;
  for (const part of parts) bytes += 4 + part.length;
  const writer = new MessageWriter(bytes).u8(first).u32(parts.length);
  for (const part of parts) writer.block(part);
  return writer.finish();
}

function decode(reader: MessageReader): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let left = reader.count(4); left > 0; left--) parts.push(reader.block());
  reader.end();
  return parts;
}

export function encodeTogether(requests: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return encode(Op.TOGETHER, requests);
}

/** Decodes the payload, which follows the op byte. The requests are views into the message. */
export function decodeTogether(reader: MessageReader): Uint8Array[] {
  return decode(reader);
}

export function encodeTogetherReply(replies: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return encode(REPLY_OK, replies);
}

/** Returns the replies in request order. Each may be an error reply and is decoded by its own function. */
export function decodeTogetherReply(reply: Uint8Array): Uint8Array[] {
  return decode(openReply(reply));
}
