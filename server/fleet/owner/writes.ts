// Writes to the indexes: each gets a new generation, goes to the shards in the order of the generations, and
// is published when it is durable there. Knows nothing of what a document means.
import { decodeDeleteWhereReply, encodeDeleteWhere } from "../../../shards/protocol/program.js";
import {
  decodeCountUnseenReply,
  encodeCountUnseen,
  encodeDeleteUnseen,
  type SeqSet,
} from "../../../shards/protocol/unseen.js";
import { decodeWriteReply, type WriteFailure, type WriteStamp } from "../../../shards/protocol/write.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
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

/** What became of a write, document by document. */
interface WriteOutcome {
  readonly failures: readonly WriteFailure[];
  /** Documents of a SYNC that were stored already with the same value. */
  readonly unchanged: number;
  /** Seqs of the stored versions that a SYNC left in place. */
  readonly kept: readonly number[];
  /** Shards that have kept nothing of their part, or may have kept it all, as the error says. */
  readonly refused: readonly { readonly shard: number; readonly error: SkeinError }[];
}

/** See Writes. */
export interface WriteEntry {
  readonly location: Location;
  readonly leave: () => void;
}

/** Maximum time a deletion by filter waits for documents to be re-indexed. */
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
   * In how many shards documents that are written now are to be stored, unless the index is spread meanwhile.
   */
  shards(uid: number): number {
    return this.#indexes.find(uid)?.newest.places.length ?? 1;
  }

  /**
   * Where the documents of the index lie, which stays the same until `leave` is called. Waits while it is
   * being spread. Throws SK-SE-503 for an index that cannot be opened, SK-SYS-503 when the wait is too long.
   */
  async enter(uid: number): Promise<WriteEntry> {
    const state = this.#indexes.state(uid);
    await state.writing.enter();
    return { location: state.newest, leave: () => state.writing.leave() };
  }

  /**
   * After `enter`: sends one write with `seqs` sequence numbers to the shards that `encode` has a message for
   * and resolves when it is durable there and visible to reads. The messages are made and sent in the same
   * turn, so writes reach every shard in the order of their generations. Rejects when all of them refused it,
   * or one failed in a way that nobody foresaw.
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
   * Deletes the documents that match the search program compiled for the index's record; resolves to the
   * number deleted once the deletion is visible. A segment of another schema than the program's would match
   * wrong documents, so the deletion waits for a rebuild and then takes its turn with the changes of the
   * index. Throws SK-SYS-503 when the wait is too long.
   */
  async deleteWhere(uid: number, compile: (record: IndexRecord) => Uint8Array): Promise<number> {
    const job = { name: "delete by filter", subject: indexSubject(uid) };
    const deadlineMs = performance.now() + REBUILD_WAIT_MS_MAX;
    for (;;) {
      const { record } = this.#indexes.state(uid);
      const program = compile(record);
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
   * Deletes the documents that a feed did not have: those with a sequence number below `beforeSeq`, which was
   * the next one when its run began, that are not among the kept. The number deleted, visible when resolved.
   */
  deleteUnseen(uid: number, beforeSeq: number, kept: SeqSet): Promise<number> {
    return this.#delete(uid, (stamp) => encodeDeleteUnseen({ ...stamp, beforeSeq, kept }));
  }

  /** How many documents `deleteUnseen` would delete. */
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

  /** Runs work that `between` sees as a whole or not at all. It must not write documents. */
  async asOne<T>(work: () => Promise<T>): Promise<T> {
    await this.#gate.enter();
    try {
      return await work();
    } finally {
      this.#gate.leave();
    }
  }

  /**
   * Runs the work while no write is under way in any shard: what it sees there has every write as a whole or
   * not at all. Undefined when the writes under way did not end within `msMax`.
   */
  between<T>(msMax: number, work: () => Promise<T>): Promise<T | undefined> {
    return this.#gate.quiet(msMax, work);
  }

  /** The index is open while it is re-indexed. */
  async #rebuilt(uid: number, deadlineMs: number): Promise<void> {
    const { state, end } = await this.#indexes.use(uid);
    try {
      await rebuilt(state, () => this.#indexes.find(uid) === state, deadlineMs);
    } finally {
      end();
    }
  }

  /** A deletion in every shard of the index under one generation. */
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

  /** Runs a write under a new generation, which is finished in every case: later ones must become visible. */
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
