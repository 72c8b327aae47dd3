// A front-end's view of the shards. It has its own channel to each shard's thread, and receives a new channel
// from the owner when the thread restarts. Meanwhile, reads wait for the restart, at most as long as a search
// may take.

import type { EngineReader } from "../../../../engine-wasm/host/instance/engine-reader.js";
import type { ShardPorts } from "../../../../shards/protocol/memory-loans.js";
import { BorrowedMemories, type ReaderOf } from "../../../fleet/threads/borrowed-memories.js";
import { ShardChannel } from "../../../fleet/threads/shard-channel.js";
import { ShardEndedError } from "../../../fleet/threads/shard-errors.js";
import { SkeinError } from "../../../ground/errors.js";
import { within } from "../../../ground/jobs/deadline.js";
import type { RequestLife } from "../../../ground/jobs/request-life.js";
import type { Limits } from "../../../ground/limits.js";
import type { Recorder } from "../../../ground/metrics/recorder.js";

type ShardLimits = Pick<Limits, "searchMsMax" | "shardQueueRequestsMax">;

/** The channels to a shard's thread, valid until that thread ends. */
interface Channels {
  readonly life: number;
  readonly reads: ShardChannel;
  readonly memories: BorrowedMemories;
}

export class FollowedShards {
  readonly count: number;
  readonly #shards: readonly FollowedShard[];
  readonly #recorder: Pick<Recorder, "shardRead">;

  constructor(count: number, readerOf: ReaderOf, limits: ShardLimits, recorder: Pick<Recorder, "shardRead">) {
    this.count = count;
    this.#recorder = recorder;
    this.#shards = Array.from({ length: count }, (_, shard) => new FollowedShard(shard, readerOf, limits));
  }

  /** Called when the shard's thread has started. */
  began(shard: number, life: number, ports: ShardPorts): void {
    (this.#shards[shard] as FollowedShard).began(life, ports);
  }

  /** Called when the shard's thread has ended. Its running reads fail in the same turn of the event loop. */
  ended(shard: number): void {
    (this.#shards[shard] as FollowedShard).ended();
  }

  /** See ShardPool.read. */
  read(shard: number, request: Uint8Array, flow: number, life: RequestLife): Promise<Uint8Array> {
    this.#recorder.shardRead(shard);
    return (this.#shards[shard] as FollowedShard).read(request, flow, life);
  }

  /** See ShardPool.reader. */
  reader(shard: number, uid: number): EngineReader | null {
    return (this.#shards[shard] as FollowedShard).reader(uid);
  }

  readerFailed(uid: number): void {
    for (const shard of this.#shards) shard.readerFailed(uid);
  }

  /** See ShardPool.readerUnused. */
  readerUnused(uid: number): void {
    for (const shard of this.#shards) shard.readerUnused(uid);
  }

  close(): void {
    for (const shard of this.#shards) shard.ended();
  }
}

class FollowedShard {
  readonly #shard: number;
  readonly #readerOf: ReaderOf;
  readonly #limits: ShardLimits;
  #channels: Channels | null = null;
  #inside = 0;
  #back: Promise<void>;
  #onBack: () => void = () => undefined;

  constructor(shard: number, readerOf: ReaderOf, limits: ShardLimits) {
    this.#shard = shard;
    this.#readerOf = readerOf;
    this.#limits = limits;
    this.#back = new Promise((resolve) => (this.#onBack = resolve));
  }

  began(life: number, { reads, memories }: ShardPorts): void {
    this.ended();
    this.#channels = {
      life,
      reads: new ShardChannel(reads),
      memories: new BorrowedMemories(memories, this.#readerOf),
    };
    this.#onBack();
  }

  ended(): void {
    if (this.#channels === null) return;
    const { life, reads, memories } = this.#channels;
    this.#channels = null;
    this.#back = new Promise((resolve) => (this.#onBack = resolve));
    memories.close();
    const sentence = `shard ${this.#shard} was restarted during the request; retry in a moment`;
    reads.close(new ShardEndedError(sentence, { life, cause: undefined }));
  }

  async read(request: Uint8Array, flow: number, life: RequestLife): Promise<Uint8Array> {
    if (this.#inside >= this.#limits.shardQueueRequestsMax)
      throw unavailable(`shard ${this.#shard} has too many requests waiting`);
    this.#inside++;
    try {
      if (this.#channels === null) await within(this.#back, this.#limits.searchMsMax, () => undefined);
      if (this.#channels === null) throw unavailable(`shard ${this.#shard} is being restarted`);
      return await this.#channels.reads.ask(request, flow, life);
    } finally {
      this.#inside--;
    }
  }

  reader(uid: number): EngineReader | null {
    return this.#channels?.memories.reader(uid) ?? null;
  }

  readerFailed(uid: number): void {
    this.#channels?.memories.failed(uid);
  }

  readerUnused(uid: number): void {
    this.#channels?.memories.unused(uid);
  }
}

function unavailable(problem: string): SkeinError {
  return new SkeinError("SK-SE-503", `${problem}; retry in a moment`, { retryAfter: 1 });
}
