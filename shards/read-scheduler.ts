// The shard's ends of the channels for reads, one per thread that asks, and the order in which reads are
// answered. Tenants share this thread by what they have used of it (protocol/fair-queue.ts). A long read is
// interrupted: `meanwhile` answers reads of others in the middle of it, on the same stack
// (docs/adr/0014-fair-turns.md). Replies are sent together, but none is held back for long behind a slow
// read.
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { discardBuffer } from "../engine-wasm/host/runtime/discards.js";
import { FairQueue } from "./protocol/fair-queue.js";
import { Frames, readFrames } from "./protocol/frames.js";

type Reply = Uint8Array;

/** The channel to one thread. */
interface Channel {
  readonly port: MessagePort;
  /** Answers that wait to be sent. */
  readonly replies: Frames;
}

interface Read {
  readonly channel: Channel;
  readonly id: number;
  readonly request: Uint8Array;
}

/** A read under way, in the middle of which others may be answered. */
interface Running {
  readonly flow: number;
  readonly index: number;
  readonly begunMs: number;
  /** Of the time since its beginning, what others have used. */
  othersMs: number;
}

/** Maximum delay for batching replies. */
const HELD_BACK_MS = 1;
/** How long reads are answered without a look at what else the thread has to do. */
const STRETCH_MS = 8;
/** Reads inside of one another: each has its stack and its engine's memory. */
const DEPTH_MAX = 4;
/** Reads of one tenant that wait for the disk at a time: as many as the process has threads for that. */
const LATE_MAX = 4;

export class ReadScheduler {
  readonly #channels = new Set<Channel>();
  readonly #answer: (request: Uint8Array) => Reply | Promise<Reply>;
  readonly #nowMs: () => number;
  readonly #queue = new FairQueue<Read>();
  readonly #running: Running[] = [];
  /** Reads that are not answered at once, by flow. */
  readonly #late = new Map<number, number>();
  #sentMs = 0;
  #scheduled = false;

  /**
   * `answer` must not throw and must not reject. A request names its index in the four bytes behind the first
   * one. `nowMs` never goes back.
   */
  constructor(
    answer: (request: Uint8Array) => Reply | Promise<Reply>,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#answer = answer;
    this.#nowMs = nowMs;
  }

  /** One more thread asks, until it closes the port. */
  connect(port: MessagePort): void {
    const channel = { port, replies: new Frames() };
    this.#channels.add(channel);
    port.on("message", (message: Uint8Array) => {
      this.#receive(channel, message);
      if (!this.#scheduled) this.#serve();
    });
    port.on("close", () => this.#channels.delete(channel));
  }

  /**
   * To be called now and then in the middle of a read. Sends what was answered before it, and answers what
   * waits of other tenants that have used less, unless it is about an index whose engine is at work below.
   */
  meanwhile(): void {
    const below = this.#running.at(-1);
    if (below === undefined) return;
    this.#send();
    if (this.#running.length >= DEPTH_MAX) return;
    this.#receiveAll();
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
    readFrames(message, (id, request, flow) => this.#queue.add(flow, { channel, id, request }));
    discardBuffer(message.byteLength);
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

  /** Answers what waits, but lets other work of the thread in between after a while. */
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

  /** Returns when it was done. */
  #run(flow: number, { channel, id, request }: Read): number {
    const running: Running = { flow, index: indexOf(request), begunMs: this.#nowMs(), othersMs: 0 };
    this.#running.push(running);
    const reply = this.#answer(request);
    this.#running.pop();
    const nowMs = this.#nowMs();
    this.#queue.spent(flow, nowMs - running.begunMs - running.othersMs);
    if (reply instanceof Promise) void this.#answerLate(flow, channel, id, reply);
    else channel.replies.add(id, reply);
    return nowMs;
  }

  async #answerLate(flow: number, channel: Channel, id: number, reply: Promise<Reply>): Promise<void> {
    this.#late.set(flow, (this.#late.get(flow) ?? 0) + 1);
    this.#sendLater(channel, id, await reply);
    const left = this.#late.get(flow)! - 1;
    if (left === 0) this.#late.delete(flow);
    else this.#late.set(flow, left);
    if (this.#queue.size > 0) this.#serveLater();
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

/** The index that a read is about; 0, which no index has, for a request that is too short to say. */
function indexOf(request: Uint8Array): number {
  if (request.length < 5) return 0;
  return new DataView(request.buffer, request.byteOffset).getUint32(1, true);
}
