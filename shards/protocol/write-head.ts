// The beginning of every write: WRITE, DELETE_WHERE and DELETE_UNSEEN.
//
//   u32 uid, f64 generation, f64 oldestGeneration, f64 published, u16 shards
import type { MessageReader, MessageWriter } from "./bytes.js";

export interface WriteHead {
  uid: number;
  /** Increases with every write. The write is visible to reads of this generation or later. */
  generation: number;
  /** Lowest generation that a read may still request. */
  oldestGeneration: number;
  /**
   * All writes up to this generation are published, so none of them is ever taken back. 0 if the index is in
   * one shard only, because then there is nothing to take back.
   */
  published: number;
  /** Number of shards that get a part of this write. */
  shards: number;
}

export const WRITE_HEAD_BYTES = 4 + 8 + 8 + 8 + 2;

export function putWriteHead(writer: MessageWriter, head: WriteHead): MessageWriter {
  writer.u32(head.uid).whole(head.generation).whole(head.oldestGeneration);
  return writer.whole(head.published).u16(head.shards);
}

export function readWriteHead(reader: MessageReader): WriteHead {
  return {
    uid: reader.u32(),
    generation: reader.whole(),
    oldestGeneration: reader.whole(),
    published: reader.whole(),
    shards: reader.u16(),
  };
}
