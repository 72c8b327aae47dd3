// Sends queries at a steady pace over one connection, alongside other work such as an import. Measures each
// query's latency, and also the time since the query was due, which shows if the server falls behind.

import { Connection } from "./connection.js";
import { type Latencies, type PreparedQuery, summarise } from "./drive.js";

const REFUSED: ReadonlySet<number> = new Set([429, 503]);

export interface PacedReads {
  readonly perSecond: number;
  /** Milliseconds from sending to the answer. */
  readonly latency: Latencies;
  /**
   * Milliseconds from when the query was due to its answer. Exceeds the latency if the server falls behind.
   */
  readonly sinceDue: Latencies;
  /** Number of 429 and 503 responses. */
  readonly refused: number;
  /** Number of other responses that are not 200. */
  readonly failed: number;
}

export class PacedReader {
  readonly #times: number[] = [];
  readonly #timesSinceDue: number[] = [];
  #refused = 0;
  #failed = 0;
  #stopped = false;
  readonly #done: Promise<void>;

  private constructor(
    private readonly perSecond: number,
    private readonly queries: readonly PreparedQuery[],
    connection: Connection,
  ) {
    this.#done = this.#run(connection).finally(() => connection.close());
  }

  static async start(url: URL, queries: readonly PreparedQuery[], perSecond: number): Promise<PacedReader> {
    return new PacedReader(perSecond, queries, await Connection.open(url.hostname, Number(url.port)));
  }

  /** Stops after the query in flight. */
  async stop(): Promise<PacedReads> {
    this.#stopped = true;
    await this.#done;
    return {
      perSecond: this.perSecond,
      latency: summarise(this.#times),
      sinceDue: summarise(this.#timesSinceDue),
      refused: this.#refused,
      failed: this.#failed,
    };
  }

  async #run(connection: Connection): Promise<void> {
    const started = performance.now();
    for (let i = 0; !this.#stopped; i++) {
      const due = started + (i * 1000) / this.perSecond;
      const wait = due - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      const sent = performance.now();
      const { status } = await connection.ask(this.queries[i % this.queries.length]!.request);
      const answered = performance.now();
      this.#times.push(answered - sent);
      // A timer may fire a millisecond or more late. That delay is the client's, so the time is then
      // measured from the moment of sending.
      this.#timesSinceDue.push(answered - (wait > 0 ? sent : due));
      if (REFUSED.has(status)) this.#refused++;
      else if (status !== 200) this.#failed++;
    }
  }
}
