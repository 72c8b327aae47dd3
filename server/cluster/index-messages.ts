// What the coordinator tells and asks the shards about indexes as wholes: where they stand, open, close, drop, schema,
// statistics. Encodes, asks all shards, decodes; decides nothing and remembers nothing.

import type { VectorPolicy } from "../../shards/protocol/control.js";
import {
  decodeOpenReply,
  decodeSizeReply,
  decodeStatsReply,
  encodeClose,
  encodeDrop,
  encodeOpen,
  encodeSchema,
  encodeSize,
  encodeStanding,
  encodeStats,
  type IndexSize,
  type IndexStats,
  type OpenReply,
} from "../../shards/protocol/control.js";
import { isUnreadable, SHARD_NOT_OPEN, ShardError } from "../../shards/protocol/errors.js";
import { decodeEmptyReply } from "../../shards/protocol/reply.js";
import { decodeTogetherReply, encodeTogether } from "../../shards/protocol/together.js";
import { type IndexRecord, isMade } from "../catalog/types.js";
import { viewOf } from "../schema/index-view.js";
import { decodeReply } from "../threads/shard-errors.js";
import type { Ask, Message } from "../threads/shard-pool.js";

export interface IndexMessagesOptions {
  readonly shards: number;
  readonly ask: (shard: number, request: Message) => Promise<Uint8Array>;
  /** Where the vectors of an index come from. */
  readonly policyOf: (record: IndexRecord) => VectorPolicy;
  /** A shard has met damage in an index. */
  readonly onDamage: (shard: number, error: ShardError) => void;
}

/** Questions in one message. */
const INDEXES_PER_MESSAGE = 256;

/** All methods reject with a SkeinError when a shard refuses or ends. */
export class IndexMessages {
  readonly #options: IndexMessagesOptions;

  constructor(options: IndexMessagesOptions) {
    this.#options = options;
  }

  /** By shard. */
  open(record: IndexRecord): Promise<OpenReply[]> {
    return this.#everywhere(() => this.#encodeOpen(record), decodeOpenReply);
  }

  /** Through `ask`, to one shard. Damage is reported, and null the answer. */
  async openIn(shard: number, record: IndexRecord, ask: Ask): Promise<OpenReply | null> {
    return this.#unlessDamaged(shard, await ask(this.#encodeOpen(record)));
  }

  /** Also one that is not open. */
  async close(uid: number): Promise<void> {
    await this.#everywhere(() => encodeClose(uid), decodeEmptyReply);
  }

  async drop(uid: number): Promise<void> {
    await this.#everywhere(() => encodeDrop(uid), decodeEmptyReply);
  }

  async changeSchema(record: IndexRecord): Promise<void> {
    const { uid } = record;
    const schema = viewOf(record).shardSchema;
    await this.#everywhere(() => encodeSchema({ uid, schema }), decodeEmptyReply);
  }

  /** By shard. */
  stats(uid: number): Promise<IndexStats[]> {
    return this.#everywhere(() => encodeStats(uid), decodeStatsReply);
  }

  /** Of the shards in which it is open. */
  async statsWhereOpen(uid: number): Promise<IndexStats[]> {
    const stats = await this.#everywhere(() => encodeStats(uid), decodeStatsIfOpen);
    return stats.filter((one) => one !== null);
  }

