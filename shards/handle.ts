// One message in, one reply out: decodes, calls the shard, encodes. No logic. Never throws: whatever goes wrong
// is an error reply.
import type { IndexShard } from "./index/index-shard.js";
import { ByteReader } from "./protocol/bytes.js";
import { decodeOpen, decodeUid, encodeOpenReply, encodeStatsReply } from "./protocol/control.js";
import { SHARD_BAD_MESSAGE, SHARD_STORAGE, SHARD_UNAVAILABLE, ShardError } from "./protocol/errors.js";
import { decodeAllSeqs, decodeExport, encodeAllSeqsReply } from "./protocol/export.js";
import { decodeFetch, decodeGet, encodeFetchReply } from "./protocol/fetch.js";
import { decodeAdopt, decodeStored, encodeStoredReply } from "./protocol/move.js";
import { Op } from "./protocol/ops.js";
import { decodePage, encodePageReply } from "./protocol/page.js";
import { decodeProgram, encodeDeleteWhereReply } from "./protocol/program.js";
import { encodeEmptyReply, encodeError, encodeOk } from "./protocol/reply.js";
import { decodeSnapshotId, decodeSnapshotWrite, encodeSnapshotWriteReply } from "./protocol/snapshot.js";
import { decodeTogether, encodeTogetherReply } from "./protocol/together.js";
import { decodeWrite, encodeWriteReply } from "./protocol/write.js";
import type { Shard } from "./shard.js";
import { StoreReopeningError, StoreWriteError } from "./storage/store.js";

export type Reply = Uint8Array<ArrayBuffer>;

export async function handle(shard: Shard, message: Uint8Array): Promise<Reply> {
  try {
    const reader = new ByteReader(message);
    return await answer(shard, reader.u8(), reader);
  } catch (error) {
    return encodeError(refused(error));
  }
}

function refused(error: unknown): unknown {
  if (error instanceof StoreWriteError) return new ShardError(SHARD_STORAGE, error.message, { cause: error });
  if (error instanceof StoreReopeningError)
    return new ShardError(SHARD_UNAVAILABLE, error.message, { cause: error });
  return error;
}

async function answer(shard: Shard, op: number, reader: ByteReader): Promise<Reply> {
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
    case Op.SNAPSHOT_TAKE:
      shard.snapshots.take(decodeSnapshotId(reader));
      return encodeEmptyReply();
    case Op.SNAPSHOT_WRITE: {
      const { id, path } = decodeSnapshotWrite(reader);
      return encodeSnapshotWriteReply(await shard.snapshots.write(id, path));
    }
    case Op.SNAPSHOT_DROP:
      await shard.snapshots.drop(decodeSnapshotId(reader));
      return encodeEmptyReply();
    case Op.STORED:
      return encodeStoredReply(await shard.storedDocuments(decodeStored(reader)));
    default:
      return answerIndex(shard, op, reader);
  }
}

async function answerIndex(shard: Shard, op: number, reader: ByteReader): Promise<Reply> {
  const on = async (uid: number, work: (index: IndexShard) => Reply | Promise<Reply>): Promise<Reply> => {
    const index = shard.index(uid);
    try {
      return await work(index);
    } catch (error) {
      throw shard.failure(uid, index, error);
    }
  };
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
    case Op.SEARCH_PAGE: {
      const request = decodePage(reader);
      return on(request.uid, async (index) => encodePageReply(await index.searchPage(request)));
    }
    case Op.FETCH: {
      const request = decodeFetch(reader);
      return on(request.uid, async (index) => encodeFetchReply(await index.fetch(request)));
    }
    case Op.GET: {
      const request = decodeGet(reader);
      return on(request.uid, (index) => encodeOk(index.get(request)));
    }
    case Op.WRITE: {
      const request = decodeWrite(reader);
      return on(request.uid, async (index) => encodeWriteReply(await index.write(request)));
    }
    case Op.ADOPT: {
      const request = decodeAdopt(reader);
      return on(request.uid, async (index) => {
        await index.adopt(request);
        return encodeEmptyReply();
      });
    }
    case Op.DELETE_WHERE: {
      const request = decodeProgram(reader);
      return on(request.uid, async (index) => encodeDeleteWhereReply(await index.deleteWhere(request)));
    }
    case Op.EXPORT: {
      const request = decodeExport(reader);
      return on(request.uid, async (index) => encodeOk(await index.exportLines(request.seqs)));
    }
    case Op.ALL_SEQS: {
      const request = decodeAllSeqs(reader);
      return on(request.uid, (index) => encodeAllSeqsReply(index.allSeqs(request)));
    }
    case Op.SCHEMA: {
      const { uid, schema } = decodeOpen(reader);
      return on(uid, async (index) => {
        await index.changeSchema(schema);
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
      throw new ShardError(SHARD_BAD_MESSAGE, `unknown op ${op}`);
  }
}
