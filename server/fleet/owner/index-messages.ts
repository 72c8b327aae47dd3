// Sends messages about whole indexes to the shards: standing, open, close, drop, schema, statistics. Encodes
// a message, sends it to an index's shards and decodes the replies. Makes no decisions and keeps no state.

import type { VectorPolicy } from "../../../shards/protocol/control.js";
import {
  decodeOpenReply,
  decodeSizeReply,
  decodeStandingReply,
  decodeStatsReply,
  encodeClose,
  encodeDrop,
  encodeOpen,
  encodePolicy,
  encodeSchema,
  encodeSize,
  encodeStanding,
  encodeStats,
  encodeTakeBack,
  type IndexSize,
  type IndexStats,
  type OpenReply,
  type Standing,
} from "../../../shards/protocol/control.js";
import { isUnreadable, SHARD_NOT_OPEN, ShardError } from "../../../shards/protocol/errors.js";
import { decodeEmptyReply } from "../../../shards/protocol/reply.js";
import { decodeTogetherReply, encodeTogether } from "../../../shards/protocol/together.js";
import { type IndexRecord, isMade } from "../../catalog/records/index-record.js";
import type { Location, Locations } from "../../catalog/schema/placement.js";
import { resolvedSchemaOf } from "../../catalog/schema/resolved-schema.js";
import { decodeReply } from "../threads/shard-errors.js";
import type { Ask, Message } from "../threads/shard-pool.js";

export interface IndexMessagesOptions {
  readonly locations: Locations;
  readonly ask: (shard: number, request: Message) => Promise<Uint8Array>;
  /** Returns where the index's vectors come from. */
  readonly policyOf: (record: IndexRecord) => VectorPolicy;
  /** Called when a shard finds damage in an index. */
  readonly onDamage: (shard: number, error: ShardError) => void;
}

/** Maximum number of indexes that one message asks about. */
const INDEXES_PER_MESSAGE = 256;

/**
 * Methods reject with a SkeinError if a shard refuses the request, except `openIn`, `standing` and
 * `standingOf`, which reject with the ShardError. All of them pass on an error of `ask`, for example because
 * the shard's thread has ended.
 */
export class IndexMessages {
  readonly #options: IndexMessagesOptions;

  constructor(options: IndexMessagesOptions) {
    this.#options = options;
  }

  /**
   * Opens the index in all shards of `location`. `published` is its published generation. Returns the shards'
   * replies, in the location's order.
   */
  open(record: IndexRecord, location: Location, published: number): Promise<OpenReply[]> {
    return this.#in(location, (data) => this.#encodeOpen(record, data, published), decodeOpenReply);
  }

  /**
   * Opens the index in one shard, sending the message with `ask`. If the index is damaged, reports the damage
   * and resolves with null.
   */
  async openIn(
    shard: number,
    record: IndexRecord,
    data: number,
    published: number,
    ask: Ask,
  ): Promise<OpenReply | null> {
    return this.#unlessDamaged(shard, await ask(this.#encodeOpen(record, data, published)), decodeOpenReply);
  }

  /** Takes back the index's writes after `generation`. The index must not be open. */
  async takeBack(record: IndexRecord, generation: number): Promise<void> {
    const location = this.#options.locations.of(record);
    await this.#in(location, (data) => encodeTakeBack(data, generation), decodeEmptyReply);
  }

  /** Closes the index. Succeeds even if it is not open. */
  async close(location: Location): Promise<void> {
    await this.#in(location, encodeClose, decodeEmptyReply);
  }

  /** Drops the index and all its stored data. */
  async drop(location: Location): Promise<void> {
    await this.#in(location, encodeDrop, decodeEmptyReply);
  }

