// A visitor of a shop who is not hostile: sends plain searches at a steady pace, whether or not the ones
// before are answered, and keeps how long each took.
import { request } from "node:http";
import { summarise } from "../../../bench/load/drive.js";
import { GOODS, type Place } from "./place.js";

const PER_SECOND = 5;
/** When a visitor gives up, in milliseconds: longer than any bound, to learn how long it takes. */
const PATIENCE_MS = 60_000;

export interface VisitorReport {
  readonly searches: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Share of searches that were answered with 429 or 503. */
  readonly refused: number;
  /** Share of searches without an answer, or with another one. */
  readonly failed: number;
  readonly withoutRetryAfter: number;
}

export class Visitor {
  readonly #times: number[] = [];
  #refused = 0;
  #failed = 0;
  #withoutRetryAfter = 0;
  #sent = 0;
  #waiting = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly place: Place,
    private readonly key: string,
  ) {
    this.#timer = setInterval(() => {
      const search = this.#search(this.#sent++).finally(() => this.#waiting.delete(search));
      this.#waiting.add(search);
    }, 1_000 / PER_SECOND);
  }

  /** Sends no more searches, waits for the answers and returns the report. */
  async leave(): Promise<VisitorReport> {
    clearInterval(this.#timer);
    await Promise.all(this.#waiting);
    const { p50, p99, max, count } = summarise(this.#times);
    const share = (part: number): number => (count === 0 ? 0 : part / count);
    return {
      searches: count,
      p50,
      p99,
      max,
      refused: share(this.#refused),
      failed: share(this.#failed),
      withoutRetryAfter: this.#withoutRetryAfter,
    };
  }

  /** On a connection of its own, as another visitor's would be. Never rejects. */
  #search(number: number): Promise<void> {
    const { host, port, words } = this.place;
    const word = (i: number): string => words[i % words.length]!;
    const q = `${word(number * 7)} ${word(number * 11 + 1)}`;
    const body = JSON.stringify({ q, filter_by: `price:>0.0${number}`, per_page: 10 });
    const sent = performance.now();
    return new Promise((resolve) => {
      const asked = request({
        host,
        port,
        method: "POST",
        path: `/v1/indexes/${GOODS}/query`,
        headers: { authorization: `Bearer ${this.key}`, "content-type": "application/json" },
        agent: false,
      });
      const patience = setTimeout(() => asked.destroy(new Error("no answer")), PATIENCE_MS);
      const end = (count: () => void): void => {
        clearTimeout(patience);
        this.#times.push(performance.now() - sent);
        count();
        resolve();
      };
      asked.on("response", (response) => {
        response.resume();
        response.on("error", () => undefined);
        response.on("close", () =>
          end(() => {
            if (response.statusCode === 429 || response.statusCode === 503) {
              this.#refused++;
              if (response.headers["retry-after"] === undefined) this.#withoutRetryAfter++;
            } else if (response.statusCode !== 200 || !response.complete) this.#failed++;
          }),
        );
        asked.off("error", failed);
        asked.on("error", () => undefined);
      });
      const failed = (): void => end(() => this.#failed++);
      asked.on("error", failed);
      asked.end(body);
    });
  }
}
