// The shard's ends of the read channels, one per requesting thread, and the order in which reads run. Tenants
// share this thread according to the time they have used (protocol/fair-queue.ts). A long read is
// interrupted: `meanwhile` runs other tenants' reads in the middle of it, on the same stack
// (docs/adr/0014-fair-turns.md). Replies are batched, but no reply waits long for a slow read.
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { discardBuffer } from "../engine-wasm/host/runtime/discards.js";
import { SHARD_LATE, ShardError } from "./protocol/errors.js";
import { FairQueue } from "./protocol/fair-queue.js";
import { CANCEL, Frames, readFrames } from "./protocol/frames.js";
import { encodeError } from "./protocol/reply.js";

type Reply = Uint8Array;

/** The read channel to one requesting thread. */
interface Channel {
  readonly port: MessagePort;
  /** Replies waiting to be sent. */
  readonly replies: Frames;
  /** The channel's reads that have not been answered, by id. */
  readonly reads: Map<number, Read>;
}

interface Read {
  readonly channel: Channel;
  readonly id: number;
  request: Uint8Array;
  begun: boolean;
  cancelled: boolean;
}

/** A running read. It may be interrupted so that other reads can run. */
interface Running {
  readonly read: Read;
  readonly flow: number;
  readonly index: number;
  readonly begunMs: number;
  /** Time since `begunMs` spent on other reads. */
  othersMs: number;
}

/** Maximum delay for batching replies. */
const HELD_BACK_MS = 1;
/** Maximum time spent on reads before the event loop regains control. */
const STRETCH_MS = 8;
/** Maximum nesting of reads. Each level needs its own stack frames and engine memory. */
const DEPTH_MAX = 4;
/**
 * Maximum number of a tenant's reads that wait for the disk. Equals the number of disk threads in the
 * process.
 */
const LATE_MAX = 4;

export class ReadScheduler {
  readonly #channels = new Set<Channel>();
  readonly #answer: (request: Uint8Array) => Reply | Promise<Reply>;
  readonly #nowMs: () => number;
  readonly #queue = new FairQueue<Read>();
  readonly #running: Running[] = [];
  /** Number of reads being answered asynchronously, by flow. */
  readonly #late = new Map<number, number>();
  #sentMs = 0;
  #scheduled = false;

  /**
   * `answer` must neither throw nor reject. Bytes 1 to 4 of a request contain its index's uid. `nowMs` must
   * be monotonic.
   */
  constructor(
    answer: (request: Uint8Array) => Reply | Promise<Reply>,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#answer = answer;
    this.#nowMs = nowMs;
  }

  /** Serves another thread until it closes the port. */
  connect(port: MessagePort): void {
    const channel: Channel = { port, replies: new Frames(), reads: new Map() };
    this.#channels.add(channel);
    port.on("message", (message: Uint8Array) => {
      this.#receive(channel, message);
      if (!this.#scheduled) this.#serve();
    });
    port.on("close", () => {
      this.#channels.delete(channel);
      for (const read of channel.reads.values()) read.cancelled = true;
    });
  }

  /**
   * Called at intervals in the middle of a read. Sends the replies that are ready, then runs waiting reads of
   * other tenants that have used less time. Skips indexes whose engine is already running further down the
   * stack. Returns false if the read that it interrupts has been cancelled.
   */
  meanwhile(): boolean {
    const below = this.#running.at(-1);
    if (below === undefined) return true;
    this.#send();
    this.#receiveAll();
    if (this.#running.length < DEPTH_MAX) this.#runInside(below);
    return !below.read.cancelled;
  }

  #runInside(below: Running): void {
    for (let next = this.#takeInside(below); next !== undefined; next = this.#takeInside(below)) {
      const begunMs = this.#nowMs();
      this.#run(next.flow, next.item);
      below.othersMs += this.#nowMs() - begunMs;
      this.#send();
    }
  }

  #takeInside(below: Running): { flow: number; item: Read } | undefined {
    if (this.#queue.size === 0) return undefined;
    const used = this.#queue.usedBy(below.flow) + (this.#nowMs() - below.begunMs - below.othersMs);
    return this.#queue.take(
      ({ request }, flow, usedByOther) =>
        usedByOther < used &&
        this.#mayBegin(flow) &&
        this.#running.every((running) => running.flow !== flow && running.index !== indexOf(request)),
    );
  }

