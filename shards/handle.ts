// Handles one message: decodes it, calls the shard, and encodes the result as the reply. Contains no other
// logic. Never throws: every failure becomes an error reply.
import type { IndexShard } from "./index/index-shard.js";
import { decodeBackupId, decodeBackupWrite, encodeBackupWriteReply } from "./protocol/backup.js";
import { MessageReader } from "./protocol/bytes.js";
import {
  decodeGeneration,
  decodeInUse,
  decodeOpen,
  decodePolicy,
  decodeSchemaRequest,
  decodeStanding,
  decodeUid,
  encodeOpenReply,
  encodeSizeReply,
  encodeStandingReply,
  encodeStatsReply,
} from "./protocol/control.js";
import { SHARD_BAD_MESSAGE, SHARD_STORAGE, SHARD_UNAVAILABLE, ShardError } from "./protocol/errors.js";
import { decodeAllSeqs, decodeExport, encodeAllSeqsReply, encodeExportReply } from "./protocol/export.js";
import { decodeFetch, decodeGet, encodeFetchReply } from "./protocol/fetch.js";
import { decodeAdopt, decodeStored, encodeStoredReply } from "./protocol/move.js";
import { Op } from "./protocol/ops.js";
import { decodePage, encodePageReply } from "./protocol/page.js";
import { decodeDeleteWhere, decodeProgram, encodeDeleteWhereReply } from "./protocol/program.js";
import { encodeEmptyReply, encodeError, encodeOk } from "./protocol/reply.js";
import { decodeTogether, encodeTogetherReply } from "./protocol/together.js";
import { decodeUnseen, encodeCountUnseenReply } from "./protocol/unseen.js";
import {
  decodeEmbed,
  decodeModel,
  decodePending,
  decodePutVectors,
  decodeSample,
  decodeSimilarities,
  encodeEmbedReply,
  encodeModelOfReply,
  encodePendingReply,
  encodePutVectorsReply,
  encodeSampleReply,
  encodeSimilaritiesReply,
} from "./protocol/vectors.js";
import { decodeWrite, encodeAdditionsReply, encodeWriteReply, UnreadWrite } from "./protocol/write.js";
import type { Shard } from "./shard.js";
import { StoreReopeningError, StoreWriteError } from "./storage/store.js";

export type ShardReply = Uint8Array<ArrayBuffer>;

type OnIndex = (
  uid: number,
  work: (index: IndexShard) => ShardReply | Promise<ShardReply>,
) => ShardReply | Promise<ShardReply>;

/**
 * Returns the reply itself for most reads, not a promise, so that one event-loop turn can answer many of
 * them.
 */
export function handle(shard: Shard, message: Uint8Array): ShardReply | Promise<ShardReply> {
  try {
    const reader = new MessageReader(message);
    const op = reader.u8();
    const reply = answerRead(shard, op, reader) ?? answer(shard, op, reader);
    return reply instanceof Promise ? reply.catch(refusal) : reply;
  } catch (error) {
    return refusal(error);
  }
}

function refusal(error: unknown): ShardReply {
  return encodeError(refused(error));
}

function refused(error: unknown): unknown {
  if (error instanceof StoreWriteError) return new ShardError(SHARD_STORAGE, error.message, { cause: error });
  if (error instanceof StoreReopeningError)
    return new ShardError(SHARD_UNAVAILABLE, error.message, { cause: error });
  return error;
}

