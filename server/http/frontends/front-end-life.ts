// One life of a front-end: a single run of its thread, from start to exit, with the requests forwarded during
// that run.
import { MessageChannel, Worker } from "node:worker_threads";
import { builtFile } from "../../../engine-wasm/host/runtime/built-files.js";
import { processMibMax } from "../../ground/heap-limits.js";
import type { ExchangeContext, HttpHandler } from "../transport/port.js";
import { callInThread } from "./call-in-thread.js";
import { ThreadChannel } from "./channel.js";
import { ForwardedExchange } from "./forwarded-exchange.js";
import type { FrontEndCalls, FrontEndData, OwnerCalls } from "./messages.js";

/**
 * Handlers for those calls from a front-end that are the same for every run of its thread. FrontEndLife adds
 * the handlers for forwarded requests and for the start of listening.
 */
export type OwnerAnswers = Omit<
  OwnerCalls,
  "listening" | "lastCounted" | "request" | "body" | "bodyEnded" | "aborted" | "taken"
>;

export interface FrontEndLifeOptions {
  readonly data: Omit<FrontEndData, "owner">;
  readonly answers: OwnerAnswers & Pick<OwnerCalls, "lastCounted">;
  readonly handler: HttpHandler;
  readonly exchanges: ExchangeContext;
  /** Called once, when the thread has ended. */
  readonly onEnd: () => void;
}

export class FrontEndLife {
  readonly channel: ThreadChannel<FrontEndCalls>;
  /**
   * Resolves with the port once the thread is listening. Rejects with the thread's error if it cannot start.
   */
  readonly listening: Promise<number>;
  /** Resolves when the thread has ended. */
  readonly gone: Promise<void>;
  readonly threadId: number;
  readonly #worker: Worker;
  readonly #exchanges = new Map<number, ForwardedExchange>();
  #ended = false;

  constructor({ data, answers, handler, exchanges, onEnd }: FrontEndLifeOptions) {
    const { port1, port2 } = new MessageChannel();
    const worker = new Worker(builtFile("server/http/frontends/thread/front-end-worker.js"), {
      workerData: { ...data, owner: port2 } satisfies FrontEndData,
      transferList: [port2],
      // Out of reach, see thread/heap-mark.ts.
      resourceLimits: { maxOldGenerationSizeMb: processMibMax() },
    });
    this.#worker = worker;
    this.threadId = worker.threadId;
    let listens: (port: number) => void = () => undefined;
    let fails: (error: unknown) => void = () => undefined;
    this.listening = new Promise((resolve, reject) => {
      listens = resolve;
      fails = reject;
    });
    this.listening.catch(() => undefined);
    const mine: OwnerCalls = {
      ...answers,
      listening: listens,
      request: (head) => {
        const exchange = new ForwardedExchange(head, this.channel, exchanges);
        this.#exchanges.set(head.id, exchange);
        exchange.run(handler, () => this.#exchanges.delete(head.id));
      },
      body: ({ id, bytes }) => this.#exchanges.get(id)?.arrived(bytes),
      bodyEnded: ({ id, error }) => this.#exchanges.get(id)?.bodyEnded(error),
      aborted: (id) => this.#exchanges.get(id)?.gone(),
      taken: ({ id, bytes }) => this.#exchanges.get(id)?.taken(bytes),
    };
    this.channel = new ThreadChannel<FrontEndCalls>(port1, mine);
    worker.once("error", fails);
    this.gone = new Promise((resolve) => {
      worker.once("exit", () => {
        this.#ended = true;
        fails(new Error("the thread of a front-end ended while it started"));
        this.channel.close(new Error("the front-end's thread has ended"));
        for (const exchange of this.#exchanges.values()) exchange.gone();
        onEnd();
        resolve();
      });
    });
  }

  /** True once the thread has ended. */
  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Ends the thread, whatever it is doing, and resolves once it has ended. Cuts its connections first,
   * because uWebSockets.js takes the whole process down if a thread ends with open sockets. If they cannot be
   * cut, rejects and leaves the thread running.
   */
  async end(): Promise<void> {
    if (!this.#ended) await callInThread(this.threadId, "cut");
    await this.#worker.terminate();
  }

  /** Like `end`, but only if the thread's heap is full. Returns true if it was. */
  async endIfFull(): Promise<boolean> {
    if (this.#ended || (await callInThread(this.threadId, "cutIfHeapIsFull")) !== true) return false;
    await this.#worker.terminate();
    return true;
  }
}
