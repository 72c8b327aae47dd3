// Messages for a shard's part of a backup. TAKE keeps a snapshot of the whole database under the backup's id,
// immediately; WRITE streams it to a file; DROP releases it and cancels a running WRITE.
//
//   TAKE {id} -> {}      WRITE {id, path} -> BackupFileSums      DROP {id} -> {}
import { pack } from "msgpackr/pack";
import { type MessageReader, MessageWriter } from "./bytes.js";
import { readObject } from "./control.js";
import { SHARD_BAD_MESSAGE, ShardError } from "./errors.js";
import { Op } from "./ops.js";
import { encodeOk, openReply } from "./reply.js";

export interface WrittenBackup {
  readonly bytes: number;
  readonly records: number;
  /** SHA-256 of the file, hexadecimal. */
  readonly sha256: string;
}

function encode(op: Op, body: object): Uint8Array<ArrayBuffer> {
  const packed = pack(body);
  return new MessageWriter(1 + packed.length).u8(op).bytes(packed).finish();
}

export function encodeBackupTake(id: string): Uint8Array<ArrayBuffer> {
  return encode(Op.BACKUP_TAKE, { id });
}

export function encodeBackupDrop(id: string): Uint8Array<ArrayBuffer> {
  return encode(Op.BACKUP_DROP, { id });
}

/** `path`: the file to create, which must not exist. */
export function encodeBackupWrite(id: string, path: string): Uint8Array<ArrayBuffer> {
  return encode(Op.BACKUP_WRITE, { id, path });
}

/** Reads the payload of TAKE or DROP. */
export function decodeBackupId(reader: MessageReader): string {
  return text(readObject(reader).id);
}

export function decodeBackupWrite(reader: MessageReader): { id: string; path: string } {
  const { id, path } = readObject(reader);
  return { id: text(id), path: text(path) };
}

export function encodeBackupWriteReply(written: WrittenBackup): Uint8Array<ArrayBuffer> {
  return encodeOk(pack(written));
}

export function decodeBackupWriteReply(reply: Uint8Array): WrittenBackup {
  const { bytes, records, sha256 } = readObject(openReply(reply));
  if (typeof bytes !== "number" || typeof records !== "number") {
    throw new ShardError(SHARD_BAD_MESSAGE, "a written backup without its sums");
  }
  return { bytes, records, sha256: text(sha256) };
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new ShardError(SHARD_BAD_MESSAGE, "not a text");
}