async function answer(shard: Shard, op: number, reader: MessageReader): Promise<ShardReply> {
  switch (op) {
    case Op.TOGETHER: {
      const parts = decodeTogether(reader);
      return encodeTogetherReply(await Promise.all(parts.map((part) => handle(shard, part))));
    }
    case Op.PING:
      return encodeEmptyReply();
    case Op.SHUTDOWN:
      await shard.close();
      return encodeEmptyReply();
    case Op.OPEN:
      return encodeOpenReply(await shard.openIndex(decodeOpen(reader)));
    case Op.CLOSE:
      await shard.closeIndex(decodeUid(reader));
      return encodeEmptyReply();
    case Op.DROP:
      await shard.dropIndex(decodeUid(reader));
      return encodeEmptyReply();
    case Op.STANDING:
      return encodeStandingReply(await shard.standing(decodeStanding(reader)));
    case Op.TAKE_BACK: {
      const { uid, generation } = decodeGeneration(reader);
      await shard.takeBack(uid, generation);
      return encodeEmptyReply();
    }
    case Op.SIZE:
      return encodeSizeReply(await shard.size(decodeUid(reader)));
    case Op.BACKUP_TAKE:
      shard.backups.take(decodeBackupId(reader));
      return encodeEmptyReply();
    case Op.BACKUP_WRITE: {
      const { id, path } = decodeBackupWrite(reader);
      return encodeBackupWriteReply(await shard.backups.write(id, path));
    }
    case Op.BACKUP_DROP:
      await shard.backups.drop(decodeBackupId(reader));
      return encodeEmptyReply();
    case Op.STORED:
      return encodeStoredReply(await shard.storedDocuments(decodeStored(reader)));
    case Op.STORED_MODEL:
      return encodeModelOfReply(await shard.storedModel(reader.u32()));
    default:
      return answerIndex(shard, op, reader);
  }
}

/** Answers the frequent reads, most of them synchronously. Returns null for any other message. */
function answerRead(
  shard: Shard,
  op: number,
  reader: MessageReader,
): ShardReply | Promise<ShardReply> | null {
  const on: OnIndex = (uid, work) => onIndex(shard, uid, work);
  switch (op) {
    case Op.SEARCH: {
      const request = decodeProgram(reader);
      return on(request.uid, (index) => encodeOk(index.search(request)));
    }
    case Op.EXPLAIN: {
      const request = decodeProgram(reader);
      return on(request.uid, (index) => encodeOk(index.explain(request)));
    }
    case Op.EXPAND: {
      const request = decodeProgram(reader);
      return on(request.uid, (index) => encodeOk(index.expand(request)));
    }
    case Op.COMPANY: {
      const request = decodeProgram(reader);
      return on(request.uid, (index) => encodeOk(index.company(request)));
    }
    case Op.NEAREST: {
      const request = decodeProgram(reader);
      return on(request.uid, (index) => encodeOk(index.nearest(request)));
    }
    case Op.SIMILARITIES: {
      const request = decodeSimilarities(reader);
      return on(request.uid, (index) => encodeSimilaritiesReply(index.similarities(request)));
    }
    case Op.EMBED: {
      const request = decodeEmbed(reader);
      return on(request.uid, (index) => whenReady(index.embed(request), encodeEmbedReply));
    }
    case Op.SEARCH_PAGE: {
      const request = decodePage(reader);
      return on(request.uid, (index) => whenReady(index.searchPage(request), encodePageReply));
    }
    case Op.FETCH: {
      const request = decodeFetch(reader);
      return on(request.uid, (index) => whenReady(index.fetch(request), encodeFetchReply));
    }
    case Op.GET: {
      const request = decodeGet(reader);
      return on(request.uid, (index) => encodeOk(index.get(request)));
    }
    default:
      return null;
  }
}

