// The shard's end of the line of reads. Reads of several tenants take turns by what they have used of this thread
// (protocol/fair-queue.ts). A read that takes long is interrupted: `meanwhile` answers reads of others in the middle of it, on the same
// stack (docs/adr/0014-fair-turns.md). Answers are sent together, but none is kept back for long behind a slow one.
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { discardBuffer } from "../engine-wasm/host/instance/discards.js";
import { FairQueue } from "./protocol/fair-queue.js";
import { Frames, readFrames } from "./protocol/line.js";

type Reply = Uint8Array;

interface Read {
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

/** How long an answer may wait for others to be sent with. */
const HELD_BACK_MS = 1;
/** How long reads are answered without a look at what else the thread has to do. */
const STRETCH_MS = 8;
/** Reads inside of one another: each has its stack and its engine's memory. */
const DEPTH_MAX = 4;
/** Reads of one tenant that wait for the disk at a time: as many as the process has threads for that. */
const LATE_MAX = 4;

export class AnswerLine {
  readonly #port: MessagePort;
  readonly #answer: (request: Uint8Array) => Reply | Promise<Reply>;
  readonly #nowMs: () => number;
  readonly #queue = new FairQueue<Read>();
  readonly #running: Running[] = [];
  readonly #replies = new Frames();
  /** Reads that are not answered at once, by flow. */
  readonly #late = new Map<number, number>();
  #sentMs = 0;
  #scheduled = false;

  /**
   * `answer` must not throw and must not reject. A request names its index in the four bytes behind the first one. `nowMs`
   * never goes back.
   */
  constructor(
    port: MessagePort,
    answer: (request: Uint8Array) => Reply | Promise<Reply>,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#port = port;
    this.#answer = answer;
    this.#nowMs = nowMs;
    port.on("message", (message: Uint8Array) => {
      this.#receive(message);
      if (!this.#scheduled) this.#serve();
    });
  }

  /**
   * To be called now and then in the middle of a read. Sends what was answered before it, and answers what waits of other tenants
   * that have used less, unless it is about an index whose engine is at work below.
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

  #receive(message: Uint8Array): void {
    readFrames(message, (id, request, flow) => this.#queue.add(flow, { id, request }));
    discardBuffer(message.byteLength);
  }

  #receiveAll(): void {
    for (let more = receiveMessageOnPort(this.#port); more !== undefined; ) {
      this.#receive(more.message as Uint8Array);
      more = receiveMessageOnPort(this.#port);
    }
  }

  #take(): { flow: number; item: Read } | undefined {
    return this.#late.size === 0 ? this.#queue.take() : this.#queue.take((_, flow) => this.#mayBegin(flow));
  }

  #mayBegin(flow: number): boolean {
    return (this.#late.get(flow) ?? 0) < LATE_MAX;
  }

  /** Answers what waits; after a while other work of the thread has its turn first. */
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
  #run(flow: number, { id, request }: Read): number {
    const running: Running = { flow, index: indexOf(request), begunMs: this.#nowMs(), othersMs: 0 };
    this.#running.push(running);
    const reply = this.#answer(request);
    this.#running.pop();
    const nowMs = this.#nowMs();
    this.#queue.spent(flow, nowMs - running.begunMs - running.othersMs);
    if (reply instanceof Promise) void this.#answerLate(flow, id, reply);
    else this.#replies.add(id, reply);
    return nowMs;
  }

  async #answerLate(flow: number, id: number, reply: Promise<Reply>): Promise<void> {
    this.#late.set(flow, (this.#late.get(flow) ?? 0) + 1);
    this.#sendLater(id, await reply);
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

  #sendLater(id: number, reply: Reply): void {
    if (this.#replies.empty) setImmediate(() => this.#send());
    this.#replies.add(id, reply);
  }

  #send(): void {
    this.#sentMs = this.#nowMs();
    if (this.#replies.empty) return;
    const message = this.#replies.take();
    this.#port.postMessage(message, [message.buffer]);
  }
}

/** The index that a read is about; 0, which no index has, for a request that is too short to say. */
function indexOf(request: Uint8Array): number {
  if (request.length < 5) return 0;
  return new DataView(request.buffer, request.byteOffset).getUint32(1, true);
}
