// The shard's end of the channel through which another thread borrows indexes' memory. When the channel
// closes, for example because that thread has ended, all of the thread's loans end.
import type { MessagePort } from "node:worker_threads";
import type { LentMemory } from "../engine-wasm/host/instance/sharing.js";
import type { LentModel } from "../engine-wasm/host/vectors/model-reader.js";
import type { MemoryNotice, MemoryRequest } from "./protocol/memory-loans.js";

/** An index whose memory can be lent. */
export interface Lender {
  /**
   * Returns null if the maximum number of threads already borrow the memory. `onEnd` is called once, when the
   * index moves out of that memory.
   */
  lend(onEnd: () => void): LentMemory | null;
  /** The current vector model with its number on the board. Null if there is none. */
  lendModel(): Promise<{ readonly number: number; readonly lent: LentModel } | null>;
  takeBack(lent: LentMemory): void;
}

interface Loan {
  readonly lender: Lender;
  readonly lent: LentMemory;
}

export class MemoryLoans {
  readonly #port: MessagePort;
  readonly #lenderOf: (uid: number) => Lender;
  readonly #loans = new Map<number, Loan>();
  #lastLoan = 0;

  /** `lenderOf` throws if the index cannot currently be read. */
  constructor(port: MessagePort, lenderOf: (uid: number) => Lender) {
    this.#port = port;
    this.#lenderOf = lenderOf;
    port.on("message", (request: MemoryRequest) => {
      if (request.kind === "borrow") this.#send(this.#lend(request.uid));
      else if (request.kind === "model") void this.#lendModel(request.uid, request.loan);
      else this.#takeBack(request.loan);
    });
    port.on("close", () => {
      for (const loan of [...this.#loans.keys()]) this.#takeBack(loan);
    });
  }

  #lend(uid: number): MemoryNotice {
    const loan = ++this.#lastLoan;
    try {
      const lender = this.#lenderOf(uid);
      const lent = lender.lend(() => this.#ended(uid, loan));
      if (lent === null) return { kind: "refused", uid };
      this.#loans.set(loan, { lender, lent });
      return { kind: "lent", uid, loan, lent };
    } catch {
      return { kind: "refused", uid }; // the reads that are then sent as messages report the cause
    }
  }

  async #lendModel(uid: number, loan: number): Promise<void> {
    try {
      const model = await this.#loans.get(loan)?.lender.lendModel();
      if (model !== null && model !== undefined) this.#send({ kind: "model", uid, loan, ...model });
    } catch {
      // The thread does not get the model. Until the next model is set, it requests query vectors from the
      // shard.
    }
  }

  #takeBack(loan: number): void {
    const known = this.#loans.get(loan);
    this.#loans.delete(loan);
    known?.lender.takeBack(known.lent);
  }

  #ended(uid: number, loan: number): void {
    if (this.#loans.delete(loan)) this.#send({ kind: "ended", uid, loan });
  }

  #send(notice: MemoryNotice): void {
    this.#port.postMessage(notice);
  }
}