  /** Through `ask`, from one shard: by the order of the records, null where damage hides it, which is reported. */
  async standing(shard: number, records: readonly IndexRecord[], ask: Ask): Promise<(OpenReply | null)[]> {
    const told: (OpenReply | null)[] = [];
    for (let at = 0; at < records.length; at += INDEXES_PER_MESSAGE) {
      const some = records.slice(at, at + INDEXES_PER_MESSAGE);
      const questions = some.map((record) => {
        const { uid, schemaVersion } = record;
        return encodeStanding({ uid, schemaVersion, made: isMade(record) });
      });
      const reply = await ask(encodeTogether(questions));
      for (const part of decodeTogetherReply(reply)) told.push(this.#unlessDamaged(shard, part));
    }
    return told;
  }

  /** Summed over the shards, by the order of the uids; without opening the indexes. */
  async sizes(uids: readonly number[]): Promise<IndexSize[]> {
    const told = await this.#each((shard) => this.#sizesIn(shard, uids));
    return uids.map((_, i) => ({
      diskBytes: told.reduce((sum, sizes) => sum + sizes[i]!.diskBytes, 0),
      memoryBytes: told.reduce((sum, sizes) => sum + sizes[i]!.memoryBytes, 0),
    }));
  }

  async #sizesIn(shard: number, uids: readonly number[]): Promise<IndexSize[]> {
    const told: IndexSize[] = [];
    for (let at = 0; at < uids.length; at += INDEXES_PER_MESSAGE) {
      const questions = uids.slice(at, at + INDEXES_PER_MESSAGE).map(encodeSize);
      const reply = await this.#options.ask(shard, encodeTogether(questions));
      for (const part of decodeReply(reply, decodeTogetherReply))
        told.push(decodeReply(part, decodeSizeReply));
    }
    return told;
  }

  /** Where the indexes stand in all shards: by shard, then by the order of the records. */
  standingEverywhere(records: readonly IndexRecord[]): Promise<(OpenReply | null)[][]> {
    return this.#each((shard) =>
      this.standing(shard, records, (request) => this.#options.ask(shard, request)),
    );
  }

  #encodeOpen(record: IndexRecord): Message {
    const { uid } = record;
    const vectors = this.#options.policyOf(record);
    return encodeOpen({ uid, schema: viewOf(record).shardSchema, made: isMade(record), vectors });
  }

  #unlessDamaged(shard: number, reply: Uint8Array): OpenReply | null {
    try {
      return decodeOpenReply(reply);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.#options.onDamage(shard, error);
      return null;
    }
  }

  #everywhere<T>(encode: () => Message, decode: (reply: Uint8Array) => T): Promise<T[]> {
    return this.#each(async (shard) => {
      const reply = await this.#options.ask(shard, encode());
      return decodeReply(reply, decode, (error) => this.#options.onDamage(shard, error));
    });
  }

  #each<T>(work: (shard: number) => Promise<T>): Promise<T[]> {
    return Promise.all(Array.from({ length: this.#options.shards }, (_, shard) => work(shard)));
  }
}

/** Null where it is not open. */
function decodeStatsIfOpen(reply: Uint8Array): IndexStats | null {
  try {
    return decodeStatsReply(reply);
  } catch (error) {
    if (error instanceof ShardError && error.code === SHARD_NOT_OPEN) return null;
    throw error;
  }
}

type ModelStats = Pick<
  IndexStats,
  "modelNumber" | "modelDocuments" | "modelFields" | "modelTrainedAt" | "modelTookMs"
>;

/** The newest model that a shard has. */
function modelOf(stats: readonly IndexStats[]): ModelStats {
  const newest = stats.reduce((best, one) => (one.modelNumber > best.modelNumber ? one : best));
  const { modelNumber, modelDocuments, modelFields, modelTrainedAt, modelTookMs } = newest;
  return { modelNumber, modelDocuments, modelFields, modelTrainedAt, modelTookMs };
}

/** The statistics of an index from those of its parts in the shards. */
export function sumStats(stats: readonly IndexStats[]): IndexStats {
  const total = (of: (one: IndexStats) => number): number => stats.reduce((sum, one) => sum + of(one), 0);
  return {
    liveDocs: total((one) => one.liveDocs),
    deletedRows: total((one) => one.deletedRows),
    segments: total((one) => one.segments),
    segmentBytes: total((one) => one.segmentBytes),
    memoryBytes: total((one) => one.memoryBytes),
    terms: total((one) => one.terms),
    staleSegments: total((one) => one.staleSegments),
    merging: stats.some((one) => one.merging),
    maintenanceDue: stats.some((one) => one.maintenanceDue),
    queuedBytes: total((one) => one.queuedBytes),
    vectors: total((one) => one.vectors),
    pending: total((one) => one.pending),
    codesBytes: total((one) => one.codesBytes),
    modelBytes: total((one) => one.modelBytes),
    ...modelOf(stats),
  };
}