  /**
   * Drops the copies that a failed spread has left behind. The complete documents are still in the indexes'
   * homes.
   */
  async dropCopies(records: readonly IndexRecord[]): Promise<void> {
    const atHome = records.filter(({ isHome }) => isHome === true);
    const copies = atHome.map(({ uid }) => this.#options.locations.spread(uid));
    for (const [i, { diskBytes, memoryBytes }] of (await this.sizes(copies)).entries())
      if (diskBytes > 0 || memoryBytes > 0) await this.drop(copies[i]!);
  }

  async changeSchema(record: IndexRecord, location: Location): Promise<void> {
    const schema = resolvedSchemaOf(record).shardSchema;
    await this.#in(location, (uid) => encodeSchema({ uid, schema }), decodeEmptyReply);
  }

  /** Sends the new vector source to the shards, which compute the vectors in the background. */
  async changeSource(record: IndexRecord, location: Location): Promise<void> {
    const policy = this.#options.policyOf(record);
    await this.#in(location, (uid) => encodePolicy(uid, policy), decodeEmptyReply);
  }

  /** Returns statistics from the location's shards, in the location's order. */
  stats(location: Location): Promise<IndexStats[]> {
    return this.#in(location, encodeStats, decodeStatsReply);
  }

  /** Returns statistics from each shard in which the index is open, in shard order. */
  async statsWhereOpen(location: Location): Promise<IndexStats[]> {
    const stats = await this.#in(location, encodeStats, decodeStatsIfOpen);
    return stats.filter((one) => one !== null);
  }

  /**
   * Asks one shard, using `ask`, for the standing of the indexes, and returns it in the order of `records`.
   * If the shard cannot report an index's standing because the index is damaged, reports the damage and
   * returns null for that index.
   */
  async standing(shard: number, records: readonly IndexRecord[], ask: Ask): Promise<(Standing | null)[]> {
    const told: (Standing | null)[] = [];
    for (let at = 0; at < records.length; at += INDEXES_PER_MESSAGE) {
      const some = records.slice(at, at + INDEXES_PER_MESSAGE);
      const questions = some.map((record) => {
        const { data } = this.#options.locations.of(record);
        return encodeStanding({ uid: data, schemaVersion: record.schemaVersion, made: isMade(record) });
      });
      const reply = await ask(encodeTogether(questions));
      for (const part of decodeTogetherReply(reply))
        told.push(this.#unlessDamaged(shard, part, decodeStandingReply));
    }
    return told;
  }

  /**
   * Returns each index's size, summed over its shards, in the order of `locations`, without opening the
   * indexes.
   */
  async sizes(locations: readonly Location[]): Promise<IndexSize[]> {
    const sizes = locations.map(() => ({ diskBytes: 0, memoryBytes: 0 }));
    const inShard = async (shard: number): Promise<void> => {
      const here = [...locations.keys()].filter((i) => locations[i]!.places.includes(shard));
      for (let at = 0; at < here.length; at += INDEXES_PER_MESSAGE) {
        const some = here.slice(at, at + INDEXES_PER_MESSAGE);
        const reply = await this.#options.ask(
          shard,
          encodeTogether(some.map((i) => encodeSize(locations[i]!.data))),
        );
        for (const [j, part] of decodeReply(reply, decodeTogetherReply).entries()) {
          const { diskBytes, memoryBytes } = decodeReply(part, decodeSizeReply);
          const sum = sizes[some[j]!]!;
          sum.diskBytes += diskBytes;
          sum.memoryBytes += memoryBytes;
        }
      }
    };
    await Promise.all(this.#options.locations.all.map(inShard));
    return sizes;
  }

  /**
   * Returns each index's standing in each of its shards: one array per record, in shard order. An entry is
   * null if the index is damaged in that shard.
   */
  async standingOf(records: readonly IndexRecord[]): Promise<(Standing | null)[][]> {
    const { locations, ask } = this.#options;
    const told = new Map(records.map(({ uid }): [number, (Standing | null)[]] => [uid, []]));
    const inShard = locations.all.map((shard) =>
      records.filter((record) => locations.of(record).places.includes(shard)),
    );
    const replies = await Promise.all(
      inShard.map((some, shard) => this.standing(shard, some, (request) => ask(shard, request))),
    );
    for (const [shard, some] of inShard.entries())
      for (const [i, { uid }] of some.entries()) told.get(uid)!.push(replies[shard]![i]!);
    return [...told.values()];
  }

  #encodeOpen(record: IndexRecord, data: number, published: number): Message {
    const vectors = this.#options.policyOf(record);
    return encodeOpen({
      uid: data,
      schema: resolvedSchemaOf(record).shardSchema,
      made: isMade(record),
      vectors,
      published,
    });
  }

  #unlessDamaged<T>(shard: number, reply: Uint8Array, decode: (reply: Uint8Array) => T): T | null {
    try {
      return decode(reply);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.#options.onDamage(shard, error);
      return null;
    }
  }

  #in<T>(
    { data, places }: Location,
    encode: (data: number) => Message,
    decode: (reply: Uint8Array) => T,
  ): Promise<T[]> {
    const asked = places.map(async (shard) => {
      const reply = await this.#options.ask(shard, encode(data));
      return decodeReply(reply, decode, (error) => this.#options.onDamage(shard, error));
    });
    return Promise.all(asked);
  }
}

/** Decodes statistics. Returns null if the index is not open in the shard. */
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

/** Returns the newest of the models that the shards report. */
function modelOf(stats: readonly IndexStats[]): ModelStats {
  const newest = stats.reduce((best, one) => (one.modelNumber > best.modelNumber ? one : best));
  const { modelNumber, modelDocuments, modelFields, modelTrainedAt, modelTookMs } = newest;
  return { modelNumber, modelDocuments, modelFields, modelTrainedAt, modelTookMs };
}

/** Combines the statistics that an index's shards report. */
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