async function answerIndex(shard: Shard, op: number, reader: MessageReader): Promise<ShardReply> {
  const on: OnIndex = (uid, work) => onIndex(shard, uid, work);
  switch (op) {
    case Op.WRITE: {
      const request = new UnreadWrite(reader);
      return on(request.uid, async (index) => encodeWriteReply(await index.write(request)));
    }
    case Op.ADDITIONS: {
      const request = decodeWrite(reader);
      return on(request.uid, async (index) => encodeAdditionsReply(await index.additions(request)));
    }
    case Op.ADOPT: {
      const request = decodeAdopt(reader);
      return on(request.uid, async (index) => {
        await index.adopt(request);
        return encodeEmptyReply();
      });
    }
    case Op.DELETE_WHERE: {
      const request = decodeDeleteWhere(reader);
      return on(request.uid, async (index) => encodeDeleteWhereReply(await index.deleteWhere(request)));
    }
    case Op.DELETE_UNSEEN: {
      const request = decodeUnseen(reader);
      return on(request.uid, async (index) => encodeDeleteWhereReply(await index.deleteUnseen(request)));
    }
    case Op.COUNT_UNSEEN: {
      const request = decodeUnseen(reader);
      return on(request.uid, async (index) => encodeCountUnseenReply(await index.countUnseen(request)));
    }
    case Op.PUBLISHED: {
      const { uid, generation } = decodeGeneration(reader);
      return on(uid, async (index) => {
        await index.recordPublished(generation);
        return encodeEmptyReply();
      });
    }
    case Op.EXPORT: {
      const request = decodeExport(reader);
      return on(request.uid, async (index) => encodeExportReply(await index.exportLines(request.seqs)));
    }
    case Op.ALL_SEQS: {
      const request = decodeAllSeqs(reader);
      return on(request.uid, (index) => encodeAllSeqsReply(index.allSeqs(request)));
    }
    case Op.SCHEMA: {
      const { uid, schema } = decodeSchemaRequest(reader);
      return on(uid, async (index) => {
        await index.changeSchema(schema);
        return encodeEmptyReply();
      });
    }
    case Op.IN_USE: {
      const { uid, oldestGeneration } = decodeInUse(reader);
      return on(uid, (index) => {
        index.seen(oldestGeneration);
        return encodeEmptyReply();
      });
    }
    case Op.STATS: {
      const uid = decodeUid(reader);
      return on(uid, (index) => {
        shard.checkUndamaged(uid);
        return encodeStatsReply(index.stats());
      });
    }
    default:
      return answerVectors(on, op, reader);
  }
}

async function answerVectors(on: OnIndex, op: number, reader: MessageReader): Promise<ShardReply> {
  switch (op) {
    case Op.VECTORS: {
      const { uid, ...policy } = decodePolicy(reader);
      return on(uid, async (index) => {
        await index.setVectors(policy);
        return encodeEmptyReply();
      });
    }
    case Op.MODEL: {
      const { uid, ...model } = decodeModel(reader);
      return on(uid, async (index) => {
        await index.setModel(model);
        return encodeEmptyReply();
      });
    }
    case Op.MODEL_OF:
      return on(reader.u32(), async (index) => encodeModelOfReply(await index.storedModel()));
    case Op.SAMPLE: {
      const request = decodeSample(reader);
      return on(request.uid, (index) => encodeSampleReply(index.sample(request)));
    }
    case Op.PENDING: {
      const request = decodePending(reader);
      return on(request.uid, async (index) => encodePendingReply(await index.pending(request)));
    }
    case Op.PUT_VECTORS: {
      const request = decodePutVectors(reader);
      return on(request.uid, async (index) => encodePutVectorsReply(await index.putVectors(request)));
    }
    default:
      throw new ShardError(SHARD_BAD_MESSAGE, `unknown op ${op}`);
  }
}

/** Runs work on an open index. The shard classifies the errors that the work throws. */
function onIndex(
  shard: Shard,
  uid: number,
  work: (index: IndexShard) => ShardReply | Promise<ShardReply>,
): ShardReply | Promise<ShardReply> {
  const index = shard.index(uid);
  const failed = (error: unknown): never => {
    throw shard.failure(uid, index, error);
  };
  try {
    const reply = work(index);
    return reply instanceof Promise ? reply.catch(failed) : reply;
  } catch (error) {
    return failed(error);
  }
}

function whenReady<T>(
  value: T | Promise<T>,
  encode: (value: T) => ShardReply,
): ShardReply | Promise<ShardReply> {
  return value instanceof Promise ? value.then(encode) : encode(value);
}
