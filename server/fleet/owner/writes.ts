// Writes to the indexes. Each write gets a new generation, is sent to the shards in generation order, and is
// published once it is durable there. Knows nothing about the documents' contents.
import { decodeDeleteWhereReply, encodeDeleteWhere } from "../../../shards/protocol/program.js";
import {
  decodeCountUnseenReply,
  encodeCountUnseen,
  encodeDeleteUnseen,
  type SeqSet,
} from "../../../shards/protocol/unseen.js";
import { decodeWriteReply, type WriteFailure, type WriteStamp } from "../../../shards/protocol/write.js";
import { asReady, type IndexRecord } from "../../catalog/records/index-record.js";
import type { Location } from "../../catalog/schema/placement.js";
import { SkeinError } from "../../ground/errors.js";
import { fault } from "../../ground/fault.js";
import type { Jobs } from "../../ground/jobs/jobs.js";
import type { Logger } from "../../ground/log.js";
import type { ShardCalls } from "../threads/shard-calls.js";
import type { Message } from "../threads/shard-pool.js";
import { type IndexState, indexSubject } from "./index-state.js";
import type { OpenIndexes } from "./open-indexes.js";
import { QuietWrites } from "./quiet-writes.js";
import { rebuilt } from "./rebuild.js";
import { WriteGate } from "./write-gate.js";

/** What the shards replied to a write. */
interface WriteOutcome {
  readonly failures: readonly WriteFailure[];
  /** Number of documents in a SYNC that were already stored with the same content. */
  readonly unchanged: number;
  /** Sequence numbers of stored documents that a SYNC left as they were. */
  readonly kept: readonly number[];
  /**
   * Shards that rejected their documents. The error says whether such a shard stored nothing, or may have
   * stored everything.
   */
  readonly refused: readonly { readonly shard: number; readonly error: SkeinError }[];
}

/** Permission to write to an index, returned by `Writes.enter`. */
export interface WriteEntry {
  readonly location: Location;
  readonly leave: () => void;
}

/** Maximum time (ms) that a deletion by filter waits for re-indexing. */
const REBUILD_WAIT_MS_MAX = 30_000;

export class Writes {
  readonly #indexes: OpenIndexes;
  readonly #calls: ShardCalls;
  readonly #jobs: Jobs;
  readonly #gate = new WriteGate();
  readonly #quiet: QuietWrites;
  readonly #onWritten: (uid: number) => void;

