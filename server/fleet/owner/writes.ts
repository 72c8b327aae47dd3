// Writes to the indexes. Each write gets a new generation, is sent to the shards in generation order, and is
// published once it is durable there. Knows nothing about the documents' contents.
import { encodePublished } from "../../../shards/protocol/control.js";
import { decodeDeleteWhereReply, encodeDeleteWhere } from "../../../shards/protocol/program.js";
import { decodeEmptyReply } from "../../../shards/protocol/reply.js";
import {
  decodeCountUnseenReply,
  encodeCountUnseen,
  encodeDeleteUnseen,
  type SeqSet,
} from "../../../shards/protocol/unseen.js";
import { decodeWriteReply, stampWrite, type WriteFailure } from "../../../shards/protocol/write.js";
import type { WriteHead } from "../../../shards/protocol/write-head.js";
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
   * Sends one write to its shards. `messages` are encoded WRITEs by shard. Call it between `enter` and
   * `leave`. The write uses `seqs` sequence numbers. Resolves when the write is durable and visible to reads.
   * Messages are stamped and sent in the same turn of the event loop, so writes reach every shard in
   * generation order. Rejects if all shards refused the write, or if any shard failed in an unexpected way.
   */
  async write(uid: number, seqs: number, messages: ReadonlyMap<number, Message>): Promise<WriteOutcome> {
    const replies = await this.#publish(uid, messages.size, (state, head) => {
      const stamp = { ...head, firstSeq: state.takeSeqs(seqs) };
      return Array.from(messages, async ([shard, message]) => {
        stampWrite(message, stamp);
        try {
          const reply = await this.#calls.call(shard, message, decodeWriteReply);
          state.setLiveDocs(shard, reply.liveDocs);
          return { ...reply, shard };
        } catch (error) {
          if (error instanceof SkeinError) return { shard, error };
          throw error;
        }
      });
    });
    const refused = replies.flatMap((reply) => ("failures" in reply ? [] : [reply]));
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
        return this.#delete(uid, (head) => encodeDeleteWhere({ ...head, program }));
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
    return this.#delete(uid, (head) => encodeDeleteUnseen({ ...head, beforeSeq, kept }));
  }

  /** Number of documents that `deleteUnseen` would delete. */
  async countUnseen(uid: number, beforeSeq: number, kept: SeqSet): Promise<number> {
    const { state, end } = await this.#indexes.use(uid);
    const generation = state.generations.hold();
    try {
      const { data, places } = state.locationAt(generation);
      const head = headOf(state, data, generation, places.length);
      const counts = await this.#calls.each(
        places,
        () => encodeCountUnseen({ ...head, beforeSeq, kept }),
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
  async #delete(uid: number, encode: (head: WriteHead) => Message): Promise<number> {
    const { location, leave } = await this.enter(uid);
    try {
      const replies = await this.#publish(uid, location.places.length, (state, head) =>
        location.places.map(async (shard) => {
          const reply = await this.#calls.call(shard, encode(head), decodeDeleteWhereReply);
          state.setLiveDocs(shard, reply.liveDocs);
          return { ...reply, shard, recorded: true };
        }),
      );
      return replies.reduce((sum, { deleted }) => sum + deleted, 0);
    } finally {
      leave();
    }
  }

  /**
   * Runs a write with a new generation in `shards` shards. The generation finishes even if the write fails,
   * so that later generations can become visible.
   */
  async #publish<T extends Part>(
    uid: number,
    shards: number,
    send: (state: IndexState, head: WriteHead) => Promise<T>[],
  ): Promise<T[]> {
    const { state, end } = await this.#indexes.use(uid);
    try {
      return await this.#publishOpen(state, shards, send);
    } finally {
      end();
    }
  }

  async #publishOpen<T extends Part>(
    state: IndexState,
    shards: number,
    send: (state: IndexState, head: WriteHead) => Promise<T>[],
  ): Promise<T[]> {
    await this.#gate.enter();
    const { generations } = state;
    const generation = generations.begin();
    let results: PromiseSettledResult<T>[];
    try {
      fault("write.before-shards");
      results = await Promise.allSettled(send(state, headOf(state, state.newest.data, generation, shards)));
      fault("write.after-shards");
      if (!isWhole(results)) {
        await generations.visible(generation - 1);
        state.inDoubt = generation;
        await this.#recordPublished(state, generation, results).catch(() => undefined); // tried again below
      }
    } finally {
      generations.finish(generation);
      this.#gate.leave();
      this.#quiet.written(state.record.uid);
      this.#onWritten(state.record.uid);
    }
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    await generations.visible(generation);
    if (state.inDoubt > 0) await this.#recordPublished(state, generations.published, results);
    return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  /**
   * Makes one of the index's shards record that every write up to `generation` is published, so that a
   * restart takes none of them back, even if a shard does not have its part. Tries the shards that have just
   * replied first. Throws SK-SE-503 if no shard can record it.
   */
  async #recordPublished(
    state: IndexState,
    generation: number,
    results: readonly PromiseSettledResult<Part>[],
  ): Promise<void> {
    const { data, places } = state.newest;
    const able = results.flatMap((one) =>
      one.status === "fulfilled" && "recorded" in one.value ? [one.value.shard] : [],
    );
    let failure: unknown;
    for (const shard of new Set([...able, ...places])) {
      try {
        await this.#calls.call(shard, encodePublished(data, generation), decodeEmptyReply);
        if (generation >= state.inDoubt) state.inDoubt = 0;
        return;
      } catch (error) {
        failure = error;
      }
    }
    throw new SkeinError("SK-SE-503", "the write may have been stored, but not for certain; retry", {
      retryAfter: 5,
      cause: failure,
    });
  }
}

/** What a shard replied to its part of a write, or why it refused the part. */
type Part = { readonly shard: number } & ({ readonly recorded: boolean } | { readonly error: SkeinError });

/** True if a restart would find the shards in agreement: all have recorded the write, or none has. */
function isWhole(parts: readonly PromiseSettledResult<Part>[]): boolean {
  if (parts.length <= 1) return true;
  const outcomes = new Set(
    parts.map((part) => {
      if (part.status === "rejected") return "unknown";
      if ("recorded" in part.value) return part.value.recorded;
      return part.value.error.code === "SK-SYS-503" ? false : "unknown"; // storage refused: nothing changed
    }),
  );
  return outcomes.size === 1 && !outcomes.has("unknown");
}

function headOf(
  { generations, newest }: IndexState,
  data: number,
  generation: number,
  shards: number,
): WriteHead {
  const { oldest: oldestGeneration, published } = generations;
  const isAlone = newest.places.length === 1;
  return { uid: data, generation, oldestGeneration, published: isAlone ? 0 : published, shards };
}