  #receive(channel: Channel, message: Uint8Array): void {
    readFrames(message, (id, request, flow) => {
      if (request.length === 0) this.#cancel(channel.reads.get(id));
      else {
        const read = { channel, id, request, begun: false, cancelled: false };
        channel.reads.set(id, read);
        this.#queue.add(flow, read);
      }
    });
    discardBuffer(message.byteLength);
  }

  /** Refuses a read that waits. A read that has begun ends at the next `meanwhile`. */
  #cancel(read: Read | undefined): void {
    if (read === undefined) return;
    read.cancelled = true;
    if (read.begun) return;
    read.request = CANCEL;
    read.channel.reads.delete(read.id);
    this.#sendLater(read.channel, read.id, encodeError(new ShardError(SHARD_LATE, "the read is not needed")));
  }

  #receiveAll(): void {
    for (const channel of this.#channels) {
      for (let more = receiveMessageOnPort(channel.port); more !== undefined; ) {
        this.#receive(channel, more.message as Uint8Array);
        more = receiveMessageOnPort(channel.port);
      }
    }
  }

  #take(): { flow: number; item: Read } | undefined {
    return this.#late.size === 0 ? this.#queue.take() : this.#queue.take((_, flow) => this.#mayBegin(flow));
  }

  #mayBegin(flow: number): boolean {
    return (this.#late.get(flow) ?? 0) < LATE_MAX;
  }

  /** Runs waiting reads, but lets the thread do its other work after STRETCH_MS. */
  readonly #serve = (): void => {
    this.#scheduled = false;
    const begunMs = this.#nowMs();
    this.#sentMs = begunMs;
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      const nowMs = this.#run(next.flow, next.item);
      if (nowMs - this.#sentMs > HELD_BACK_MS) {
        this.#send();
        this.#receiveAll();
      }
      if (nowMs - begunMs > STRETCH_MS && this.#queue.size > 0) {
        this.#serveLater();
        break;
      }
    }
    this.#send();
    if (this.#queue.size === 0) this.#queue.reset();
  };

  /** Runs a read. Returns the time when it ended. */
  #run(flow: number, read: Read): number {
    const { request } = read;
    const running: Running = { read, flow, index: indexOf(request), begunMs: this.#nowMs(), othersMs: 0 };
    if (read.cancelled) return running.begunMs;
    read.begun = true;
    this.#running.push(running);
    const reply = this.#answer(request);
    this.#running.pop();
    const nowMs = this.#nowMs();
    this.#queue.spent(flow, nowMs - running.begunMs - running.othersMs);
    if (reply instanceof Promise) void this.#answerLate(flow, read, reply);
    else this.#answered(read).replies.add(read.id, reply);
    return nowMs;
  }

  async #answerLate(flow: number, read: Read, reply: Promise<Reply>): Promise<void> {
    this.#late.set(flow, (this.#late.get(flow) ?? 0) + 1);
    const made = await reply;
    this.#sendLater(this.#answered(read), read.id, made);
    const left = this.#late.get(flow)! - 1;
    if (left === 0) this.#late.delete(flow);
    else this.#late.set(flow, left);
    if (this.#queue.size > 0) this.#serveLater();
  }

  /** Called when a read has been answered. Returns the channel for the reply. */
  #answered({ channel, id }: Read): Channel {
    channel.reads.delete(id);
    return channel;
  }

  #serveLater(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#serve);
  }

  #sendLater(channel: Channel, id: number, reply: Reply): void {
    if (channel.replies.empty) setImmediate(() => this.#send());
    channel.replies.add(id, reply);
  }

  #send(): void {
    this.#sentMs = this.#nowMs();
    for (const { port, replies } of this.#channels) {
      if (replies.empty) continue;
      const message = replies.take();
      port.postMessage(message, [message.buffer]);
    }
  }
}

/**
 * Returns the uid of the index that a read refers to. If the request is too short, returns 0, which is never
 * an index's uid.
 */
function indexOf(request: Uint8Array): number {
  if (request.length < 5) return 0;
  return new DataView(request.buffer, request.byteOffset).getUint32(1, true);
}