  constructor(
    indexes: OpenIndexes,
    calls: ShardCalls,
    jobs: Jobs,
    log: Logger,
    onWritten: (uid: number) => void,
  ) {
    this.#onWritten = onWritten;
    this.#indexes = indexes;
    this.#calls = calls;
    this.#jobs = jobs;
    this.#quiet = new QuietWrites({
      find: (uid) => indexes.find(uid),
      tell: (shards, encode, decode) => calls.each(shards, encode, decode),
      jobs,
      log,
    });
  }

  /**
   * Number of shards among which to divide a write's documents. It becomes wrong if the index is spread
   * before the write enters.
   */
  shards(uid: number): number {
    return this.#indexes.find(uid)?.newest.places.length ?? 1;
  }

  /**
   * Resolves with the location of the index's documents, which stays the same until `leave` is called. Waits
   * while the index is being spread. Throws SK-SE-503 if the index cannot be opened, and SK-SYS-503 if the
   * wait is too long.
   */
  async enter(uid: number): Promise<WriteEntry> {
    const state = this.#indexes.state(uid);
    await state.writing.enter();
    return { location: state.newest, leave: () => state.writing.leave() };
  }

  /**
   * Sends one write to the shards for which `encode` returns a message. Call it between `enter` and `leave`.
   * The write uses `seqs` sequence numbers. Resolves when the write is durable and visible to reads. Messages
   * are encoded and sent in the same turn of the event loop, so writes reach every shard in generation order.
   * Rejects if all shards refused the write, or if any shard failed in an unexpected way.
   */
  async write(
    uid: number,
    seqs: number,
    encode: (stamp: WriteStamp) => ReadonlyMap<number, Message>,
  ): Promise<WriteOutcome> {
    const replies = await this.#publish(uid, (state, generation, oldestGeneration) => {
      const { data } = state.newest;
      const stamp = { uid: data, generation, oldestGeneration, firstSeq: state.takeSeqs(seqs) };
      return Array.from(encode(stamp), async ([shard, message]) => {
        try {
          const reply = await this.#calls.call(shard, message, decodeWriteReply);
          state.setLiveDocs(shard, reply.liveDocs);
          return reply;
        } catch (error) {
          if (error instanceof SkeinError) return { shard, error };
          throw error;
        }
      });
    });
    const refused = replies.filter((reply) => "error" in reply);
    if (refused.length > 0 && refused.length === replies.length) throw refused[0]!.error;
    const done = replies.filter((reply) => "failures" in reply);
    return {
      failures: done.flatMap(({ failures }) => failures),
      unchanged: done.reduce((sum, { unchanged }) => sum + unchanged, 0),
      kept: done.flatMap(({ kept }) => kept),
      refused,
    };
  }

  /**
   * Deletes all documents matching a search program, which `compile` makes from the index's record. Resolves
   * with the number of deleted documents once the deletion is visible. In a segment with another schema the
   * program would match the wrong documents, so the deletion waits until no rebuild is running, and then
   * queues with the index's other changes. Throws SK-SYS-503 if the wait is too long.
   */
  async deleteWhere(uid: number, compile: (record: IndexRecord) => Uint8Array): Promise<number> {
    const job = { name: "delete by filter", subject: indexSubject(uid) };
    const deadlineMs = performance.now() + REBUILD_WAIT_MS_MAX;
    for (;;) {
      const { record } = this.#indexes.state(uid);
      const program = compile(asReady(record));
      await this.#rebuilt(uid, deadlineMs);
      const deleted = await this.#jobs.run(job, async () => {
        const state = this.#indexes.state(uid);
        if (state.rebuilding || state.record.schemaVersion !== record.schemaVersion) return undefined;
        return this.#delete(uid, (stamp) => encodeDeleteWhere({ ...stamp, program }));
      });
      if (deleted !== undefined) return deleted;
    }
  }

  /**
   * Deletes the documents that a feed no longer contains: those with a sequence number that is below
   * `beforeSeq` and not in `kept`. `beforeSeq` is the index's `nextSeq` from the start of the run. Resolves
   * with the number of deleted documents once the deletion is visible.
   */
  deleteUnseen(uid: number, beforeSeq: number, kept: SeqSet): Promise<number> {
    return this.#delete(uid, (stamp) => encodeDeleteUnseen({ ...stamp, beforeSeq, kept }));
  }

  /** Number of documents that `deleteUnseen` would delete. */
  async countUnseen(uid: number, beforeSeq: number, kept: SeqSet): Promise<number> {
    const { state, end } = await this.#indexes.use(uid);
    const generation = state.generations.hold();
    const { oldest: oldestGeneration } = state.generations;
    try {
      const { data, places } = state.locationAt(generation);
      const counts = await this.#calls.each(
        places,
        () => encodeCountUnseen({ uid: data, generation, oldestGeneration, beforeSeq, kept }),
        decodeCountUnseenReply,
      );
      return counts.reduce((sum, count) => sum + count, 0);
    } finally {
      state.generations.release(generation);
      end();
    }
  }

  /**
   * Runs `work` as if it were a single write: work passed to `between` sees either all of its effects or
   * none. `work` must not write documents.
   */
  async asOne<T>(work: () => Promise<T>): Promise<T> {
    await this.#gate.enter();
    try {
      return await work();
    } finally {
      this.#gate.leave();
    }
  }

  /**
   * Runs the work while no shard is writing, so that it sees either all of a write or none of it. If the
   * running writes do not finish within `msMax` milliseconds, resolves with undefined without running the
   * work.
   */
  between<T>(msMax: number, work: () => Promise<T>): Promise<T | undefined> {
    return this.#gate.quiet(msMax, work);
  }

  /** Waits until the index has been re-indexed, and keeps it open until then. */
  async #rebuilt(uid: number, deadlineMs: number): Promise<void> {
    const { state, end } = await this.#indexes.use(uid);
    try {
      await rebuilt(state, () => this.#indexes.find(uid) === state, deadlineMs);
    } finally {
      end();
    }
  }

  /** Sends the same deletion to all of the index's shards, as one write with one generation. */
  async #delete(
    uid: number,
    encode: (stamp: { uid: number; generation: number; oldestGeneration: number }) => Message,
  ): Promise<number> {
    const { location, leave } = await this.enter(uid);
    try {
      const deleted = await this.#publish(uid, (state, generation, oldestGeneration) =>
        location.places.map(async (shard) => {
          const request = encode({ uid: location.data, generation, oldestGeneration });
          const reply = await this.#calls.call(shard, request, decodeDeleteWhereReply);
          state.setLiveDocs(shard, reply.liveDocs);
          return reply.deleted;
        }),
      );
      return deleted.reduce((sum, count) => sum + count, 0);
    } finally {
      leave();
    }
  }

  /**
   * Runs a write with a new generation. The generation finishes even if the write fails, so that later
   * generations can become visible.
   */
  async #publish<T>(
    uid: number,
    send: (state: IndexState, generation: number, oldestGeneration: number) => Promise<T>[],
  ): Promise<T[]> {
    const { state, end } = await this.#indexes.use(uid);
    try {
      return await this.#publishOpen(state, send);
    } finally {
      end();
    }
  }

  async #publishOpen<T>(
    state: IndexState,
    send: (state: IndexState, generation: number, oldestGeneration: number) => Promise<T>[],
  ): Promise<T[]> {
    await this.#gate.enter();
    const { generations } = state;
    const generation = generations.begin();
    let results: PromiseSettledResult<T>[];
    try {
      fault("write.before-shards");
      results = await Promise.allSettled(send(state, generation, generations.oldest));
      fault("write.after-shards");
    } finally {
      generations.finish(generation);
      this.#gate.leave();
      this.#quiet.written(state.record.uid);
      this.#onWritten(state.record.uid);
    }
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    await generations.visible(generation);
    return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }
}
