// The coach thread's entry point. An analysis takes seconds; on its own thread it delays neither searches nor
// the query log.
import type { MessagePort } from "node:worker_threads";
import type { LogRows } from "../query-log/reports/stored-rows.js";
import { type Analysis, analyseLog } from "./analyse.js";
import type { AnswerMessage, AskedMessage, CoachAnswers, CoachQuestion, CoachTask } from "./coach-task.js";
import type { Shop, ShopAnswer, ShopQuestion } from "./shop.js";

export default async function coach({ port, fromMs, toMs, language }: CoachTask): Promise<Analysis> {
  try {
    return await analyseLog(new DistantShop(port, language), fromMs, toMs);
  } finally {
    port.close();
  }
}

interface Waiting {
  readonly resolve: (answer: CoachAnswers[CoachQuestion["kind"]]) => void;
  readonly reject: (error: Error) => void;
}

/** A Shop that gets its answers from another thread over a port. */
class DistantShop implements Shop {
  readonly language: string | null;
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;

  constructor(port: MessagePort, language: string | null) {
    this.language = language;
    this.#port = port;
    port.on("message", (message: AnswerMessage) => {
      const waiting = this.#waiting.get(message.number);
      this.#waiting.delete(message.number);
      if ("failure" in message) waiting?.reject(new Error(message.failure));
      else waiting?.resolve(message.answer);
    });
    port.on("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the analysis was given up"));
    });
  }

  rows(fromMs: number, toMs: number): Promise<LogRows> {
    return this.#ask({ kind: "rows", fromMs, toMs });
  }

  texts(numbers: readonly number[]): Promise<readonly string[]> {
    return this.#ask({ kind: "texts", numbers });
  }

  documents(numbers: readonly number[]): Promise<readonly string[]> {
    return this.#ask({ kind: "documents", numbers });
  }

  search(question: ShopQuestion): Promise<ShopAnswer> {
    return this.#ask({ kind: "search", question });
  }

  async #ask<Q extends CoachQuestion>(question: Q): Promise<CoachAnswers[Q["kind"]]> {
    const number = ++this.#asked;
    const answer = new Promise<CoachAnswers[CoachQuestion["kind"]]>((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
    });
    this.#port.postMessage({ number, question } satisfies AskedMessage);
    return (await answer) as CoachAnswers[Q["kind"]];
  }
}
