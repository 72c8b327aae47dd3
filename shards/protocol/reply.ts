// Frames every reply: a status byte, then the payload or a msgpack {code, message, uid?}.
import { pack, unpack } from "msgpackr/pack";
import { MessageReader, MessageWriter } from "./bytes.js";
import { SHARD_BAD_MESSAGE, SHARD_INTERNAL, ShardError, shardErrorCode } from "./errors.js";
import { REPLY_ERROR, REPLY_OK } from "./ops.js";

/** Encodes a successful reply with these bytes as its whole payload. */
export function encodeOk(payload: Uint8Array): Uint8Array<ArrayBuffer> {
  return new MessageWriter(1 + payload.length).u8(REPLY_OK).bytes(payload).finish();
}

/** Converts any thrown value to an error reply. */
export function encodeError(error: unknown): Uint8Array<ArrayBuffer> {
  const code = error instanceof ShardError ? error.code : SHARD_INTERNAL;
  const message = error instanceof Error ? error.message : String(error);
  const uid = error instanceof ShardError ? error.uid : undefined;
  const body = pack(uid === undefined ? { code, message } : { code, message, uid });
  return new MessageWriter(1 + body.length).u8(REPLY_ERROR).bytes(body).finish();
}

/** True if the reply contains an error or is malformed. `openReply` throws in both cases. */
export function isRefusal(reply: Uint8Array): boolean {
  return reply[0] !== REPLY_OK;
}

/** Returns a reader positioned after the status byte. Throws the ShardError that an error reply contains. */
export function openReply(reply: Uint8Array): MessageReader {
  const reader = new MessageReader(reply);
  const status = reader.u8();
  if (status === REPLY_OK) return reader;
  if (status !== REPLY_ERROR) throw new ShardError(SHARD_BAD_MESSAGE, `reply status ${status}`);
  const body: unknown = unpack(reader.rest());
  if (typeof body !== "object" || body === null || !("code" in body) || !("message" in body)) {
    throw new ShardError(SHARD_BAD_MESSAGE, "error reply without code and message");
  }
  const uid = "uid" in body && typeof body.uid === "number" ? body.uid : undefined;
  throw new ShardError(shardErrorCode(body.code), String(body.message), { uid });
}

/**
 * Checks a reply without content, such as the reply to CLOSE. Throws the error that an error reply contains.
 */
export function decodeEmptyReply(reply: Uint8Array): void {
  openReply(reply).end();
}

export function encodeEmptyReply(): Uint8Array<ArrayBuffer> {
  return encodeOk(new Uint8Array(0));
}
