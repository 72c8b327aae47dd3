// The entry point of a front-end's thread. Starts the front-end described by workerData, updates the thread's
// heartbeat (Pulse), and ends the thread when it fails or its heap is full. Contains no other logic.
import { workerData } from "node:worker_threads";
import { collectWhenIdle } from "../../../../engine-wasm/host/runtime/discards.js";
import { within } from "../../../ground/jobs/deadline.js";
import { offerCalls } from "../call-in-thread.js";
import type { FrontEndData } from "../messages.js";
import { Pulse } from "../pulse.js";
import { type FrontEnd, startFrontEnd } from "./front-end.js";
import { isHeapFull } from "./heap-mark.js";

const BEAT_MS = 250;
const CLOSE_MS_MAX = 3_000;

class FrontEndThread {
  readonly #data: FrontEndData;
  /** Null until it listens. */
  #frontEnd: FrontEnd | null = null;
  #isEnding = false;

  constructor(data: FrontEndData) {
    this.#data = data;
    offerCalls({ cut: () => this.#cut(), cutIfHeapIsFull: () => this.#cutIfHeapIsFull() });
    const pulse = new Pulse(data.places, data.shared.pulse);
    setInterval(() => this.#beat(pulse), BEAT_MS).unref();
  }

  /** Resolves when the front-end is listening. */
  async start(): Promise<void> {
    this.#frontEnd = await startFrontEnd(this.#data, () => void this.#end(0));
    process.on("uncaughtException", (error) => this.#fail(error));
  }

  #beat(pulse: Pulse): void {
    pulse.beat(this.#data.place);
    if (!this.#isEnding && isHeapFull(this.#data.heapBytesMax))
      this.#fail(new Error("the heap of a front-end is full"));
  }

  #cut(): void {
    this.#frontEnd?.cut();
  }

  #cutIfHeapIsFull(): boolean {
    const isFull = isHeapFull(this.#data.heapBytesMax);
    if (isFull) this.#cut();
    return isFull;
  }

  /** Says why, cuts all connections and ends the thread. */
  #fail({ stack: detail }: Error): void {
    const { place } = this.#data;
    process.stderr.write(`${JSON.stringify({ level: "fatal", place, detail })}\n`);
    if (this.#isEnding) return;
    this.#cut();
    void this.#end(1);
  }

  /**
   * Closes the front-end, starting with its sockets, because a thread that exits with open uWebSockets.js
   * sockets ends the process. Waits only for a limited time, because a thread that has failed may not be able
   * to close all of it.
   */
  async #end(code: number): Promise<void> {
    this.#isEnding = true;
    if (this.#frontEnd !== null) await within(this.#frontEnd.close(), CLOSE_MS_MAX, () => undefined);
    setImmediate(() => setImmediate(() => process.exit(code)));
  }
}

collectWhenIdle();
await new FrontEndThread(workerData as FrontEndData).start();
